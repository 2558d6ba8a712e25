"""Results against the code and the inputs that made them."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from kneepoint.cli import verify
from kneepoint.common import made_by
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import hold_lock, sha256_of, write_whole
from kneepoint.common.made_by import read_made_by, sign
from kneepoint.common.tables import write
from kneepoint.engines import built, registry
from kneepoint.runs import validity
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.results import FinishedRun, PlannedRun, runs_table
from tests.experiments.fakes import measure, run_spec

STEP = "kneepoint.questions.repeatability.plan"
SPECS = [run_spec(window) for window in (5, 6, 7)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Results of two runs, and a journal with one more run."""
    runs = [
        FinishedRun(PlannedRun(i, 0, None, spec), measure(spec)) for i, spec in enumerate(SPECS[:2])
    ]
    write(tmp_path / "runs.parquet", runs_table("again", runs))
    with RunJournal(tmp_path / "runs.jsonl") as journal:
        journal.add(map(measure, SPECS))
    sign(tmp_path, STEP, ["runs.parquet"])
    return tmp_path


def complaints(folder: Path, keeps_awake: bool = True) -> list[str]:
    made = read_made_by(folder)
    assert made is not None
    return list(validity.changes(folder, made, folder / "build", keeps_awake))


def change(folder: Path, **fields: object) -> None:
    path = folder / made_by.NAME
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_what_was_just_made_holds(folder: Path) -> None:
    assert complaints(folder) == []


@pytest.mark.parametrize(
    ("fields", "name", "problem"),
    [
        ({"code_sha256": "0"}, STEP, "changed"),
        ({"packages_sha256": "0"}, "requirements.txt", "changed"),
        ({"files": {"runs.parquet": "0"}}, "runs.parquet", "changed"),
        ({"files": {"trials.parquet": "0"}}, "trials.parquet", "missing"),
        ({"controllers": {"fixed_window": "0", "timely": "0"}}, "timely", "changed"),
    ],
)
def test_what_does_not_hold_is_named(
    folder: Path, fields: dict[str, object], name: str, problem: str
) -> None:
    (folder / "build/controllers").mkdir(parents=True)
    (folder / "build/controllers/timely.so").write_text("another")
    change(folder, **fields)
    (found,) = complaints(folder)
    assert name in found and problem in found


def test_real_programs_are_those_that_the_configuration_uses(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def of(_build: Path, _busy_us: float, keep_awake: bool) -> SimpleNamespace:
        return SimpleNamespace(sha256=f"keep_awake={keep_awake}")

    monkeypatch.setattr(registry, "MahimahiSettings", SimpleNamespace(of=of))
    change(folder, engine="mahimahi", engine_sha256="keep_awake=False")
    assert complaints(folder, keeps_awake=False) == []
    (found,) = complaints(folder)
    assert "mahimahi" in found


def test_kernels_programs_are_compared_with_the_kernels(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = SimpleNamespace(of=lambda *_: SimpleNamespace(sha256="now"))
    monkeypatch.setattr(registry, "KernelSettings", now)
    change(folder, engine="kernel", engine_sha256="now")
    assert complaints(folder) == []
    change(folder, engine="kernel", engine_sha256="before")
    (found,) = complaints(folder)
    assert "kernel" in found


def test_void_runs_are_cleared_and_no_others(folder: Path) -> None:
    assert verify.void_runs(folder) == (1, 2)
    with RunJournal(folder / "runs.jsonl") as journal:
        assert [spec.run_id in journal for spec in SPECS] == [True, True, False]
    assert verify.void_runs(folder) == (0, 2)


def test_journal_that_somebody_writes_is_left_alone(folder: Path) -> None:
    with (
        hold_lock(folder / ".lock"),
        pytest.raises(KneepointError, match="holds the lock"),
    ):
        verify.void_runs(folder)


def test_damaged_note_is_named(folder: Path) -> None:
    whole = json.loads((folder / made_by.NAME).read_text())
    digests: tuple[object, ...] = (None, [], {"runs.parquet": 1})
    for damaged in (
        *("{", "[]", json.dumps({"step": "x"})),
        *(json.dumps({**whole, "files": files}) for files in digests),
    ):
        (folder / made_by.NAME).write_text(damaged)
        with pytest.raises(KneepointError, match=r"made_by.json: cannot be used"):
            read_made_by(folder)


def test_source_that_is_not_what_was_built_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [tmp_path / "own/mine.cc", tmp_path / "controllers/CMakeLists.txt"]
    sources.append(tmp_path / "controllers/build.sh")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(built, "_ALL", tmp_path / "controllers")
    monkeypatch.setattr(built, "_SCRIPT", sources[-1])
    monkeypatch.setattr(built, "SOURCES", tmp_path / "controllers/algorithms")
    for path in sources:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("before")
    built_of = "".join(f"{sha256_of(b'before')}  {path}\n" for path in sources)
    write_whole(Path(".kneepoint/controllers/mine.sources"), built_of)
    assert list(verify.unbuilt(["mine"], tmp_path / "own")) == []
    sources[0].touch()
    assert list(verify.unbuilt(["mine"], tmp_path / "own")) == []
    sources[0].write_text("after")
    os.utime(sources[0], (0, 0))
    (result,) = verify.unbuilt(["mine"], tmp_path / "own")
    assert str(sources[0]) in result and "make build" in result
    sources[0].unlink()
    (result,) = verify.unbuilt(["mine"], tmp_path / "own")
    assert str(sources[0]) in result and "restore" in result

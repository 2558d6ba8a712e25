"""Two workflows in one folder: the second is refused before it touches anything."""

import os
from pathlib import Path
from typing import Any

import pytest

from kneepoint.cli import runs
from kneepoint.cli.runs import make_what_is_missing
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import hold_lock
from kneepoint.common.locks import (
    PASSED_LOCK,
    WORKFLOW_LOCK,
    hold_workflow_lock,
)
from kneepoint.workflow.make import (
    LOG,
    VERBOSE,
    make,
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("verbose", ["", "1"])
def test_second_workflow_leaves_the_log_of_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, verbose: str
) -> None:
    monkeypatch.setenv(VERBOSE, verbose)
    LOG.parent.mkdir()
    LOG.write_text("the first one's")
    with hold_lock(WORKFLOW_LOCK):
        before = sorted(folder.rglob("*"))
        with pytest.raises(KneepointError, match=f"process {os.getpid()} holds the lock"):
            make(Path("config.yaml"), [])
    assert LOG.read_text() == "the first one's"
    assert sorted(folder.rglob("*")) == before


def test_lock_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    with hold_lock(WORKFLOW_LOCK) as lock:
        monkeypatch.setenv(PASSED_LOCK, str(os.dup(lock.fileno())))
        with hold_workflow_lock():
            assert PASSED_LOCK not in os.environ
        with pytest.raises(KneepointError, match="holds the lock"):
            hold_workflow_lock()


@pytest.mark.parametrize("passed", ["", "x", "9999", "0"])
def test_lock_that_was_not_passed_is_taken(monkeypatch: pytest.MonkeyPatch, passed: str) -> None:
    monkeypatch.setenv(PASSED_LOCK, passed)
    with hold_workflow_lock(), pytest.raises(KneepointError, match="holds the lock"):
        hold_lock(WORKFLOW_LOCK)


def test_preparations_wait_for_what_another_process_makes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They look again, and go on as soon as nothing is missing, or it is their turn."""
    program = Path("build/program")
    monkeypatch.setattr(runs, "out_of_date", lambda *_: [])
    holder = hold_lock(WORKFLOW_LOCK)

    def look_later(_: float) -> None:
        program.parent.mkdir()
        program.touch()

    monkeypatch.setattr("time.sleep", look_later)
    make_what_is_missing(Path("config.yaml"), [], [], [program])
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(os.getpid()) in said
    assert "build/program" in said
    program.unlink()
    monkeypatch.setattr("time.sleep", lambda _: holder.close())
    made: list[Path] = []

    def make_if_free(_: Path, wanted: list[Path], **__: object) -> None:
        hold_lock(WORKFLOW_LOCK).close()
        made.extend(wanted)

    monkeypatch.setattr(runs, "make", make_if_free)
    make_what_is_missing(Path("config.yaml"), [], [], [program])
    assert made == [program]


def test_a_run_builds_its_own_controller_alone_and_names_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = folder / "controllers/algorithms"
    sources.mkdir(parents=True)
    for name in ("timely", "reno"):
        (sources / f"{name}.cc").write_text("int i;")
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(runs, "make", lambda *_, **words: asked.append(words))
    make_what_is_missing(Path("config.yaml"), [], ["timely"])
    (words,) = asked
    assert words["objects"] == "controller_timely"
    assert words["forecast"].building == ["emulate", "timely"]


def test_controller_whose_source_is_gone_is_unknown(folder: Path) -> None:
    built = folder / "build/controllers/gone.so"
    built.parent.mkdir(parents=True)
    built.touch()
    with pytest.raises(KneepointError, match=r"rules\.yaml: unknown controller 'gone'"):
        make_what_is_missing(Path("config.yaml"), [], ["gone"], where="rules.yaml")

"""A full disk: an error of one line, and finished runs are kept.

A limit on the size of files fails writes as a full disk does, also within a write.
"""

import json
import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError, our_files
from kneepoint.common.files import hold_lock, write_folder, write_passing, write_whole
from kneepoint.runs.journal import RunJournal
from tests.conftest import ROOT
from tests.experiments.fakes import measure, run_spec
from tests.experiments.wire import NETWORK, STUDY, command, prepare_wire, write

RECORDS = [measure(run_spec(window)) for window in (12, 13, 14)]
REMEDY = "free some space and run the command again"


_ROOM_BYTES = 5500
"""Enough for a journal of eight runs with its header, but not of sixty."""


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Limits the size of files (bytes) within the block."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize(
    "write_to",
    [
        lambda path: write_whole(path, "text"),
        lambda path: write_passing(path, "text"),
        lambda path: write_folder(path.parent, {Path(path.name): "text"}),
        hold_lock,
    ],
)
def test_whatever_cannot_be_written_is_named(
    tmp_path: Path, write_to: Callable[[Path], object]
) -> None:
    path = tmp_path / "new/file"
    with room_for(0), pytest.raises(KneepointError) as error, our_files():
        write_to(path)
    assert str(error.value).startswith(f"{path}: File too large; ")
    assert {each.name for each in path.parent.glob("*")} <= {"file", "file.part"}


@pytest.mark.parametrize("room", [0, 1, 100])
def test_journal_on_a_full_disk_keeps_what_it_had(tmp_path: Path, room: int) -> None:
    path = tmp_path / "runs.jsonl"
    with RunJournal(path) as journal:
        journal.add(RECORDS[:1])
        content = path.read_bytes()
        with (
            room_for(len(content) + room),
            pytest.raises(KneepointError, match=rf"runs.jsonl: File too large; {REMEDY}"),
        ):
            journal.add(RECORDS[1:])
        assert path.read_bytes() == content
        assert journal.get(RECORDS[1].run_id) is None
        journal.add(RECORDS[1:])
    with RunJournal(path) as journal:
        assert [journal.get(record.run_id) for record in RECORDS] == RECORDS


@pytest.mark.parametrize("runs", [20, 1])
def test_study_on_a_full_disk_ends_with_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], runs: int
) -> None:
    """The disk is full during the trials, or during the repeats of the best trial."""
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    config = tmp_path / "config/config.yaml"
    write(config, {"seed": 1, "results": str(tmp_path / "out"), "studies": ["windows"]})
    write(tmp_path / "config/networks/wire.yaml", NETWORK)
    write(tmp_path / "config/studies/windows.yaml", {**STUDY, "runs_per_trial": runs})
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    with room_for(_ROOM_BYTES):
        assert command(tmp_path, "windows") == 2
    printed = capfd.readouterr().err
    *_, last = printed.splitlines()
    assert last.startswith("error: ")
    assert f"runs.jsonl: File too large; {REMEDY}" in last
    assert "Traceback" not in printed
    assert not (tmp_path / "out/windows/study.json").exists()
    journal = (tmp_path / "out/windows/runs.jsonl").read_text()
    _, *kept = journal.splitlines()
    assert all(json.loads(line)["record"]["status"] == "ok" for line in kept)
    if runs > 1:  # all runs that fit
        assert len(journal) + max(map(len, kept)) > _ROOM_BYTES
    else:  # three trials, and five repetitions of the best
        assert len(kept) == 3 + 5

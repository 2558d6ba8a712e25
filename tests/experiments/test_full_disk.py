"""A disk that is full: one line that says so, and all that was finished is kept.

A limit on the size of files fails a write just as a full disk does, in the middle of it, too.
"""

import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.runs.journal import RunJournal
from tests.conftest import ROOT
from tests.experiments.fakes import measure, run_spec
from tests.experiments.wire import NETWORK, STUDY, command, prepare_wire, write

RECORDS = [measure(run_spec(window)) for window in (12, 13, 14)]
REMEDY = "free some space and run the command again"


_ROOM_BYTES = 5500
"""Of a journal of eight runs and its head, but not of sixty."""


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file can become longer than this."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


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


@pytest.mark.parametrize(("runs", "name"), [(20, "runs.jsonl: "), (1, "")])
def test_study_on_a_full_disk_ends_with_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], runs: int, name: str
) -> None:
    """First the journal of runs has no room, then the tables have none."""
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
    assert f"{name}File too large; {REMEDY}" in last
    assert "Traceback" not in printed
    assert not (tmp_path / "out/windows/study.json").exists()
    journal = (tmp_path / "out/windows/runs.jsonl").read_text()
    _, *kept = journal.splitlines()
    assert all(json.loads(line)["record"]["status"] == "ok" for line in kept)
    if name:  # all for which there was room
        assert len(journal) + max(map(len, kept)) > _ROOM_BYTES
    else:  # three trials, and five repetitions of the best
        assert len(kept) == 3 + 5

"""The journal of runs survives being cut off anywhere."""

from pathlib import Path

from search.engines.base import RunRecord
from search.journal import RunJournal
from tests.search.fakes import measure, run_spec

RECORDS = [
    measure(run_spec(12)),
    RunRecord("b" * 64, "failed", 'delivers "nothing" \N{RIGHTWARDS ARROW} \n'),
    measure(run_spec(14)),
]


def read(path: Path) -> list[RunRecord]:
    with RunJournal(path) as journal:
        return [record for r in RECORDS if (record := journal.get(r.run_id)) is not None]


def test_journal_gives_back_what_was_added(tmp_path: Path) -> None:
    path = tmp_path / "study" / "runs.jsonl"
    with RunJournal(path) as journal:
        journal.add(RECORDS[:1])
        journal.add(RECORDS[1:])
        assert journal.get(RECORDS[1].run_id) == RECORDS[1]
        assert journal.get("absent") is None
    assert read(path) == RECORDS


def test_journal_that_was_cut_off_keeps_every_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with RunJournal(path) as journal:
        journal.add(RECORDS)
    content = path.read_bytes()
    for length in range(len(content) + 1):
        path.write_bytes(content[:length])
        whole = content[:length].count(b"\n")
        assert read(path) == RECORDS[:whole], f"cut to {length} bytes"
        with RunJournal(path) as journal:
            journal.add(RECORDS[whole:])
        assert path.read_bytes() == content, f"cut to {length} bytes"


def test_journal_forgets_what_follows_damage(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with RunJournal(path) as journal:
        journal.add(RECORDS)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\0" * 40 + b"\n" + lines[2])
    assert read(path) == RECORDS[:1]


def test_fault_of_the_machine_is_not_kept(tmp_path: Path) -> None:
    with RunJournal(tmp_path / "runs.jsonl") as journal:
        journal.add([RunRecord("c" * 64, "fault", "no memory")])
        assert journal.get("c" * 64) is None
    assert (tmp_path / "runs.jsonl").read_bytes() == b""

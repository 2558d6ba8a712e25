"""The journal of runs stays valid if it is cut off at any place."""

import dataclasses
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunRecord
from kneepoint.runs.journal import RunJournal
from tests.experiments.fakes import measure, run_spec

RECORDS = [
    measure(run_spec(12)),
    RunRecord("b" * 64, "failed", 'delivers "nothing" \N{RIGHTWARDS ARROW} \n'),
    measure(run_spec(14)),
]


def read(path: Path) -> list[RunRecord]:
    with RunJournal(path) as journal:
        return [record for r in RECORDS if (record := journal.get(r.run_id)) is not None]


def test_journal_that_was_cut_off_keeps_every_whole_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.jsonl"
    with RunJournal(path) as journal:
        journal.add(RECORDS)
    content = path.read_bytes()
    ends = [i for i, byte in enumerate(content) if byte == ord("\n")]
    cuts = {*range(0, len(content), 37), *(end + i for end in ends for i in (-1, 0, 1, 2))}
    for length in sorted(cut for cut in cuts if cut <= len(content)):
        path.write_bytes(content[:length])
        whole = max(content[:length].count(b"\n") - 1, 0)  # without the header
        assert read(path) == RECORDS[:whole], f"cut to {length} bytes"
        torn = bool(length) and content[length - 1 : length] != b"\n"
        said = capsys.readouterr().err
        assert ("1 line is damaged" in said) == torn, f"cut to {length} bytes"
        with RunJournal(path) as journal:
            journal.add(RECORDS[whole:])
        assert path.read_bytes() == content, f"cut to {length} bytes"


def lines_of(path: Path) -> list[bytes]:
    with RunJournal(path) as journal:
        journal.add(RECORDS)
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"\0" * 40 + b"\n",
        lambda _: b"\n",
        lambda _: b"[1, 2]\n",
        lambda _: b"12\n",
        lambda _: b"[" * 100_000 + b"\n",
        lambda _: b'{"record":{},"sha256":""}\n',
        lambda line: line[:-1] + b" \n",
        lambda line: line.replace(b"failed", b"ok"),
        lambda line: line.replace(b'"power":', b'"power":9'),
        lambda line: line[: len(line) // 2] + b"\n",
    ],
)
def test_damage_costs_its_own_line_and_no_other(
    tmp_path: Path, damage: Callable[[bytes], bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "runs.jsonl"
    header, *lines = lines_of(path)
    path.write_bytes(b"".join([header, lines[0], damage(lines[1]), lines[2]]))
    assert read(path) == [RECORDS[0], RECORDS[2]]
    assert "1 line is damaged" in capsys.readouterr().err
    assert path.read_bytes() == b"".join([header, lines[0], lines[2]])


def test_changed_figure_wins_nothing(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    content = b"".join(lines_of(path))
    first = content.index(b"\n")
    digits = [i for i in range(first, len(content)) if chr(content[i]).isdigit()]
    for place in digits[:: len(digits) // 50]:
        changed = bytes([48 + (content[place] - 47) % 10])
        path.write_bytes(content[:place] + changed + content[place + 1 :])
        assert len(read(path)) == len(RECORDS) - 1


def test_last_line_of_a_run_counts(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    better = dataclasses.replace(RECORDS[0], power=99.0)
    with RunJournal(path) as journal:
        journal.add([RECORDS[0]])
        journal.add([better])
        assert journal.get(better.run_id) == better
    with RunJournal(path) as journal:
        assert journal.get(better.run_id) == better
        assert len(journal) == 1


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda _: b"".join(f"{r.to_json()}\n".encode() for r in RECORDS),
        lambda content: content.partition(b"\n")[2],
        lambda content: b"\0" + content[1:],
        lambda content: content.replace(b'journal":2', b'journal":3'),
    ],
    ids=["no journal", "header removed", "header damaged", "another version"],
)
def test_a_journal_of_another_version_is_refused_and_left_alone(
    tmp_path: Path, rewrite: Callable[[bytes], bytes]
) -> None:
    path = tmp_path / "runs.jsonl"
    content = rewrite(b"".join(lines_of(path)))
    path.write_bytes(content)
    with pytest.raises(KneepointError, match=r"runs\.jsonl: .*version 2.*remove the file"):
        RunJournal(path)
    assert path.read_bytes() == content


def test_journal_keeps_the_runs_that_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    header, first, second, third = lines_of(path)
    with RunJournal(path) as journal:
        journal.keep([RECORDS[0].run_id, RECORDS[2].run_id, "absent"])
        assert [record.run_id in journal for record in RECORDS] == [True, False, True]
        assert journal.get(RECORDS[2].run_id) == RECORDS[2]
        assert path.read_bytes() == header + first + third
        journal.add([RECORDS[1]])
    assert path.read_bytes() == header + first + third + second


def test_fault_of_the_machine_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    with RunJournal(path) as journal:
        before = path.read_bytes()
        journal.add([RunRecord("c" * 64, "fault", "no memory")])
        assert journal.get("c" * 64) is None
    assert path.read_bytes() == before


def test_journal_keeps_no_records_in_memory(tmp_path: Path) -> None:
    specs = [run_spec(window) for window in range(1, 2001)]
    with RunJournal(tmp_path / "runs.jsonl") as journal:
        tracemalloc.start()
        for first in range(0, len(specs), 100):
            journal.add([measure(spec) for spec in specs[first : first + 100]])
        grown, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert grown < 500 * len(specs)

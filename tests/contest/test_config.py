"""The contest's file: what it refuses."""

from pathlib import Path

import pytest

from common.config_file import read_config
from common.errors import KneepointError
from contest.config import Contest
from contest.entries import without_paths


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("deadline: tomorrow", ["deadline", "'tomorrow'", "2026-12-01T23:59+01:00"]),
        ("deadline: 2026-12-32T12:00Z", ["deadline", "2026-12-32T12:00Z"]),
        ("deadline: 2026-12-01T12:00", ["deadline", "offset", "2026-12-01T12:00+01:00"]),
        ("deadline: 20261201", ["deadline", "20261201"]),
        ("{host_latency_us: 5, other_host_latency_us: 5}", ["other_host_latency_us", "change"]),
        ("host_latency_us: -1", ["host_latency_us", "-1", "greater than or equal to 0"]),
    ],
)
def test_bad_rules_are_refused(tmp_path: Path, line: str, words: list[str]) -> None:
    path = tmp_path / "contest.yaml"
    lines = line.strip("{}").replace(", ", "\n")
    path.write_text(f"title: T\npublic: a\n{lines}\n")
    with pytest.raises(KneepointError) as error:
        read_config(path, Contest)
    assert all(word in str(error.value) for word in [str(path), *words])


def test_a_deadline_is_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "contest.yaml"
    path.write_text("title: T\npublic: a\ndeadline: 1970-01-01 01:00:10+01:00\n")
    contest = read_config(path, Contest)
    assert [contest.is_late(time_s) for time_s in (9, 10, 10.5)] == [False, False, True]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/tmp/x-1/tree/a.cc:3: error", "a.cc:3: error"),
        ("cannot open '/srv/anna/b c'", "cannot open 'b c'"),
        ("file:///srv/anna.git: git: fatal", "anna.git: git: fatal"),
        ("https://example.org/anna.git is on", "https://example.org/anna.git is on"),
        ("../repositories/anna: no such", "../repositories/anna: no such"),
        ("12 Mbit/s / 3 a/b", "12 Mbit/s / 3 a/b"),
    ],
)
def test_reasons_have_no_path_of_the_machine(text: str, shown: str) -> None:
    assert without_paths(text) == shown

"""Errors in a contest's files."""

from pathlib import Path

import pytest

from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError
from kneepoint.tools.contest.config import Contest

RULES = "title: T\npractice: [a]\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{RULES}deadline: tomorrow", ["deadline", "'tomorrow'", "2026-12-01T23:59"]),
        (f"{RULES}deadline: 2026-12-32T12:00Z", ["deadline", "2026-12-32T12:00Z"]),
        (f"{RULES}deadline: 2026-12-01T12:00", ["offset", "2026-12-01T12:00+01:00"]),
        (f"{RULES}deadline: 20261201", ["deadline", "20261201"]),
        (f"{RULES}host_latency_us: 5\nother_host_latency_us: 5", ["other_host", "change"]),
        (f"{RULES}environment: {{A: 5}}", ["environment.A", "5", "text"]),
        (f"{RULES}environment: {{A=B: c}}", ["A=B", "a name in C"]),
        (f"{RULES}arguments: debug", ["arguments", "'debug'"]),
        (f"{RULES}host_latency_us: -1", ["host_latency_us", "-1", "equal to 0"]),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, text: str, words: list[str]) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(KneepointError) as error:
        read_config(path, Contest)
    assert [word for word in [str(path), *words] if word not in str(error.value)] == []


def test_a_deadline_is_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "contest.yaml"
    path.write_text("title: T\npractice: [a]\ndeadline: 1970-01-01 01:00:10+01:00\n")
    contest = read_config(path, Contest)
    assert [contest.is_late(time_s) for time_s in (9, 10, 10.5)] == [False, False, True]

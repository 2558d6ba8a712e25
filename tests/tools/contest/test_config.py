"""A contest's files: what they refuse."""

from pathlib import Path

import pytest

from kneepoint.common.config_file import ConfigModel, read_config
from kneepoint.common.errors import KneepointError
from kneepoint.tools.contest.config import (
    Contest,
    EntryFile,
    Repositories,
)
from kneepoint.tools.contest.entries import without_paths

RULES = "title: T\npractice: [a]\n"


@pytest.mark.parametrize(
    ("model", "text", "words"),
    [
        (Contest, f"{RULES}deadline: tomorrow", ["deadline", "'tomorrow'", "2026-12-01T23:59"]),
        (Contest, f"{RULES}deadline: 2026-12-32T12:00Z", ["deadline", "2026-12-32T12:00Z"]),
        (Contest, f"{RULES}deadline: 2026-12-01T12:00", ["offset", "2026-12-01T12:00+01:00"]),
        (Contest, f"{RULES}deadline: 20261201", ["deadline", "20261201"]),
        (Contest, f"{RULES}host_latency_us: 5\nother_host_latency_us: 5", ["other_host", "change"]),
        (Contest, f"{RULES}environment: {{A: 5}}", ["environment.A", "5", "text"]),
        (Contest, f"{RULES}environment: {{A=B: c}}", ["A=B", "a name in C"]),
        (Contest, f"{RULES}arguments: debug", ["arguments", "'debug'"]),
        (Contest, f"{RULES}host_latency_us: -1", ["host_latency_us", "-1", "equal to 0"]),
        (Repositories, "entries: {a: {git: a, branch: b, commit: abcd}}", ["branch and commit"]),
        (Repositories, "entries: {a: {git: a, branch: --upload-pack=x}}", ["--upload-pack=x"]),
        (Repositories, "entries: {a: {git: a, commit: HEAD}}", ["HEAD", "digits of a commit"]),
        (Repositories, "entries: {../a: {git: a}}", ["../a", "letters, digits"]),
        (Repositories, "entrys: {}", ["did you mean 'entries'"]),
        *(
            (EntryFile, f"constants: {{x: {{{constant}}}}}", ["constants.x", *words])
            for constant, words in {
                "default: 1, range: [1, 2]": ["macro and environment"],
                "macro: A, environment: B, default: 1, range: [1, 2]": ["macro and environment"],
                "macro: A, default: 3, range: [1, 2]": ["default 3", "range [1, 2]"],
                "macro: A, default: 1, range: [2, 1]": ["[2, 1]", "rise"],
                "macro: A, default: 0, range: [0, 1], log: true": ["[0, 1]", "above 0"],
                "macro: A, default: 1.5, range: [1, 2], integer: true": ["integer", "whole"],
                "macro: 'A -o /x', default: 1, range: [1, 2]": ["'A -o /x'", "a name in C"],
                "macro: A, default: .inf, range: [1, 2]": ["default", "finite"],
            }.items()
        ),
    ],
)
def test_bad_files_are_refused(
    tmp_path: Path, model: type[ConfigModel], text: str, words: list[str]
) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with pytest.raises(KneepointError) as error:
        read_config(path, model)
    assert [word for word in [str(path), *words] if word not in str(error.value)] == []


def test_a_deadline_is_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "contest.yaml"
    path.write_text("title: T\npractice: [a]\ndeadline: 1970-01-01 01:00:10+01:00\n")
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

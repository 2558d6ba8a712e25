"""The files of entries: errors and their reasons."""

from pathlib import Path

import pytest

from kneepoint.common.config_file import ConfigModel, read_config
from kneepoint.common.errors import KneepointError
from kneepoint.entries.config import EntryFile, Repositories
from kneepoint.entries.entries import without_paths


@pytest.mark.parametrize(
    ("model", "text", "words"),
    [
        (Repositories, "entries: {a: {git: a, branch: b, commit: abcd}}", ["branch and commit"]),
        (Repositories, "entries: {a: {git: a, branch: --upload-pack=x}}", ["--upload-pack=x"]),
        (Repositories, "entries: {a: {git: a, commit: HEAD}}", ["HEAD", "digits of a commit"]),
        (Repositories, "entries: {../a: {git: a}}", ["../a", "letters, digits"]),
        (Repositories, "entrys: {}", ["did you mean 'entries'"]),
        *(
            (EntryFile, f"parameters: {{x: {{{parameter}}}}}", ["parameters.x", *words])
            for parameter, words in {
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

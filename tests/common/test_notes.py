"""Digests of the inputs and outputs of jobs."""

from pathlib import Path

import pytest

from kneepoint.common import notes
from kneepoint.common.notes import digest_of_input, is_sealed, record_of, seal, settle, token

STUDY = "title: Windows\nspace: {window: {values: [2, 10]}}\n"


@pytest.fixture(autouse=True)
def _repository_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_token_is_another_when_the_digest_is_and_stays_when_it_is_settled() -> None:
    first = token("real", "before")
    assert token("real", "before") == first
    second = token("real", "after")
    assert second != first
    settle("real", second, "made")
    assert token("real", "made") == second
    assert token("real", "after") != second


@pytest.mark.parametrize(
    ("name", "before", "after", "is_other"),
    [
        ("a.yaml", STUDY, f"# Windows\n{STUDY}", False),
        (
            "a.yaml",
            STUDY,
            "title: Windows\nspace:\n  window:\n    values:\n    - 2\n    - 10\n",
            False,
        ),
        ("a.yaml", STUDY, STUDY.replace("10", "11"), True),
        (
            "a.yaml",
            "a: 1\nb: 2\n",
            "b: 2\na: 1\n",
            True,
        ),  # a search draws parameters in the order of the file
        ("a.csv", "w,power\n5,60\n", "w,power\r\n5,60\r\n", False),
        ("a.csv", "w,power\n5,60\n", "w,power\n5,61\n", True),
        ("a.trace", "1\n2\n", "1\n2", True),
    ],
)
def test_digest_is_that_of_what_a_file_says(
    tmp_path: Path, name: str, before: str, after: str, is_other: bool
) -> None:
    path = tmp_path / name
    path.write_text(before)
    digest = digest_of_input(path)
    path.write_text(after)
    assert (digest_of_input(path) != digest) == is_other
    path.unlink()
    assert digest_of_input(path) == ""


def test_files_are_sealed_until_one_is_another_or_gone() -> None:
    first, second = Path("first"), Path("second")
    assert is_sealed("job")  # without a record
    for path in (first, second):
        path.write_text("whole")
    seal("job", [first, second])
    assert is_sealed("job")
    second.write_text("cut")
    assert not is_sealed("job")
    second.unlink()
    assert not is_sealed("job")
    second.write_text("whole")
    assert is_sealed("job")
    record_of("job").write_text('{"first": ')
    assert not is_sealed("job")


def test_files_of_other_code_are_not_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("first").write_text("whole")
    seal("job", [Path("first")], "kneepoint.common.places")
    assert is_sealed("job")
    with monkeypatch.context() as other:
        other.setattr(notes, "digest_of_step", lambda *modules: f"changed {modules}")
        assert not is_sealed("job")
        seal("job", [Path("first")], "kneepoint.common.places")
    assert not is_sealed("job")
    seal("job", [Path("first")], "kneepoint.common.places")
    assert is_sealed("job")
    record = record_of("job").read_text()
    record_of("job").write_text(record.replace("common.places", "common.gone"))
    assert not is_sealed("job")

"""Notes of digests: what changes them, and how old they are."""

import os
from pathlib import Path

import pytest

from kneepoint.common.notes import (
    digest_of_input,
    is_sealed,
    note,
    note_files,
    place_of,
    seal,
    settle_note,
)

SECOND_NS = 10**9
STUDY = "title: Windows\nspace: {window: {values: [2, 10]}}\n"


@pytest.fixture(autouse=True)
def _repository_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_note_is_written_only_when_the_digest_is_another() -> None:
    path = note("step", "abc", 5 * 10**9)
    assert path.stat().st_mtime_ns == 5 * 10**9
    assert note("step", "abc").stat().st_mtime_ns == 5 * 10**9
    note("step", "abd", 6 * 10**9)
    assert path.stat().st_mtime_ns > 6 * 10**9
    assert path.read_text() == "abd\n"


def test_a_settled_note_is_as_old_as_the_files_that_changed_it(tmp_path: Path) -> None:
    made = [tmp_path / name for name in ("a", "b", "absent")]
    for second, path in enumerate(made[:2], start=3):
        path.write_text("made")
        os.utime(path, ns=(second * 10**9, second * 10**9))
    noted = note("real", "before", 9 * 10**9)
    settle_note(noted, "before", made)
    assert noted.stat().st_mtime_ns == 9 * 10**9
    settle_note(noted, "after", made)
    assert (noted.read_text(), noted.stat().st_mtime_ns) == ("after\n", 4 * 10**9)
    oldest_ns = min(Path(each).stat().st_mtime_ns for each in made if Path(each).is_file())
    settle_note(noted, "all", made, is_all_made=True)
    assert (noted.read_text(), noted.stat().st_mtime_ns) == ("all\n", oldest_ns)
    assert oldest_ns < 4 * 10**9


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
        ("a.yaml", "a: 1\nb: 2\n", "b: 2\na: 1\n", True),  # a search draws in this order
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


def test_note_of_made_files_is_as_old_as_their_last_change(tmp_path: Path) -> None:
    path = tmp_path / "made.trace"
    path.write_text("1")
    os.utime(path, ns=(SECOND_NS, SECOND_NS))
    found = note_files("made", [path])
    assert found.stat().st_mtime_ns == SECOND_NS
    path.write_text("2")
    os.utime(path, ns=(SECOND_NS // 2, SECOND_NS // 2))
    note_files("made", [path])
    assert found.stat().st_mtime_ns == path.stat().st_ctime_ns
    os.utime(found, ns=(SECOND_NS, SECOND_NS))
    path.touch()
    note_files("made", [path])
    assert found.stat().st_mtime_ns == SECOND_NS


def test_note_is_newer_than_the_last_workflow_though_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / ".snakemake/log/last.log"
    log.parent.mkdir(parents=True)
    log.touch()
    monkeypatch.setattr("kneepoint.common.notes.time.time_ns", lambda: SECOND_NS)
    path = note("study", "before", 0)
    note("study", "after", 0)
    assert path.stat().st_mtime_ns > log.stat().st_mtime_ns


def test_files_are_sealed_until_one_is_another_or_gone() -> None:
    first, second = Path("first"), Path("second")
    assert is_sealed("job")  # nothing is known of it
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
    place_of("job", "written").write_text('{"first": ')
    assert not is_sealed("job")

"""A bad entry fails in its own row: the other entries are built, and no files remain."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.entries import untrusted
from kneepoint.entries.collect import find_submissions, state_of
from kneepoint.entries.entries import EntryBuilder, Sender
from tests.entries.trees import deep, git, kit, repository, write_member

pytestmark = pytest.mark.attacks


def odd_bytes(tree: Path) -> None:
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff.cc")).write_text("int a;")


def circle(tree: Path) -> None:
    (tree / "a.hh").symlink_to("b.hh")
    (tree / "b.hh").symlink_to("a.hh")


def circle_of_folders(tree: Path) -> None:
    (tree / "a").symlink_to(".")


def device(tree: Path) -> None:
    os.mkfifo(tree / "src/pipe.hh")


def long_name_in_makefile(tree: Path) -> None:
    (tree / "datagrump/Makefile.am").write_text(f"sender_SOURCES = {'a' * 5000}.cc")


def nul_in_makefile(tree: Path) -> None:
    (tree / "datagrump/Makefile.am").write_text("sender_SOURCES = a\0.cc \x1b[2J.cc")


def brackets_in_yaml(tree: Path) -> None:
    (tree / "kneepoint.yaml").write_text("[" * 30_000)


def linked_yaml(tree: Path) -> None:
    (tree / "kneepoint.yaml").symlink_to("/etc/passwd")


def option(tree: Path) -> None:
    (tree / "datagrump/-fplugin=x.cc").write_text("")


BAD = (
    *(odd_bytes, circle, circle_of_folders, device, deep, long_name_in_makefile, nul_in_makefile),
    *(brackets_in_yaml, linked_yaml, option),
)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def make_all(entries: Path, builder: EntryBuilder) -> dict[str, Sender]:
    made = builder.make_all(find_submissions(entries), lambda _: None)
    for each in made:
        json.dumps([each.name, each.reason, each.message], ensure_ascii=False).encode()
        assert f"{each.name}{each.reason}".isprintable() and str(entries) not in each.reason
    return {each.name: each for each in made}


@pytest.mark.slow
def test_one_bad_entry_stops_nothing(
    tmp_path: Path, builder: EntryBuilder, temporary: Path
) -> None:
    entries = tmp_path / "entries"
    kit(entries / "anna")
    for spoil in BAD:
        spoil(kit(entries / spoil.__name__))
    Path(os.fsdecode(os.fsencode(entries) + b"/\xfe.zip")).write_bytes(b"PK")
    try:
        assert state_of(entries)
        made = make_all(entries, builder)
    finally:
        subprocess.run(["rm", "-rf", "--", entries], check=True)
    assert [name for name, each in made.items() if not each.reason] == ["anna"]
    for name, words in {
        "odd_bytes": "\\udcff.cc' has unprintable characters",
        "circle": "a.hh is a link that leads out",
        "circle_of_folders": "a is a link to a folder",
        "device": "pipe.hh is neither a file nor a folder",
        "deep": "too long a name",
        "brackets_in_yaml": "kneepoint.yaml",
        "linked_yaml": "kneepoint.yaml is a link that leads out",
        "option": "rename it",
    }.items():
        assert words in made[name].reason, name
    assert "root:" not in str(made)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (PermissionError(13, "Permission denied"), "Permission"),
        (ValueError("odd \x1b"), "odd \\x1b"),
    ],
)
def test_an_error_while_one_entry_is_read_is_its_row(
    tmp_path: Path,
    builder: EntryBuilder,
    monkeypatch: pytest.MonkeyPatch,
    fault: Exception,
    words: str,
) -> None:
    for name in ("anna", "bob"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sender.cc").write_text("int main() {}")
    opened = untrusted.opened

    def fail(path: Path) -> object:
        if path.name == "bob":
            raise fault
        return opened(path)

    monkeypatch.setattr(untrusted, "opened", fail)
    made = make_all(tmp_path, builder)
    assert not made["anna"].reason and words in made["bob"].reason


def test_a_full_disk_is_no_entrys_fault(
    tmp_path: Path, builder: EntryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "anna").mkdir()

    def fail(path: Path) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(untrusted, "opened", fail)
    with pytest.raises(KneepointError, match=r"anna: No space left.* run the command again"):
        make_all(tmp_path, builder)


def test_repositories_are_read_as_folders_are(
    tmp_path: Path, builder: EntryBuilder, temporary: Path
) -> None:
    tree = kit(tmp_path / "work")
    write_member(tree, "a.hh", "/etc/passwd", is_link=True)
    git(tmp_path, "clone", "--quiet", "--bare", str(repository(tree)), "entries/anna.git")
    made = make_all(tmp_path / "entries", builder)
    assert "a.hh is a link that leads out" in made["anna.git"].reason
    assert list(temporary.iterdir()) == []


def test_a_link_within_a_repository_is_the_file_that_it_names(
    tmp_path: Path, builder: EntryBuilder
) -> None:
    tree = kit(tmp_path / "entries/anna")
    (tree / "datagrump/controller.hh").rename(tree / "mine.hh")
    (tree / "datagrump/controller.hh").symlink_to("../mine.hh")
    git(tmp_path, "clone", "--quiet", "--bare", str(repository(tree)), "entries/bob.git")
    made = make_all(tmp_path / "entries", builder)
    assert made["anna"].reason == made["bob.git"].reason == ""
    assert made["anna"].digest == made["bob.git"].digest

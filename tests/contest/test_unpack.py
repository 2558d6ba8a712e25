"""What is submitted is taken without trust: nothing leaves its folder, nothing explodes."""

import errno
import io
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from common.errors import KneepointError
from common.files import private_folder
from contest import unpack, within

pytestmark = pytest.mark.attacks


def write_tar(path: Path, members: dict[str, bytes], mode: str = "w:gz") -> None:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))


def write_link(path: Path, name: str, target: str, kind: bytes) -> None:
    with tarfile.open(path, "w") as archive:
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, target
        archive.addfile(info)


@pytest.mark.parametrize("ending", ["tar", "tar.gz", "tar.bz2", "tar.xz"])
def test_tar_files_of_each_compression_unpack(tmp_path: Path, ending: str) -> None:
    archive = tmp_path / f"anna.{ending}"
    mode = "w" if ending == "tar" else f"w:{ending.removeprefix('tar.')}"
    write_tar(archive, {"anna/a.cc": b"int a;", "anna/b/c.cc": b"int c;"}, mode)
    unpack.unpack(archive, tmp_path / "out")
    assert (tmp_path / "out/anna/a.cc").read_bytes() == b"int a;"
    assert (tmp_path / "out/anna/b/c.cc").read_bytes() == b"int c;"


def test_zip_files_unpack(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "anna.zip", "w") as archive:
        archive.writestr("anna/a.cc", "int a;")
    unpack.unpack(tmp_path / "anna.zip", tmp_path / "out")
    assert (tmp_path / "out/anna/a.cc").read_bytes() == b"int a;"


@pytest.mark.parametrize("name", ["../evil.cc", "/tmp/evil.cc", "a/../../evil.cc", "..\\evil.cc"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_paths_out_of_the_folder_are_refused(tmp_path: Path, name: str, kind: str) -> None:
    archive = tmp_path / f"x.{kind}"
    if kind == "tar":
        write_tar(archive, {name: b"x"}, "w")
    else:
        with zipfile.ZipFile(archive, "w") as made:
            made.writestr(name, "x")
    with pytest.raises(KneepointError, match="leads out"):
        unpack.unpack(archive, tmp_path / "in/out")
    assert not list(tmp_path.rglob("evil.cc")) and not Path("/tmp/evil.cc").exists()


def write_member(path: Path, name: str, content: str, *, is_link: bool = False) -> None:
    """Adds a file or a link to a tree, a tar or a zip file."""
    if path.suffix == ".tar":
        with tarfile.open(path, "a") as archive:
            info = tarfile.TarInfo(name)
            if is_link:
                info.type, info.linkname = tarfile.SYMTYPE, content
            else:
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content.encode()))
    elif path.suffix == ".zip":
        zipped = zipfile.ZipInfo(name)
        zipped.external_attr = (0o120777 if is_link else 0o100644) << 16
        with zipfile.ZipFile(path, "a") as made:
            made.writestr(zipped, content)
    else:
        place = path / name
        place.parent.mkdir(parents=True, exist_ok=True)
        if is_link:
            place.symlink_to(content)
        else:
            place.write_text(content)


def take(path: Path, into: Path) -> None:
    if path.is_dir():
        unpack.copy_tree(path, into)
    else:
        unpack.unpack(path, into)


WAYS = pytest.mark.parametrize("way", ["x", "x.tar", "x.zip"])


@WAYS
def test_a_link_within_a_tree_is_the_file_that_it_names(tmp_path: Path, way: str) -> None:
    write_member(tmp_path / way, "b/../c.cc" if way == "x" else "c.cc", "int c;")
    write_member(tmp_path / way, "b/a.cc", "int a;")
    write_member(tmp_path / way, "b/one.cc", "../d/two.cc", is_link=True)
    write_member(tmp_path / way, "d/two.cc", "../b/./a.cc", is_link=True)
    take(tmp_path / way, tmp_path / "out")
    copied = {str(p.relative_to(tmp_path / "out")) for p in unpack.files_of(tmp_path / "out")}
    assert copied == {"b/a.cc", "b/one.cc", "c.cc", "d/two.cc"}
    assert (tmp_path / "out/b/one.cc").read_text() == "int a;"


@WAYS
@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "nowhere", "a.cc", "b/../../x/c"])
def test_links_out_of_a_tree_are_refused(tmp_path: Path, way: str, target: str) -> None:
    (tmp_path / "outside").write_text("secret")
    write_member(tmp_path / way, "b/c.cc", "int c;")
    write_member(tmp_path / way, "a.cc", target, is_link=True)
    with pytest.raises(KneepointError, match=r"a\.cc is a link that leads out of the entry"):
        take(tmp_path / way, tmp_path / "out")


@WAYS
def test_nothing_is_written_through_a_link(tmp_path: Path, way: str) -> None:
    (tmp_path / "outside").mkdir()
    write_member(tmp_path / way, "b", "../outside", is_link=True)
    if way != "x":
        write_member(tmp_path / way, "b/c.cc", "int c;")
        write_member(tmp_path / way, "b/d.cc", "e", is_link=True)
    with pytest.raises(KneepointError):
        take(tmp_path / way, tmp_path / "out")
    assert not list((tmp_path / "outside").iterdir())


def test_hard_links_in_archives_are_the_file_that_they_name(tmp_path: Path) -> None:
    write_member(tmp_path / "x.tar", "anna/a.cc", "int a;")
    with tarfile.open(tmp_path / "x.tar", "a") as archive:
        info = tarfile.TarInfo("anna/b/b.cc")
        info.type, info.linkname = tarfile.LNKTYPE, "anna/a.cc"
        archive.addfile(info)
    unpack.unpack(tmp_path / "x.tar", tmp_path / "out")
    assert (tmp_path / "out/anna/b/b.cc").read_text() == "int a;"


@WAYS
@pytest.mark.parametrize(
    "name",
    ["@inject.cc", "-wrapper", "src/@a.hh", "-x/a.cc", "a\nb.cc", "a\x1b[2J.cc", "a\udcff.cc"],
)
def test_names_that_are_no_names_are_refused(tmp_path: Path, way: str, name: str) -> None:
    if way == "x.zip" and "\udcff" in name:
        name = "a\x7f.cc"  # zip has no such names
    write_member(tmp_path / way, name, "int a;")
    with pytest.raises(KneepointError, match="rename it") as refused:
        take(tmp_path / way, tmp_path / "out")
    assert str(refused.value).isprintable()
    assert not list((tmp_path / "out").rglob("*.cc"))


def test_what_autotools_link_to_their_own_files_is_left_out(tmp_path: Path) -> None:
    write_member(tmp_path / "x", "a.cc", "int a;")
    write_member(tmp_path / "x", "depcomp", "/usr/share/automake-1.16/depcomp", is_link=True)
    unpack.copy_tree(tmp_path / "x", tmp_path / "out")
    assert [path.name for path in unpack.files_of(tmp_path / "out")] == ["a.cc"]


def test_deep_folders_are_refused_and_leave_nothing(tmp_path: Path) -> None:
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(3000):
        os.mkdir("a", dir_fd=folder)
        inner = os.open("a", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    try:
        with pytest.raises(KneepointError, match="too long a name"):
            unpack.copy_tree(tmp_path / "a", tmp_path / "out")
        with private_folder("kneepoint-test-") as work:
            (tmp_path / "a").rename(work / "a")
        assert not work.exists()
    finally:
        subprocess.run(["rm", "-rf", "--", tmp_path / "a"], check=True)


def test_a_circle_of_links_is_named(tmp_path: Path) -> None:
    write_member(tmp_path / "x", "a.cc", "b.cc", is_link=True)
    write_member(tmp_path / "x", "b.cc", "a.cc", is_link=True)
    with pytest.raises(KneepointError, match=r"a\.cc is a link"):
        unpack.copy_tree(tmp_path / "x", tmp_path / "out")


@pytest.mark.parametrize(
    ("code", "kind"), [(errno.EACCES, KneepointError), (errno.ENOSPC, OSError)]
)
def test_unreadable_files_are_named_and_faults_of_the_machine_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    def fail(_: int) -> None:
        raise OSError(code, os.strerror(code))

    write_member(tmp_path / "x", "a.cc", "int a;")
    monkeypatch.setattr(within, "reading", fail)
    with pytest.raises(kind, match=r"a\.cc: Perm" if kind is KneepointError else "No space"):
        unpack.copy_tree(tmp_path / "x", tmp_path / "out")


def test_a_name_that_changes_is_never_followed_out(tmp_path: Path) -> None:
    """Another user exchanges a header, and a folder, with links to a private file, in a loop."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private/a.hh").write_text("secret")
    write_member(tmp_path / "x", "a.hh", "int a;")
    write_member(tmp_path / "x", "b/a.hh", "int b;")
    (tmp_path / "link").symlink_to(tmp_path / "private/a.hh")
    (tmp_path / "folder").symlink_to(tmp_path / "private")
    script = (
        "import ctypes, sys\n"
        "libc = ctypes.CDLL(None)\n"
        "exchange = lambda a, b: libc.renameat2(-100, a, -100, b, 2)\n"
        "while True:\n"
        "    assert exchange(b'x/a.hh', b'link') == exchange(b'x/b', b'folder') == 0\n"
    )
    mallory = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    refused = 0
    try:
        for number in range(300):
            try:
                unpack.copy_tree(tmp_path / "x", tmp_path / f"out/{number}")
            except KneepointError:
                refused += 1
        assert mallory.poll() is None
    finally:
        mallory.kill()
        mallory.wait()
    assert refused > 0, "she was at it"
    for path in (tmp_path / "out").rglob("*.hh"):
        assert path.read_text() in ("int a;", "int b;")


def test_devices_are_refused(tmp_path: Path) -> None:
    write_link(tmp_path / "x.tar", "fifo", "", tarfile.FIFOTYPE)
    with pytest.raises(KneepointError, match="has a device"):
        unpack.unpack(tmp_path / "x.tar", tmp_path / "out")


def zeros_in_tar(path: Path) -> None:
    write_tar(path, {"zeros": bytes(unpack.MOST_BYTES + 1)})


def many_in_tar(path: Path) -> None:
    write_tar(path, {f"{number}.cc": b"" for number in range(unpack.MOST_FILES + 1)})


def long_header_in_tar(path: Path) -> None:
    """A header of PAX that claims, and has, more than an entry may have."""
    info = tarfile.TarInfo("a")
    info.pax_headers = {"comment": "x" * (2 * unpack.MOST_BYTES)}
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)


def zeros_in_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(unpack.MOST_BYTES + 1))


def many_in_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(unpack.MOST_FILES + 1):
            archive.writestr(f"{number}.cc", "")


@pytest.mark.parametrize(
    ("bomb", "name"),
    [
        (zeros_in_tar, "x.tgz"),
        (many_in_tar, "x.tgz"),
        (long_header_in_tar, "x.tgz"),
        (zeros_in_zip, "x.zip"),
        (many_in_zip, "x.zip"),
    ],
)
def test_bombs_are_defused(tmp_path: Path, bomb: Callable[[Path], None], name: str) -> None:
    bomb(tmp_path / name)
    assert (tmp_path / name).stat().st_size < 2 * 2**20, "it is small"
    with pytest.raises(KneepointError, match="it has more than"):
        unpack.unpack(tmp_path / name, tmp_path / "out")
    written = sum(p.stat().st_size for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert written <= unpack.MOST_BYTES


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 torn", b"\x1f\x8b torn"])
@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz"])
def test_damaged_archives_are_named(tmp_path: Path, content: bytes, name: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(KneepointError, match="the archive is damaged"):
        unpack.unpack(tmp_path / name, tmp_path / "out")


def test_large_archives_are_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as file:
        file.truncate(unpack.MOST_ARCHIVE_BYTES + 1)
    with pytest.raises(KneepointError, match="the archive has more than 32 MiB"):
        unpack.unpack(tmp_path / "x.zip", tmp_path / "out")


def test_trees_are_copied_without_what_was_built(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    for name in ("datagrump/a.cc", "datagrump/a.o", ".git/config", ".deps/a.Po"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    (tree / "datagrump/b.cc").symlink_to("a.cc")
    unpack.copy_tree(tree, tmp_path / "out")
    copied = {str(p.relative_to(tmp_path / "out")) for p in (tmp_path / "out").rglob("*.*")}
    assert copied == {"datagrump/a.cc", "datagrump/b.cc"}
    assert not (tmp_path / "out/datagrump/b.cc").is_symlink()


def test_pipes_in_a_tree_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree/pipe")
    with pytest.raises(KneepointError, match="pipe is neither a file nor a folder"):
        unpack.copy_tree(tmp_path / "tree", tmp_path / "out")


def test_folders_that_are_too_large_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree/large.txt").open("wb") as file:
        file.truncate(unpack.MOST_BYTES + 1)
    with pytest.raises(KneepointError, match="more than 64 MiB"):
        unpack.copy_tree(tmp_path / "tree", tmp_path / "out")

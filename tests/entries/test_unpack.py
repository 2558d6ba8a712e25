"""Submissions are not trusted: no file leaves its folder, and sizes are limited."""

import ctypes
import errno
import io
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kneepoint.common.code import ROOT
from kneepoint.common.errors import KneepointError, MachineError
from kneepoint.common.files import private_folder
from kneepoint.entries import collect, unpack, untrusted
from kneepoint.entries.confine import Confined
from tests.entries.trees import deep, write_member

pytestmark = pytest.mark.attacks

CONFINED = Confined(ROOT / "build/confine")


def unpack_file(archive: Path, into: Path) -> None:
    with archive.open("rb") as file:
        collect.unpack(file, into, CONFINED)


@pytest.mark.parametrize("kind", ["tar", "gztar", "bztar", "xztar", "zip"])
def test_archives_of_each_kind_unpack(tmp_path: Path, kind: str) -> None:
    write_member(tmp_path / "x", "anna/a.cc", "int a;")
    write_member(tmp_path / "x", "anna/b/c.cc", "int c;")
    archive = shutil.make_archive(str(tmp_path / "anna"), kind, tmp_path / "x")
    unpack_file(Path(archive), tmp_path / "out")
    assert (tmp_path / "out/anna/a.cc").read_text() == "int a;"
    assert (tmp_path / "out/anna/b/c.cc").read_text() == "int c;"


@pytest.mark.parametrize("name", ["../evil.cc", "/tmp/evil.cc", "a/../../evil.cc", "..\\evil.cc"])
@pytest.mark.parametrize("kind", ["tar", "zip"])
def test_paths_out_of_the_folder_are_refused(tmp_path: Path, name: str, kind: str) -> None:
    write_member(tmp_path / f"x.{kind}", name, "x")
    with pytest.raises(KneepointError, match="leads out"):
        unpack_file(tmp_path / f"x.{kind}", tmp_path / "in/out")
    assert not list(tmp_path.rglob("evil.cc")) and not Path("/tmp/evil.cc").exists()


def take(path: Path, into: Path) -> None:
    if path.is_dir():
        unpack.copy_tree(path, into)
    else:
        unpack_file(path, into)


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
@pytest.mark.parametrize(
    "target", ["/etc/passwd", "../outside", "nowhere", "a.cc", "b/../../x/c", "b/c.cc/d"]
)
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
    unpack_file(tmp_path / "x.tar", tmp_path / "out")
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


def test_a_private_folder_is_removed_however_deep() -> None:
    with private_folder("test") as work:
        deep(work)
    assert not work.exists()


@pytest.mark.parametrize(
    ("code", "kind"), [(errno.EACCES, KneepointError), (errno.ENOSPC, OSError)]
)
def test_unreadable_files_are_named_and_faults_of_the_machine_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[Exception]
) -> None:
    def fail(_: int) -> None:
        raise OSError(code, os.strerror(code))

    write_member(tmp_path / "x", "a.cc", "int a;")
    monkeypatch.setattr(untrusted, "reading", fail)
    with pytest.raises(kind, match=r"a\.cc: Perm" if kind is KneepointError else "No space"):
        unpack.copy_tree(tmp_path / "x", tmp_path / "out")


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (errno.EPERM, MachineError, "Linux 5.6"),
        (errno.ENOSYS, MachineError, "Linux 5.6"),
        (errno.EAGAIN, KneepointError, "link"),
    ],
)
def test_a_host_without_the_call_is_at_fault_and_a_race_is_the_entrys(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    kind: type[Exception],
    words: str,
) -> None:
    """A folder that its owner moves all the time must not end a contest."""

    class Kernel:
        def syscall(self, *_: object) -> int:
            ctypes.set_errno(code)
            return -1

    with untrusted.opened(tmp_path) as root:
        monkeypatch.setattr(untrusted, "_libc", Kernel())
        with pytest.raises(kind, match=words) as raised:
            unpack.copy_folder(root, tmp_path / "out")
    assert isinstance(raised.value, MachineError) == (kind is MachineError)


def test_files_that_others_move_do_not_matter(tmp_path: Path) -> None:
    """The kernel gives up a path with `..` if a file is renamed anywhere on the machine."""
    write_member(tmp_path / "x", "a.hh", "int a;")
    (tmp_path / "x/b").mkdir()
    for number in range(300):
        (tmp_path / f"x/b/{number}.hh").symlink_to("../a.hh")
    script = "import os\nwhile True: os.rename('one', 'two'); os.rename('two', 'one')"
    (tmp_path / "one").touch()
    stranger = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    try:
        for copy in range(5):
            unpack.copy_tree(tmp_path / "x", tmp_path / f"out/{copy}")
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_a_name_that_changes_is_never_followed_out(tmp_path: Path) -> None:
    """In a loop, another user replaces a header and a folder by links to a private file."""
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
    copies = refused = 0
    try:
        # On a busy machine, the other process may run late.
        while copies < 300 or (copies < 30_000 and not refused):
            try:
                unpack.copy_tree(tmp_path / "x", tmp_path / f"out/{copies}")
            except KneepointError:
                refused += 1
            copies += 1
        assert mallory.poll() is None
    finally:
        mallory.kill()
        mallory.wait()
    assert refused > 0, "she was at it"
    for path in (tmp_path / "out").rglob("*.hh"):
        assert path.read_text() in ("int a;", "int b;")


def test_devices_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tar", "w") as archive:
        info = tarfile.TarInfo("fifo")
        info.type = tarfile.FIFOTYPE
        archive.addfile(info)
    with pytest.raises(KneepointError, match="has a device"):
        unpack_file(tmp_path / "x.tar", tmp_path / "out")


def zeros_in_tar(path: Path) -> None:
    info = tarfile.TarInfo("zeros")
    info.size = unpack.MAX_BYTES + 1
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(info, io.BytesIO(bytes(info.size)))


def many_in_tar(path: Path) -> None:
    with tarfile.open(path, "w:gz") as archive:
        for number in range(unpack.MAX_FILES + 1):
            archive.addfile(tarfile.TarInfo(f"{number}.cc"))


def long_header_in_tar(path: Path) -> None:
    """A PAX header that is larger than an entry may be."""
    info = tarfile.TarInfo("a")
    info.pax_headers = {"comment": "x" * (2 * unpack.MAX_BYTES)}
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(info)


def zeros_in_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(unpack.MAX_BYTES + 1))


def many_in_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(unpack.MAX_FILES + 1):
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
        unpack_file(tmp_path / name, tmp_path / "out")
    written = sum(p.stat().st_size for p in (tmp_path / "out").rglob("*") if p.is_file())
    assert written <= unpack.MAX_BYTES


def test_large_archives_are_not_opened(tmp_path: Path) -> None:
    with (tmp_path / "x.zip").open("wb") as file:
        file.truncate(unpack.MAX_ARCHIVE_BYTES + 1)
    with pytest.raises(KneepointError, match="the archive has more than 32 MiB"):
        unpack_file(tmp_path / "x.zip", tmp_path / "out")


def test_trees_are_copied_without_what_was_built(tmp_path: Path) -> None:
    for name in ("datagrump/a.cc", "datagrump/a.o", ".git/config", ".deps/a.Po"):
        write_member(tmp_path / "x", name, name)
    automake = "/usr/share/automake-1.16/depcomp"
    write_member(tmp_path / "x", "depcomp", automake, is_link=True)
    unpack.copy_tree(tmp_path / "x", tmp_path / "out")
    assert unpack.files_of(tmp_path / "out") == [tmp_path / "out/datagrump/a.cc"]


def test_folders_that_are_too_large_are_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree/large.txt").open("wb") as file:
        file.truncate(unpack.MAX_BYTES + 1)
    with pytest.raises(KneepointError, match="more than 64 MiB"):
        unpack.copy_tree(tmp_path / "tree", tmp_path / "out")

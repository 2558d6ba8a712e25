"""Copies trees and unpacks archives of submissions, which are untrusted.

The result consists of plain files and folders within the given folder, and has a limited size. A
link within a tree becomes a copy of its target. Archives are unpacked by a confined process, this
module's `main`, which needs only the standard library; its output is then copied like any other
tree.
"""

import bz2
import errno
import gzip
import io
import lzma
import os
import stat
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from kneepoint.common.errors import KneepointError, refuse
from kneepoint.entries import untrusted

MAX_BYTES = 64 * 2**20
MAX_FILES = 5_000
MAX_ARCHIVE_BYTES = 32 * 2**20
_MAX_PATH = 250
_MAX_LINK = 4096
_COMPRESSIONS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")


_LEFT_OUT = frozenset(
    ".git .hg .svn .deps .libs __pycache__ __MACOSX .DS_Store autom4te.cache".split()
)
"""Names of files and folders that no entry needs."""
_LEFT_OUT_BEGINNING = "._"
"""Prefix of the files in which macOS stores metadata of other files."""
_LEFT_OUT_OF_REPOSITORY = frozenset("hooks logs lfs modules worktrees".split())
"""Folders at the top of a repository that are not copied."""
_ELSEWHERE = {
    "commondir": "is a worktree of another repository; name that repository",
    "objects/info/alternates": "has objects in another repository; run git repack -ad, and remove "
    "objects/info/alternates",
}
"""Files by which a repository refers to other repositories, of any owner."""
EXIT_NO_ROOM = 75
"""Exit status of `main` if the disk is full."""
_ENDINGS_LEFT_OUT = frozenset(".o .a .lo .la .so .pyc .log".split())
_LINKS_LEFT_OUT = frozenset(
    "INSTALL COPYING ar-lib compile config.guess config.sub depcomp install-sh ltmain.sh missing "
    "test-driver".split()
)
"""Names of links to files of autotools."""


def is_archive(path: Path) -> bool:
    """Returns whether a file's name has the suffix of a known archive format."""
    return path.name.lower().endswith(ARCHIVES)


def name_of_archive(path: Path) -> str:
    """Returns the name of an archive without its suffixes."""
    longest = max((end for end in ARCHIVES if path.name.lower().endswith(end)), key=len)
    return path.name[: -len(longest)]


def copy_tree(source: Path, into: Path) -> None:
    """Copies the files of a folder (see `copy_folder`)."""
    with untrusted.opened(source) as root:
        copy_folder(root, into)


def copy_folder(root: int, into: Path) -> float:
    """Copies the files of a folder by its descriptor, and the targets of links within it.

    Returns:
        Modification time of its newest file or folder (s since 1970).

    Raises:
        KneepointError: a link leads out, a file is special or unreadable, or a limit of size or
            number is exceeded.
    """
    taken = _Taken(into)
    _copy(root, taken)
    return taken.newest_s


def copy_repository(root: int, into: Path) -> None:
    """Copies a git repository without its hooks, by the descriptor of its folder or working tree.

    Raises:
        KneepointError: the folder has no repository, or it cannot be copied (see `copy_folder`).
    """
    taken = _Taken(into, is_repository=True)
    try:
        with untrusted.located(root, ".git", follows=False) as own:
            if not untrusted.is_folder(own):
                raise KneepointError("is a worktree or submodule; name its repository")
            _copy(own, taken)
    except FileNotFoundError:
        _copy(root, taken)
    for name, problem in _ELSEWHERE.items():
        if (into / name).exists():
            raise KneepointError(problem)
    for name in ("objects", "refs"):  # git requires them even if they are empty
        (into / name).mkdir(exist_ok=True)


def is_bare(root: int) -> bool:
    """Returns whether a folder is a git repository without a working tree."""
    kinds = {"HEAD": untrusted.is_file, "objects": untrusted.is_folder, "refs": untrusted.is_folder}
    try:
        for name, is_kind in kinds.items():
            with untrusted.located(root, name) as found:
                if not is_kind(found):
                    return False
    except OSError:
        return False
    return True


def files_of(folder: Path) -> list[Path]:
    """Returns the sorted files of a copied tree."""
    found = []
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        assert stat.S_ISREG(mode) or stat.S_ISDIR(mode), path
        if stat.S_ISREG(mode):
            found.append(path)
    return found


def take_file(name: str, file: IO[bytes], into: Path) -> None:
    """Copies a single file into a folder; raises KneepointError if it is too large."""
    _Taken(into).add(name, file)


def main() -> None:
    """Unpacks the tar or zip file on stdin into the folder of the only argument."""
    (into,) = sys.argv[1:]
    try:
        extract(sys.stdin.buffer, Path(into))
    except KneepointError as error:
        refuse(error)
    except OSError:
        sys.exit(EXIT_NO_ROOM)


def extract(file: IO[bytes], into: Path) -> None:
    """Unpacks a tar or zip file; an untrusted file needs a confined process.

    Raises:
        KneepointError: the archive is damaged, leads out of its folder, or is a bomb.
    """
    taken = _Taken(into)
    try:
        if zipfile.is_zipfile(file):
            _unpack_zip(file, taken)
        else:
            file.seek(0)
            _unpack_tar(file, taken)
        taken.write_links()
    except Exception as error:
        is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        if is_full or isinstance(error, KneepointError):
            raise
        problem = str(error) or type(error).__name__
        raise KneepointError(f"the archive is damaged ({problem})") from None


def _copy(root: int, taken: "_Taken") -> None:
    folders = [""]
    while folders:
        folder = folders.pop()
        try:
            with untrusted.located(root, folder) as found:
                taken.see(found)
                names = untrusted.names_in(found, taken.max_files)
        except OSError as error:
            raise _refusal(folder or "the folder", error) from None
        taken.expect_files(len(names))
        for name in names:
            if not taken.leaves_out(f"{folder}{name}"):
                try:
                    folders += _copy_one(root, f"{folder}{name}", taken)
                except OSError as error:
                    raise _refusal(f"{folder}{name}", error) from None


def _copy_one(root: int, path: str, taken: "_Taken") -> list[str]:
    """Copies a file; returns the path if it is a folder."""
    taken.check(path)
    with untrusted.located(root, path, follows=False) as found:
        if untrusted.is_folder(found):
            return [f"{path}/"]
        link = untrusted.is_link(found)
    place = PurePosixPath(path)
    is_made = place.suffix in _ENDINGS_LEFT_OUT or (link and place.name in _LINKS_LEFT_OUT)
    if is_made and not taken.is_repository:
        return []
    try:
        with untrusted.located(root, path) as found:
            if untrusted.is_folder(found):
                raise KneepointError(f"{path} is a link to a folder; put the folder there")
            if not untrusted.is_file(found):
                raise KneepointError(f"{path} is neither a file nor a folder")
            taken.see(found)
            with untrusted.reading(found) as file:
                taken.add(path, file)
    except OSError as error:
        if error.errno not in untrusted.OUTSIDE:
            raise
        raise KneepointError(f"{path} is a link that leads out of the entry") from None
    return []


def _refusal(path: str, error: OSError) -> Exception:
    if untrusted.is_fault(error):
        return error
    return KneepointError(f"{path[:_MAX_PATH]}: {error.strerror}; submit plain, readable files")


def _unpack_tar(file: IO[bytes], taken: "_Taken") -> None:
    start = file.read(6)
    file.seek(0)
    stream: Any = file
    for magic, opened in _COMPRESSIONS.items():
        if start.startswith(magic):
            stream = opened(file)
    capped = cast(IO[bytes], _Capped(stream, 2 * MAX_BYTES))
    with tarfile.open(fileobj=capped, mode="r|") as archive:
        for member in archive:
            taken.expect_files(1)
            if member.isdir():
                taken.check(member.name)
            elif member.issym():
                taken.add_link(member.name, member.linkname)
            elif member.islnk():  # linkname is relative to the archive's root
                up = "../" * (len(PurePosixPath(member.name).parts) - 1)
                taken.add_link(member.name, up + member.linkname)
            elif not member.isfile():
                raise KneepointError(f"the archive has a device, {member.name}")
            else:
                content = archive.extractfile(member)
                assert content is not None
                taken.add(member.name, content)


def _unpack_zip(file: IO[bytes], taken: "_Taken") -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        taken.expect_files(len(members))
        for member in members:
            if member.is_dir():
                taken.check(member.filename)
                continue
            with archive.open(member) as content:
                if stat.S_ISLNK(member.external_attr >> 16):
                    taken.add_link(member.filename, os.fsdecode(content.read(_MAX_LINK)))
                else:
                    taken.add(member.filename, content)


class _Taken:
    """Writes the files of an entry or a git repository into a folder, up to limits."""

    def __init__(self, into: Path, *, is_repository: bool = False) -> None:
        self.is_repository = is_repository
        self.max_files = 50_000 if is_repository else MAX_FILES
        self._max_bytes = 256 * 2**20 if is_repository else MAX_BYTES
        self._into = into
        self._bytes = 0
        self._files = 0
        self._links: dict[Path, str] = {}
        self.newest_s = 0.0
        into.mkdir(parents=True, exist_ok=True)

    def leaves_out(self, path: str) -> bool:
        """Returns whether to skip a file or folder that no entry needs."""
        if self.is_repository:
            return path in _LEFT_OUT_OF_REPOSITORY
        name = path.rstrip("/").rpartition("/")[2]
        return name in _LEFT_OUT or name.startswith(_LEFT_OUT_BEGINNING)

    def see(self, descriptor: int) -> None:
        """Updates `newest_s` by the modification time of a descriptor's file."""
        self.newest_s = max(self.newest_s, os.fstat(descriptor).st_mtime)

    def check(self, name: str) -> Path:
        """Returns the path of a file in the folder.

        Raises:
            KneepointError: the name leads out of the folder, is too long, or has invalid
                characters.
        """
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts:
            raise KneepointError(f"{name!r} leads out of the entry's folder")
        if len(os.fsencode(name)) > _MAX_PATH or len(path.parts) > untrusted.MAX_DEPTH:
            raise KneepointError(f"{name[:60]!r}... is too long a name")
        if not name.isprintable():
            raise KneepointError(f"{name!r} has unprintable characters, or is not UTF-8; rename it")
        if not self.is_repository and any(part[0] in "-@" for part in path.parts):
            raise KneepointError(f"{name!r} would be an option of the compiler; rename it")
        return self._into / path

    def expect_files(self, number: int) -> None:
        """Counts names; raises KneepointError if there are too many."""
        self._files += number
        if self._files > self.max_files:
            raise KneepointError(f"it has more than {self.max_files} files; submit sources only")

    def add(self, name: str, content: IO[bytes]) -> None:
        """Writes a file; raises KneepointError if all files exceed the limit of size."""
        place, most = self.check(name), self._max_bytes
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                while part := content.read(2**16):
                    self._bytes += len(part)
                    if self._bytes > most:
                        raise KneepointError(
                            f"it has more than {most >> 20} MiB (at {name!r}); submit sources only"
                        )
                    file.write(part)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise KneepointError(f"{name!r} occurs twice") from None

    def add_link(self, name: str, target: str) -> None:
        """Adds a link for `write_links`."""
        place = self.check(name)
        if place in self._links:
            raise KneepointError(f"{name!r} occurs twice")
        self._links[place] = target

    def write_links(self) -> None:
        """Writes the links after all folders exist, so that none is written through another."""
        try:
            for place in self._links:
                place.parent.mkdir(parents=True, exist_ok=True)
            for place, target in self._links.items():
                place.symlink_to(target)
        except (FileExistsError, NotADirectoryError):
            raise KneepointError("a link of the archive occurs twice") from None


class _Capped(io.RawIOBase):
    """A stream that raises an error after `most` bytes, independently of an archive's headers."""

    def __init__(self, stream: Any, most: int) -> None:
        self._stream = stream
        self._left = most

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        wanted = 2**20 if size < 0 else min(size, 2**20)
        part: bytes = self._stream.read(wanted)
        self._left -= len(part)
        if self._left < 0:
            raise KneepointError(f"it has more than {MAX_BYTES >> 20} MiB; submit sources only")
        return part

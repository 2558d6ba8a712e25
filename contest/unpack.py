"""Takes in submissions: copies a tree or unpacks an archive, and trusts neither.

The result lies in the given folder, consists of plain files and folders, and is no larger
than an entry can reasonably be.
"""

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from common.errors import KneepointError

MOST_BYTES = 64 * 2**20
MOST_FILES = 5_000
MOST_ARCHIVE_BYTES = 32 * 2**20
_MOST_PATH = 250
_LEFT_OUT = {".git", ".hg", ".svn", ".deps", ".libs", "__pycache__", "autom4te.cache"}
"""Folders that no build needs."""
_BUILT = {".o", ".a", ".lo", ".la", ".so", ".pyc", ".log"}
_COMPRESSIONS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ": lzma.LZMAFile,
}
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")


def is_archive(path: Path) -> bool:
    """Whether a file's name ends like that of a known archive format."""
    return path.name.lower().endswith(ARCHIVES)


def name_of_archive(path: Path) -> str:
    """Returns the name of an archive without its endings."""
    longest = max((end for end in ARCHIVES if path.name.lower().endswith(end)), key=len)
    return path.name[: -len(longest)]


def copy_tree(source: Path, into: Path) -> None:
    """Copies the files of a folder, links within it as what they point to.

    Raises:
        KneepointError: a link leads out, a file is special, or there is too much.
    """
    root = source.resolve()
    taken = _Taken(into)
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
        for name in [*folders, *sorted(names)]:
            path = Path(folder) / name
            relative = path.relative_to(root)
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                continue
            if stat.S_ISLNK(mode):
                target = path.resolve()
                if not target.is_relative_to(root) or not target.exists():
                    raise KneepointError(f"{relative} is a link that leads out of the entry")
                if target.is_dir():
                    raise KneepointError(f"{relative} is a link to a folder; put the folder there")
                mode = target.stat().st_mode
            if not stat.S_ISREG(mode):
                raise KneepointError(f"{relative} is neither a file nor a folder")
            if relative.suffix in _BUILT:
                continue
            with path.open("rb") as file:
                taken.add(relative.as_posix(), file)


def unpack(archive: Path, into: Path) -> None:
    """Unpacks a tar or zip file.

    Raises:
        KneepointError: it is damaged, leads out of its folder, or is a bomb.
    """
    if archive.stat().st_size > MOST_ARCHIVE_BYTES:
        raise KneepointError(f"the archive has more than {MOST_ARCHIVE_BYTES >> 20} MiB")
    with archive.open("rb") as file:
        unpack_stream(file, into)


def unpack_stream(file: IO[bytes], into: Path) -> None:
    """Unpacks a tar or zip file that is open (see `unpack`)."""
    taken = _Taken(into)
    try:
        if zipfile.is_zipfile(file):
            _unpack_zip(file, taken)
        else:
            file.seek(0)
            _unpack_tar(file, taken)
    except (
        *(tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, lzma.LZMAError),
        *(ValueError, NotImplementedError, RuntimeError, MemoryError, UnicodeError),
    ) as error:
        raise KneepointError(f"the archive is damaged ({error})") from None


def _unpack_tar(file: IO[bytes], taken: "_Taken") -> None:
    start = file.read(6)
    file.seek(0)
    stream: Any = file
    for magic, opened in _COMPRESSIONS.items():
        if start.startswith(magic):
            stream = opened(file)
    capped = cast(IO[bytes], _Capped(stream, 2 * MOST_BYTES))
    with tarfile.open(fileobj=capped, mode="r|") as archive:
        for member in archive:
            if member.isdir():
                taken.check(member.name)
                continue
            if member.issym() or member.islnk():
                raise KneepointError(f"the archive has a link, {member.name}; archive files only")
            if not member.isfile():
                raise KneepointError(f"the archive has a device, {member.name}")
            taken.expect(member.name, member.size)
            content = archive.extractfile(member)
            assert content is not None
            taken.add(member.name, content)


def _unpack_zip(file: IO[bytes], taken: "_Taken") -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        taken.expect_files(len(members))
        for member in members:
            mode = member.external_attr >> 16
            if member.is_dir():
                taken.check(member.filename)
                continue
            if stat.S_ISLNK(mode):
                raise KneepointError(f"the archive has a link, {member.filename}")
            taken.expect(member.filename, member.file_size)
            with archive.open(member) as content:
                taken.add(member.filename, content)


class _Taken:
    """Writes files into a folder and counts them."""

    def __init__(self, into: Path) -> None:
        self._into = into
        self._bytes = 0
        self._files = 0
        into.mkdir(parents=True, exist_ok=True)

    def check(self, name: str) -> Path:
        """Returns a file's path; raises KneepointError if it is outside the folder."""
        path = PurePosixPath(name.replace("\\", "/"))
        if path.is_absolute() or ".." in path.parts or "\0" in name or ":" in path.parts[:1]:
            raise KneepointError(f"{name!r} leads out of the archive's folder")
        if len(name) > _MOST_PATH or any(len(part) > _MOST_PATH for part in path.parts):
            raise KneepointError(f"{name[:60]!r}... is too long a name")
        return self._into / path

    def expect(self, name: str, size: int) -> None:
        """Raises KneepointError if a file of this size would be too much."""
        if self._bytes + size > MOST_BYTES:
            raise KneepointError(
                f"it has more than {MOST_BYTES >> 20} MiB (at {name!r}); submit sources only"
            )

    def expect_files(self, number: int) -> None:
        """Raises KneepointError if so many more files would be too many."""
        if self._files + number > MOST_FILES:
            raise KneepointError(f"it has more than {MOST_FILES} files; submit sources only")

    def add(self, name: str, content: IO[bytes]) -> None:
        """Writes a file."""
        place = self.check(name)
        self.expect_files(1)
        self._files += 1
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("xb") as file:
                while part := content.read(2**16):
                    self._bytes += len(part)
                    self.expect(name, 0)
                    file.write(part)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            raise KneepointError(f"{name!r} occurs twice") from None


class _Capped(io.RawIOBase):
    """A stream that ends with an error after so many bytes, whatever headers promise."""

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
            raise KneepointError(f"it has more than {MOST_BYTES >> 20} MiB; submit sources only")
        return part

"""Opens files in another user's folder safely, even if its owner changes it meanwhile.

A path is resolved component by component, each from the previous descriptor, as openat2(2) does
with RESOLVE_BENEATH: no file can be exchanged between the check and the read. A plain file is read
through the descriptor that was checked; a pipe or a device is never opened.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kneepoint.common.errors import KneepointError

MAX_DEPTH = 32
"""Nested folders; each takes a descriptor while a path is resolved."""
_MAX_STEPS = 400
"""Components of one path with its links, which may form a cycle."""
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FAULTS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
    *(errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE),
}
OUTSIDE = (errno.EXDEV, errno.ELOOP, errno.ENOENT)
"""Errors of `located` for a link that leads out of the folder, into a cycle, or to nothing."""


def is_fault(error: OSError) -> bool:
    """Returns whether the machine is at fault for an error, not the files."""
    return error.errno in _FAULTS


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Opens a path without links; yields an O_PATH descriptor.

    Raises:
        KneepointError: a component is a link.
        OSError: the path does not exist.
    """
    descriptor = os.open("/" if path.is_absolute() else ".", _LOOK)
    try:
        for name in path.relative_to(path.anchor).parts:
            found = os.open(name, _LOOK, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = found
            if is_link(descriptor):
                raise KneepointError(f"{name} is a symbolic link; name its target")
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def located(root: int, path: str, *, follows: bool = True) -> Iterator[int]:
    """Finds a path within the folder `root`; yields an O_PATH descriptor.

    Links are followed; the last component only if `follows`.

    Raises:
        OSError: the error of openat2(2); EXDEV if a link leads out of the folder.
    """
    way = [root]
    pending = path.split("/")[::-1]
    steps = 0
    try:
        while pending:
            name = pending.pop()
            steps += 1
            if steps > _MAX_STEPS or len(way) > MAX_DEPTH + 1:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            if name in ("", "."):
                continue
            if name == "..":
                if len(way) == 1:
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
                os.close(way.pop())
                continue
            way.append(os.open(name, _LOOK, dir_fd=way[-1]))
            if is_link(way[-1]) and (follows or pending):
                target = os.readlink("", dir_fd=way[-1])
                os.close(way.pop())
                if target.startswith("/"):
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
                pending += target.split("/")[::-1]
        yield way[-1]
    finally:
        for each in way[1:]:
            os.close(each)


def is_link(descriptor: int) -> bool:
    """Returns whether a descriptor refers to a symbolic link."""
    return stat.S_ISLNK(os.fstat(descriptor).st_mode)


def is_folder(descriptor: int) -> bool:
    """Returns whether a descriptor refers to a folder."""
    return stat.S_ISDIR(os.fstat(descriptor).st_mode)


def is_file(descriptor: int) -> bool:
    """Returns whether a descriptor refers to a plain file."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def reading(descriptor: int) -> IO[bytes]:
    """Opens the plain file of an O_PATH descriptor for reading.

    Raises:
        OSError: EBUSY if its owner holds a lease on it, which would block the open.
    """
    try:
        path = f"/proc/self/fd/{descriptor}"
        return os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except BlockingIOError:
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY)) from None


def names_in(descriptor: int, most: int) -> list[str]:
    """Returns the sorted names in a folder, at most `most` + 1 of them."""
    names = []
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=descriptor)
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                if len(names) > most:
                    break
    finally:
        os.close(folder)
    return sorted(names)

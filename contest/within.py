"""Opens what is in somebody else's folder, whatever its owner does in the meantime.

A path is resolved component by component, each from the descriptor of the one before, as openat2
does with RESOLVE_BENEATH: nothing can be exchanged between a look and a read. What a descriptor
shows to be a plain file is read from that descriptor; a pipe or a device is never opened.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

MOST_LINKS = 40
"""On the way of one path, as in Linux."""
_LOOK = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_FAULTS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
    *(errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE),
}
OUTSIDE = (errno.EXDEV, errno.ELOOP, errno.ENOENT)
"""What `located` raises if a link leads out of the folder, in a circle, or to nothing."""


def is_fault(error: OSError) -> bool:
    """Whether an error is the machine's, not that of the files that were read."""
    return error.errno in _FAULTS


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Opens a path whose last component is no link; yields a descriptor to look at it."""
    descriptor = os.open(path, _LOOK)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def located(root: int, path: str, *, follows: bool = True) -> Iterator[int]:
    """Finds a path within the folder `root`; yields a descriptor to look at it.

    A link in the last place is followed, as links before it are, if `follows`.

    Raises:
        OSError: as openat2 would; EXDEV if a link leads out.
    """
    with ExitStack() as stack:
        way = [root]
        pending = path.split("/")[::-1]
        links = 0
        while pending:
            name = pending.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if len(way) == 1:
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
                way.pop()
                continue
            found = os.open(name, _LOOK, dir_fd=way[-1])
            stack.callback(os.close, found)
            if is_link(found) and (follows or pending):
                target = os.readlink("", dir_fd=found)
                links += 1
                if target.startswith("/") or links > MOST_LINKS:
                    raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))
                pending += target.split("/")[::-1]
            else:
                way.append(found)
        yield way[-1]


def is_link(descriptor: int) -> bool:
    """Whether it is a symbolic link itself."""
    return stat.S_ISLNK(os.fstat(descriptor).st_mode)


def is_folder(descriptor: int) -> bool:
    """Whether it is a folder."""
    return stat.S_ISDIR(os.fstat(descriptor).st_mode)


def is_file(descriptor: int) -> bool:
    """Whether it is a plain file."""
    return stat.S_ISREG(os.fstat(descriptor).st_mode)


def reading(descriptor: int) -> IO[bytes]:
    """Opens the plain file that a descriptor shows."""
    return Path(f"/proc/self/fd/{descriptor}").open("rb")


def names_in(descriptor: int, most: int) -> list[str]:
    """Returns the sorted names in a folder, no more than one above `most`."""
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

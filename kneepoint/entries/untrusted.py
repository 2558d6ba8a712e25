"""Opens files in another user's folder safely, even if its owner changes it meanwhile.

Paths are resolved by openat2(2), which never leaves the folder, so that no file can be exchanged
between the check and the read. A plain file is read through the descriptor that was checked; a pipe
or a device is never opened.
"""

import ctypes
import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kneepoint.common.errors import KneepointError, MachineError

MAX_DEPTH = 32
"""Nested folders."""
_OPENAT2, _AT_FDCWD = 437, -100
_TRIES = 1000
_RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 4, 8  # linux/openat2.h
_libc = ctypes.CDLL(None, use_errno=True)
_FAULTS = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO),
    *(errno.ENOMEM, errno.EAGAIN, errno.EMFILE, errno.ENFILE),
}
OUTSIDE = (errno.EXDEV, errno.ELOOP, errno.ENOENT, errno.ENOTDIR)
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
    try:
        descriptor = _open(_AT_FDCWD, str(path), os.O_PATH, _RESOLVE_NO_SYMLINKS)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise KneepointError(
            f"{path.name} or a folder above it is a symbolic link; name its target"
        ) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def located(root: int, path: str, *, follows: bool = True) -> Iterator[int]:
    """Finds a path within the folder `root`; yields an O_PATH descriptor.

    Links are followed; the last component only if `follows`.

    Raises:
        OSError: EXDEV if a link leads out of the folder, ELOOP if links form a cycle.
    """
    flags = os.O_PATH | (0 if follows else os.O_NOFOLLOW)
    descriptor = _open(root, path or ".", flags, _RESOLVE_BENEATH)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _open(folder: int, path: str, flags: int, resolve: int) -> int:
    """Calls openat2(2), which Python has no name for.

    The kernel does not resolve a `..` while anything on this machine is moved (EAGAIN), which may
    be a stranger's file; only a folder that is moved without end counts as a link that leads out.
    """
    how = (ctypes.c_uint64 * 3)(flags | os.O_CLOEXEC, 0, resolve)
    name, size = os.fsencode(path), ctypes.sizeof(how)
    for _ in range(_TRIES):
        descriptor = int(_libc.syscall(_OPENAT2, folder, name, how, size))
        if descriptor >= 0:
            return descriptor
        number = ctypes.get_errno()
        if number != errno.EAGAIN:
            break
    else:
        number = errno.EXDEV
    if number in (errno.ENOSYS, errno.EPERM):
        raise MachineError(
            "this host has no openat2; use Linux 5.6 or later, or a container that permits it"
        )
    raise OSError(number, os.strerror(number))


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

"""Files that appear whole or not at all, digests, and locks between processes."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from uuid import uuid4

from search.errors import KneepointError


def sha256_of(content: bytes) -> str:
    """Returns the SHA-256 of some bytes in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def write_whole(path: Path, content: bytes | str) -> None:
    """Writes a file so that a reader, or a power cut, sees all of it or none; makes its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds an exclusive lock on the file `path` (made if absent); waits while another holds it.

    The lock goes with its process, however that ends, so that none is ever stale.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def hold_lock(path: Path) -> TextIO:
    """Takes an exclusive lock on the file `path` at once; it lasts until the result is closed.

    Raises:
        KneepointError: another living process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise KneepointError(
            f"{path}: process {holder} is working here; wait for it to finish, or end it"
        ) from None
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def _sync_folder(folder: Path) -> None:
    """Makes a rename durable: it is the folder that records it."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

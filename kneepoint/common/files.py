"""Atomic file writes, digests, and locks between processes."""

import atexit
import errno
import fcntl
import hashlib
import math
import os
import re
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TextIO
from uuid import uuid4

from kneepoint.common.errors import KneepointError, our_files, writing
from kneepoint.common.json_text import parse_json


def sha256_of(content: bytes) -> str:
    """Returns the SHA-256 of bytes in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def write_whole(path: Path, content: bytes | str, mode: int = 0o666) -> None:
    """Writes a file atomically and durably; creates its folder.

    First removes temporary files that killed processes of this user left in the folder (see
    private_folder). The umask applies to `mode`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    _remove_abandoned(path.parent)
    with writing(path):
        temporary, descriptor = _make_owned(
            path.parent, f".{_PRIVATE}{path.name}", partial(_make_file, mode=mode)
        )
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def write_passing(path: Path, content: str) -> None:
    """Writes a file atomically but not durably; creates its folder.

    For short-lived files: a flush to the disk would delay the logs of real runs.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with writing(path):
        part.write_text(content)
        part.replace(path)


def write_folder(
    folder: Path, texts: Mapping[Path, str], check: Callable[[Path], object] | None = None
) -> None:
    """Makes a new folder atomically; `texts` are the contents of its files by path.

    `check` is called with the folder under a temporary name; if it raises, no folder is made.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(folder.parent)
    name = f".{_PRIVATE}{folder.name}"
    with writing(folder):
        unfinished, owner = _make_owned(folder.parent, name, partial(_make_folder, mode=0o777))
    try:
        for path, text in texts.items():
            with writing(folder / path):
                write_whole(unfinished / path, text)
        if check is not None:
            check(unfinished)
        unfinished.rename(folder)
    finally:
        _remove(unfinished)
        os.close(owner)


@contextmanager
def private_folder(name: str, parent: Path | None = None) -> Iterator[Path]:
    """Makes a temporary folder, and removes it with all its content at the end.

    First removes the temporary files and folders of killed processes of this user. Owners hold
    locks on them, which show whether an owner is alive.

    Args:
        name: its purpose, part of its name.
        parent: the folder to make it in; None: the system's folder for temporary files.

    Raises:
        KneepointError: the folder cannot be made.
    """
    place = Path(tempfile.gettempdir()) if parent is None else parent
    _remove_abandoned(place)
    with our_files():
        folder, owner = _make_owned(place, f"{_PRIVATE}{name}", partial(_make_folder, mode=0o700))
    try:
        yield folder
    finally:
        _remove(folder)
        os.close(owner)


def keep_temporary_files(name: str) -> Path:
    """Makes a private folder for all temporary files of this process and its children.

    It is removed when the process ends or, after a kill, by the next process (see private_folder).
    """
    stack = ExitStack()
    folder = stack.enter_context(private_folder(name))
    atexit.register(stack.close)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    return folder


_PRIVATE = "kneepoint."
_TEMPORARY = re.compile(r"\.?kneepoint\..+\.[0-9a-f]{8}")


def _make_owned(parent: Path, name: str, make: Callable[[Path], int]) -> tuple[Path, int]:
    """Makes a new file or folder; returns its path and a descriptor that owns it."""
    while True:
        path = parent / f"{name}.{uuid4().hex[:8]}"
        with suppress(FileExistsError):
            descriptor = make(path)
            # Before the lock, another process may have removed it as abandoned.
            if _own(path, descriptor):
                return path, descriptor
            os.close(descriptor)


def _make_file(path: Path, mode: int) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)


def _make_folder(path: Path, mode: int) -> int:
    path.mkdir(mode)
    try:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        raise FileExistsError from None  # another process removed it as abandoned


def _own(path: Path, descriptor: int) -> bool:
    """Locks a file or folder; False if another process holds the lock, or has removed it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return os.path.lexists(path)


def _remove_abandoned(parent: Path) -> None:
    with suppress(OSError):  # the write that follows reports it
        for path in parent.iterdir():
            if _TEMPORARY.fullmatch(path.name):
                _remove_if_abandoned(path)


def _remove_if_abandoned(path: Path) -> None:
    with suppress(OSError):  # another process removed it, or it may not be opened
        status = path.lstat()
        is_folder = stat.S_ISDIR(status.st_mode)
        if status.st_uid != os.geteuid() or not (is_folder or stat.S_ISREG(status.st_mode)):
            return
        descriptor = os.open(path, os.O_NOFOLLOW | (os.O_RDONLY if is_folder else os.O_RDWR))
        try:
            if _own(path, descriptor):
                _remove(path)
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    # shutil.rmtree is recursive before Python 3.13: deep folders exceed the recursion limit.
    subprocess.run(["rm", "-rf", "--", path], check=False)


def open_file(path: Path, remedy: str = "check the path") -> BinaryIO:
    """Opens a file; raises KneepointError, with a remedy, if it cannot be read.

    A pipe is refused: opening it would block until it has a writer.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise KneepointError(f"{path}: not a file; {remedy}")
        return path.open("rb")
    except OSError as error:
        raise KneepointError(f"{path}: {error.strerror}; {remedy}") from None


def read_bytes(path: Path, remedy: str = "check the path") -> bytes:
    """Returns a file's content; raises KneepointError, with a remedy, if it cannot be read."""
    with open_file(path, remedy) as file:
        return file.read()


def read_text(path: Path, max_bytes: int) -> str:
    """Returns the text of a user's file in UTF-8, with or without a byte order mark.

    Raises KneepointError if the file is missing, larger than `max_bytes`, or not UTF-8.
    """
    with open_file(path) as file:
        content = file.read(max_bytes + 1)
    if content.startswith(b"\x1f\x8b"):
        raise KneepointError(f"{path}: compressed by gzip; unpack it: gunzip")
    if len(content) > max_bytes:
        raise KneepointError(f"{path}: larger than {max_bytes} bytes; shorten it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise KneepointError(
            f"{path}, line {line}: not UTF-8 text; save the file as UTF-8"
        ) from None


def read_json(path: Path) -> Any:
    """Returns the content of a JSON file; raises OSError, or ValueError if it is not JSON."""
    return parse_json(path.read_bytes())


def require_folder(path: Path) -> None:
    """Raises KneepointError unless a folder, which need not exist yet, is writable."""
    with our_files():
        nearest = next(each for each in (path, *path.absolute().parents) if os.path.lexists(each))
        if not nearest.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(nearest))
        if not os.access(nearest, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(nearest))


def runtime_folder() -> Path:
    """Returns this user's folder for files that processes on this machine share; creates it.

    Only this user can write there. In /tmp another user could take the name first.
    """
    user = os.geteuid()
    session = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{user}"
    candidates = ["/run/kneepoint" if user == 0 else f"{session}/kneepoint"]
    candidates.append("~/.cache/kneepoint/run")
    for name in candidates:
        with suppress(OSError, RuntimeError):  # the parent or the home folder does not exist
            folder = Path(name).expanduser()
            folder.mkdir(0o711, parents=name.startswith("~"), exist_ok=True)
            status = folder.lstat()
            others_write = status.st_mode & 0o022
            if stat.S_ISDIR(status.st_mode) and status.st_uid == user and not others_write:
                # Regardless of the umask: processes of root's runs belong to an ordinary user.
                folder.chmod(0o711)
                return folder
    raise KneepointError(
        f"neither {' nor '.join(candidates)} can be a folder writable only by user {user}; "
        "set XDG_RUNTIME_DIR to a private folder"
    )


LOCK_PATIENCE_S = 5.0
"""The processes of a killed workflow end within this time."""


class LockHeldError(KneepointError):
    """Another living process holds a lock.

    Attributes:
        holder: the id of that process; "" if the process has not written it yet.
    """

    def __init__(self, message: str, holder: str) -> None:
        super().__init__(message)
        self.holder = holder


def hold_lock(path: Path, patience_s: float = 0) -> TextIO:
    """Takes an exclusive lock on the file `path` (created if absent) until the result is closed.

    The kernel releases the lock when its process ends, so that no lock is stale.

    Raises:
        LockHeldError: another living process still holds it after `patience_s`.
        KneepointError: the file is not writable.
    """
    with our_files():
        path.parent.mkdir(parents=True, exist_ok=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW  # never the target of a link
        file = os.fdopen(os.open(path, flags, 0o666), "a+")
    deadline_s = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() < deadline_s:
                time.sleep(0.05)
                continue
            file.seek(0)
            holder = file.read().strip()
            file.close()
            raise LockHeldError(
                f"{path}: process {holder} holds the lock; wait for it to finish or end it", holder
            ) from None
    with our_files(), writing(path):
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
    return file


def wait_for_lock(path: Path, work: str) -> TextIO:
    """Takes an exclusive lock (see hold_lock); prints a line if another process holds it."""
    try:
        return hold_lock(path)
    except LockHeldError as held:
        line = f"waiting for process {held.holder}, which {work}"
        print(line, file=sys.stderr, flush=True)
        return hold_lock(path, math.inf)


def is_held(path: Path) -> bool:
    """Returns whether a living process holds the lock on the file `path` (see hold_lock)."""
    try:
        hold_lock(path).close()
    except KneepointError:
        return True
    return False


def _sync_folder(folder: Path) -> None:
    """Makes a rename durable by syncing its folder."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

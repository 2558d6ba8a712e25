"""The folder of a run, with a subfolder that belongs to the ordinary user of its processes.

Root does not write into that subfolder and trusts nothing in it: its user may put links there.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kneepoint.common.files import private_folder
from kneepoint.engines.mahimahi.diagnosis import User

PUBLIC = Path("/tmp")  # noqa: S108 (its folders are private)
_MAX_BYTES = 1 << 20
"""Limit of a read; logs are read as streams instead."""


@dataclass(frozen=True)
class RunFolder:
    """A run's folder: only we can write to `path`, only the run's user can access `work`."""

    path: Path

    @property
    def work(self) -> Path:
        """The working directory of the run's processes."""
        return self.path / "work"

    def add(self, name: str, content: bytes, mode: int = 0o644) -> Path:
        """Writes a file that the run's user can read."""
        path = self.path / name
        with path.open("xb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
        return path

    def read(self, name: str) -> str:
        """Returns the content of a file, ours or, as work/NAME, the user's; empty if missing."""
        try:
            with self.open(name) as file:
                return file.read(_MAX_BYTES).decode(errors="replace")
        except FileNotFoundError:
            return ""

    def open(self, name: str) -> BinaryIO:
        """Opens a file for reading; raises OSError for a link, a pipe, or another user's file."""
        path = self.path / name
        owner = path.parent.lstat().st_uid
        # Opening a pipe would block until it has a writer.
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != owner:
            os.close(descriptor)
            raise OSError(errno.EPERM, "is not a plain file of the run's user", str(path))
        return os.fdopen(descriptor, "rb")

    def remove(self) -> None:
        """Removes the folder with its content; follows no links."""
        shutil.rmtree(self.path, ignore_errors=True)


@contextmanager
def run_folder(name: str, user: User | None) -> Iterator[RunFolder]:
    """Makes the folder of a run by `user`; None: by ourselves (see private_folder)."""
    # Root's own TMPDIR may be closed to that user.
    with private_folder(name, None if user is None else PUBLIC) as path:
        folder = RunFolder(path)
        folder.work.mkdir(0o700)
        if user is not None:
            os.chown(folder.work, *user)
            folder.path.chmod(0o711)
        yield folder

"""Network namespaces; they end with this process, and their devices with them."""

import ctypes
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from kneepoint.common.errors import KneepointError

_CLONE_NEWNET = 0x40000000  # linux/sched.h
_OWN = "/proc/thread-self/ns/net"
_libc = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """A network namespace, held by an open file.

    A thread is in one namespace at a time; processes and sockets that it creates belong to it.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def current(cls) -> Self:
        """Returns this thread's namespace."""
        return cls(os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC))

    @classmethod
    def make(cls) -> Self:
        """Makes a namespace; raises OSError if this process may not."""
        with cls.current().entered():
            _check(_libc.unshare(_CLONE_NEWNET))
            return cls.current()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Moves this thread into the namespace until the end of the context."""
        before = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _check(_libc.setns(self.descriptor, _CLONE_NEWNET))
            yield
        finally:
            _check(_libc.setns(before, _CLONE_NEWNET))
            os.close(before)

    def run(self, *command: str, passing: Sequence[int] = ()) -> None:
        """Runs a command in the namespace; raises KneepointError, which quotes it, if it fails."""
        pipe = subprocess.PIPE
        with self.start(command, stdout=pipe, stderr=pipe, pass_fds=passing) as process:
            output, errors = process.communicate()
        if process.returncode != 0:
            lines = (errors + output).decode().strip().splitlines()
            reason = lines[0] if lines else f"exit status {process.returncode}"
            raise KneepointError(f"`{' '.join(command)}` failed: {reason}")

    def start(self, command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
        """Starts a command in the namespace, in English; see subprocess.Popen for the options."""
        with self.entered():
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
                **options,
            )

    def write_setting(self, name: str, value: str) -> None:
        """Sets a sysctl(8) of the namespace by dotted name; raises KneepointError on failure."""
        with self.entered():
            try:
                Path("/proc/sys", name.replace(".", "/")).write_text(value)
            except OSError as error:
                raise KneepointError(
                    f"{name} cannot be set ({error.strerror}); /proc/sys may be read-only here: "
                    "in a container run with --privileged"
                ) from None


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

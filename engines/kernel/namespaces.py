"""Network namespaces that exist only as long as this process holds them."""

import ctypes
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from common.errors import KneepointError

_CLONE_NEWNET = 0x40000000  # linux/sched.h
_OWN = "/proc/thread-self/ns/net"
_libc = ctypes.CDLL(None, use_errno=True)


class Namespace:
    """A network namespace, held by an open file.

    A thread is in one at a time, as are the processes and sockets that it creates.
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def here(cls) -> Self:
        """Returns the one that this thread is in."""
        return cls(os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC))

    @classmethod
    def make(cls) -> Self:
        """Makes one.

        Raises:
            OSError: this process may not.
        """
        before = cls.here()
        try:
            _check(_libc.unshare(_CLONE_NEWNET))
            made = cls.here()
            before._enter()
        finally:
            before.close()
        return made

    def close(self) -> None:
        """Releases it; it ends, with all its devices, when no process is in it."""
        os.close(self.descriptor)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Puts this thread, and what it creates meanwhile, into the namespace."""
        before = Namespace.here()
        try:
            self._enter()
            yield
        finally:
            before._enter()
            before.close()

    def run(self, *command: str, passing: Sequence[int] = ()) -> None:
        """Runs a command in it.

        Raises:
            KneepointError: it fails; the message quotes it.
        """
        with self.entered():
            result = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                pass_fds=passing,
                env={**os.environ, "LC_ALL": "C"},
                check=False,
            )
        if result.returncode != 0:
            said = (result.stderr + result.stdout).strip().splitlines()[:1]
            reason = said[0] if said else f"exit status {result.returncode}"
            raise KneepointError(f"`{' '.join(command)}` failed: {reason}")

    def start(self, command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
        """Starts a command in it, in English; see subprocess.Popen for the options."""
        with self.entered():
            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                env={**os.environ, "LC_ALL": "C"},
                **options,
            )

    def write_setting(self, name: str, value: str) -> None:
        """Sets a sysctl(8) of the namespace: NAME with dots.

        Raises:
            KneepointError: it cannot be set.
        """
        with self.entered():
            try:
                with open(f"/proc/sys/{name.replace('.', '/')}", "w") as file:  # noqa: PTH123
                    file.write(value)
            except OSError as error:
                raise KneepointError(
                    f"{name} cannot be set ({error.strerror}); /proc/sys may be read-only here: "
                    "in a container run with --privileged"
                ) from None

    def _enter(self) -> None:
        _check(_libc.setns(self.descriptor, _CLONE_NEWNET))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))

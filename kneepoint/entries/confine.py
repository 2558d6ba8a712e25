"""Runs programs for entries in a sandbox, with limited resources and access to files."""

import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from kneepoint.common.errors import KneepointError, MachineError
from kneepoint.entries.untrusted import is_fault

_SYSTEM = ("/usr/bin", "/usr/lib", "/usr/libexec", "/lib", "/lib64", "/bin")
"""Programs and their libraries; not /usr/share, which has mahimahi's traces."""
_READ = ("/usr/include", "/usr/local/include", "/etc/ld.so.cache", "/etc/alternatives")
MAX_CPU_S = 120
_MAX_WALL_S = 240
_MAX_OUTPUT = 2**18
_KILLED = re.compile(
    r"confine: stopped: (ended by signal (1|2|9|15|24)|asked to stop"
    r"|more than \d+ s(?: for \d+ s of CPU time)?)$"
    r"|^[\w+.-]+: fatal error: (Killed|Terminated|Hangup|Interrupt) signal terminated program"
    r"|^[\w+.-]+: error: unable to execute command: (Killed|Terminated|Hangup|Interrupt)",
    re.MULTILINE,
)
"""Messages about a program that was ended by a signal from outside, not by its limits of CPU time,
size or memory."""


class DisturbedError(KneepointError):
    """The machine ended a program that was neither faulty nor beyond its limits."""


@dataclass(frozen=True)
class CommandResult:
    """The result of a command: exit status, output up to a limit, CPU time of all processes (s)."""

    returncode: int
    stdout: str
    stderr: str
    cpu_s: float

    @property
    def killed_for(self) -> str:
        """The cause outside the command that ended it, such as a lack of memory; "" without any."""
        if self.returncode < 0:
            return f"signal {-self.returncode}"
        found = _KILLED.search(self.stderr) if self.returncode else None
        return found[0].removeprefix("confine: stopped: ") if found else ""


@dataclass(frozen=True)
class Confined:
    """Runs commands by `program`, build/confine; None: unconfined, for trusted entries."""

    program: Path | None

    def run(
        self,
        command: Sequence[str | Path],
        folder: Path,
        read: Sequence[Path] = (),
        write: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
        cpu_s: int = MAX_CPU_S,
        runs: Sequence[Path] = (),
        stdin: IO[bytes] | int = subprocess.DEVNULL,
    ) -> CommandResult:
        """Runs a command in a folder; bytes of its output that are not UTF-8 are replaced.

        Args:
            command: the program and its arguments.
            folder: the command's current folder.
            read: files and folders that it may read, besides the system's.
            write: folders to which it may write.
            environment: its environment, besides PATH and LC_ALL.
            cpu_s: limit of CPU time of each process (s).
            runs: files and folders that it may execute, besides the system's.
            stdin: its standard input.
        """
        words = [str(word) for word in command]
        if self.program is not None:
            words = [*self._prefix(read, write, runs, cpu_s), *words]
        with TemporaryFile() as output, TemporaryFile() as errors:
            try:
                process = subprocess.Popen(
                    words,
                    cwd=folder,
                    stdin=stdin,
                    stdout=output,
                    stderr=errors,
                    env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", **(environment or {})},
                )
            except OSError as error:
                if is_fault(error):
                    raise
                raise MachineError(f"{words[0]}: {error.strerror}; build it: make build") from None
            # `confine` has a time limit of its own, and counts the CPU time of all descendants.
            cpu_s_used = _wait(process, _MAX_WALL_S if self.program is None else None)
            return CommandResult(process.returncode, _text_of(output), _text_of(errors), cpu_s_used)

    def check(self) -> None:
        """Tests the sandbox; warns on stderr if this host could isolate entries better.

        Raises:
            KneepointError: commands must be confined, but this host cannot confine them.
        """
        if self.program is None:
            return
        answer = self.run(["true"], Path("/"))
        if answer.returncode != 0:
            problem = answer.stderr.strip().removeprefix("error: ")
            raise KneepointError(
                f"entries cannot be confined on this host ({problem}); use another host, or, if "
                "you trust all of them, --trust-entries"
            )
        command = [str(self.program), "--isolation"]
        isolation = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        if ":" in isolation:
            print(
                f"entries are confined by {isolation.strip()}; for namespaces beside them, allow "
                "users to create these (sysctl user.max_user_namespaces, "
                "kernel.apparmor_restrict_unprivileged_userns)",
                file=sys.stderr,
            )

    def _prefix(
        self, read: Sequence[Path], write: Sequence[Path], runs: Sequence[Path], cpu_s: int
    ) -> list[str]:
        assert self.program is not None
        return [
            str(self.program),
            *("--read", *filter(os.path.exists, _READ), *(str(path.resolve()) for path in read)),
            *(("--write", *(str(path.resolve()) for path in write)) if write else ()),
            *("--run", *filter(os.path.exists, _SYSTEM), *(str(path.resolve()) for path in runs)),
            *("--cpu-s", str(cpu_s), "--memory-mb", "2048", "--processes", "64"),
            *("--file-mb", "256", "--wall-s", str(_MAX_WALL_S)),
            *("--no-network", "--end-with-parent", "--"),
        ]


def _wait(process: "subprocess.Popen[bytes]", max_s: float | None) -> float:
    """Waits for a process, killed after `max_s` (None: no limit); returns its CPU time (s)."""
    ended = select.poll()
    descriptor = os.pidfd_open(process.pid)
    try:
        ended.register(descriptor, select.POLLIN)
        if not ended.poll(None if max_s is None else max_s * 1000):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    finally:
        os.close(descriptor)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def _text_of(file: IO[bytes]) -> str:
    """Returns a program's output; of a long output, the beginning and the end."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    content = file.read(_MAX_OUTPUT)
    if size > _MAX_OUTPUT:
        file.seek(max(_MAX_OUTPUT, size - 1000))
        content += b"\n" + file.read()
    return content.decode(errors="replace")

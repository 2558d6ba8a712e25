"""Runs programs on behalf of entries: under limits, in a sandbox, with files of their own."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from common.errors import KneepointError

_SYSTEM = tuple(
    Path(each)
    for each in ("/usr/bin", "/usr/lib", "/usr/libexec", "/lib", "/lib64", "/bin")
    if Path(each).exists()
)
"""Programs and their libraries. Not /usr/share: mahimahi's traces are there."""
_READ = tuple(
    Path(each)
    for each in ("/usr/include", "/usr/local/include", "/etc/ld.so.cache", "/etc/alternatives")
    if Path(each).exists()
)


@dataclass(frozen=True)
class Limits:
    """What a program may use."""

    cpu_s: int = 120
    memory_mb: int = 2048
    processes: int = 64
    file_mb: int = 256
    wall_s: int = 240


@dataclass(frozen=True)
class Confined:
    """Runs commands.

    Args:
        program: `build/confine`; None: without a sandbox, for entries that are trusted.
        limits: of each command.
    """

    program: Path | None
    limits: Limits = field(default_factory=Limits)

    def run(
        self,
        command: Sequence[str | Path],
        folder: Path,
        read: Sequence[Path] = (),
        write: Sequence[Path] = (),
        environment: Mapping[str, str] | None = None,
    ) -> "subprocess.CompletedProcess[str]":
        """Runs a command in a folder; output that is no UTF-8 is replaced.

        Args:
            command: the program and its arguments.
            folder: the command's current folder.
            read: files and folders that it may read, beside the system's.
            write: folders that it may write to.
            environment: all that the command gets besides PATH.
        """
        words = [str(word) for word in command]
        if self.program is not None:
            words = [*self._prefix(read, write), *words]
        try:
            return subprocess.run(
                words,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=self.limits.wall_s + 30,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", **(environment or {})},
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 1, "", "error: timed out")
        except OSError as error:
            raise KneepointError(f"{words[0]}: {error.strerror}; build it: make build") from None

    def check(self) -> None:
        """Raises KneepointError if commands must be confined but this host cannot do so."""
        if self.program is not None:
            answer = self.run(["true"], Path("/"))
            if answer.returncode != 0:
                said = answer.stderr.strip().removeprefix("error: ")
                raise KneepointError(
                    f"entries cannot be confined on this host ({said}); use another host, or, if "
                    "you trust all of them, --trust-entries"
                )

    def _prefix(self, read: Sequence[Path], write: Sequence[Path]) -> list[str]:
        assert self.program is not None
        limits = self.limits
        return [
            str(self.program),
            *("--read", *map(str, (*_READ, *(path.resolve() for path in read)))),
            *(("--write", *(str(path.resolve()) for path in write)) if write else ()),
            *("--run", *map(str, _SYSTEM)),
            *("--cpu-s", str(limits.cpu_s), "--memory-mb", str(limits.memory_mb)),
            *("--processes", str(limits.processes), "--file-mb", str(limits.file_mb)),
            *("--wall-s", str(limits.wall_s), "--no-network", "--"),
        ]


def environment_of(folder: Path) -> dict[str, str]:
    """Returns an environment in which programs keep their temporary files in a folder."""
    place = os.fspath(folder)
    return {"TMPDIR": place, "HOME": place, "SOURCE_DATE_EPOCH": "0"}

"""A contest entry: a complete sender, built into one shared object or a Python file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PYTHON_RUNNER = ("python_entry.so", "python_entry_real.so", "python_sender.py")
"""Programs that run entries in Python, in virtual and in real time, and the sender's loop."""


@dataclass(frozen=True)
class Entry:
    """A sender that runs in place of a controller.

    Args:
        name: its name in results; not part of a run's identity.
        object: path of the shared object, or of the Python file.
        sha256: digest of the object.
        arguments: the sender's arguments after host and port.
        environment: the sender's whole environment.
        dialect: format of its datagrams; "": the kit's since 2014.
        clock_epoch_ms: offset that its clocks subtract from the date (ms since 1970); None: its
            clocks begin at 0.
        runner_sha256: digest of the program that runs it.
        is_trusted: whether it runs without a sandbox, for hosts without one.
        cpu_s: limit of CPU time in virtual time (s); None: by the run's duration.
        files: digests, by name, of files beside the object that it may read in virtual time.
    """

    name: str
    object: Path
    sha256: str
    arguments: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    dialect: str = ""
    clock_epoch_ms: int | None = None
    runner_sha256: str = ""
    is_trusted: bool = False
    cpu_s: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)

    def in_flow(self) -> dict[str, Any]:
        """Returns the scenario's keys that identify the entry, without its path."""
        entry: dict[str, Any] = {"sha256": self.sha256}
        if self.arguments:
            entry["arguments"] = list(self.arguments)
        if self.environment:
            entry["environment"] = dict(self.environment)
        if self.dialect:
            entry["dialect"] = self.dialect
        if self.clock_epoch_ms:
            entry["clock_epoch_ms"] = self.clock_epoch_ms
        if self.files:
            entry["files"] = dict(self.files)
        if self.cpu_s:
            entry["cpu_s"] = self.cpu_s
        return entry

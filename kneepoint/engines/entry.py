"""A contest entry: somebody else's whole sender, built into one shared object."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PYTHON_RUNNER = ("python_entry.so", "python_entry_real.so", "python_sender.py")
"""Programs that run entries in Python, in virtual and in real time, and their sender's loop."""


@dataclass(frozen=True)
class Entry:
    """What runs in place of a controller.

    Args:
        name: what results call it; no part of a run's identity.
        object: the shared object, or the file of a class in Python.
        sha256: its digest.
        arguments: of the sender, after host and port.
        environment: of the sender, which sees nothing else of ours.
        dialect: the format of its datagrams; "": the kit's since 2014.
        clock_epoch_ms: what its kit's clocks subtract from the date; None: they begin at 0.
        runner_sha256: digest of the program that runs it.
        is_trusted: runs without a sandbox, on hosts that have none.
        cpu_s: CPU time that it may use in virtual time (s); None: by the run's duration.
        files: digests of files that it may read in virtual time, by name; beside the object.
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
        """Returns the entry as a scenario's flow has it, without its path, which is no identity."""
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

"""The virtual-time emulator: one persistent `emulate --batch` process, restarted if it dies."""

import contextlib
import select
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import parse_json
from kneepoint.engines.base import (
    EngineSettings,
    MachineFaultError,
    RunRecord,
    RunSpec,
    canonical_json,
    controller_file,
    digest_of,
    require_answered,
)
from kneepoint.engines.limits import EMULATOR

# Signals of a crash; any other signal comes from outside.
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGBUS)

_BINARY = "emulate"
"""The emulator's path in a copy of its files; it looks for controllers/ next to itself."""


def request_of(
    spec: RunSpec, keep_log: Path | None = None, keep_flow_log: Path | None = None
) -> bytes:
    """Returns the line that requests a run of `emulate --batch`."""
    request: dict[str, Any] = {"scenario": spec.scenario(), "flows": spec.traffic.measures_flows}
    if keep_log:
        request["uplink_log"] = str(keep_log)
    if keep_flow_log:
        request["flow_log"] = str(keep_flow_log)
    return canonical_json(request).encode() + b"\n"


@dataclass(frozen=True)
class EmulatorSettings(EngineSettings):
    """Settings of an emulator, on this or another machine.

    Args:
        sha256: digest of the binary at the start of the study; runs of another binary are not
            comparable.
        binary: path of the emulator.
        folder: folder to which paths of traces are relative.
        idle_limit_s: a process with a run that uses no CPU for this time (s) is stuck. There is no
            limit while it computes: the emulator itself detects controllers that hang.
        keep_log: file for the link's log; None: no log.
        keep_flow_log: file for the senders' log; None: no log.
    """

    limits = EMULATOR
    binary: Path
    folder: Path
    idle_limit_s: float = 60
    keep_log: Path | None = None
    keep_flow_log: Path | None = None

    @classmethod
    def of(cls, binary: Path) -> Self:
        """Settings of the current binary in the current folder."""
        return cls(digest_of(binary), binary.resolve(), Path.cwd())

    def keeping(self, log: Path, flow_log: Path | None = None) -> Self:
        """Returns these settings with logs."""
        return replace(self, keep_log=log, keep_flow_log=flow_log)

    def files_of(self, specs: Sequence[RunSpec]) -> dict[str, tuple[Path, str]]:
        """Returns the emulator, the controllers and the traces."""
        files = {_BINARY: (self.binary, self.sha256)}
        for spec in specs:
            scenario = spec.scenario()
            for flow in scenario["flows"]:
                name = flow["controller"]
                there = controller_file(name, self.binary.parent, self.folder)
                files[f"controllers/{name}.so"] = there, flow["controller_sha256"]
            for link in (scenario["uplink"], scenario["downlink"]):
                if "trace" in link:
                    files[link["trace"]] = self.folder / link["trace"], link["trace_sha256"]
        return files

    def moved(self, folder: Path) -> Self:
        """Returns these settings for a copy of the files."""
        return replace(self, binary=folder / _BINARY, folder=folder)

    def open(self) -> "EmulatorEngine":
        """Makes the engine."""
        return EmulatorEngine(self)


class EmulatorEngine:
    """Runs on `emulate --batch`."""

    def __init__(self, settings: EmulatorSettings) -> None:
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, spec: RunSpec) -> RunRecord:
        """Executes one run (see Engine)."""
        line = request_of(spec, self._settings.keep_log, self._settings.keep_flow_log)
        process = self._process or self._start()
        try:
            assert process.stdin is not None
            process.stdin.write(line)
            process.stdin.flush()
            answer = self._read_line(process)
        except BrokenPipeError:
            raise self._died(process) from None
        return self._record(spec, answer)

    def stop(self) -> None:
        """Kills the process, which ends the wait of a thread in `run`."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            process, self._process = self._process, None
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):  # its pending input has no reader
                        stream.close()

    def _start(self) -> "subprocess.Popen[bytes]":
        binary = self._settings.binary
        self._settings.require_unchanged(digest_of(binary), binary)
        try:
            self._process = subprocess.Popen(
                [binary, "--batch"],
                cwd=self._settings.folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise KneepointError(
                f"{binary}: {error.strerror}; build it again: make build"
            ) from None
        return self._process

    def _read_line(self, process: "subprocess.Popen[bytes]") -> bytes:
        assert process.stdout is not None
        limit_s = self._settings.idle_limit_s
        _, before_ticks = _activity_of(process.pid)
        while not select.select([process.stdout], [], [], limit_s)[0]:
            is_runnable, ticks = _activity_of(process.pid)
            if not is_runnable and ticks == before_ticks:
                self.close()
                reason = f"the emulator used no CPU for {limit_s:g} s; was it stopped?"
                raise MachineFaultError(reason)
            before_ticks = ticks
        line = process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._died(process)
        return line

    def _record(self, spec: RunSpec, line: bytes) -> RunRecord:
        try:
            answer: dict[str, Any] = parse_json(line)
            status = answer["status"]
        except (ValueError, KeyError, TypeError):
            self.close()
            text = line[:80].decode(errors="replace").strip()
            raise MachineFaultError(f"the emulator answered {text!r}") from None
        if status in ("failed", "fault"):
            self.close()  # the process may have ended; the next run gets a fresh one
        if status == "error" and spec.entry is not None:
            answer["status"] = "failed"  # it must not end the runs of other entries
        require_answered(answer, f"{self._settings.binary}: refused a run of {spec.controller}")
        return RunRecord.measured(spec, answer)

    def _died(self, process: "subprocess.Popen[bytes]") -> MachineFaultError:
        code = process.wait()
        self.close()
        if code >= 0:
            return MachineFaultError(f"the emulator ended with exit status {code}")
        name = signal.Signals(-code).name
        return MachineFaultError(f"crashed: {name}", blames_controller=-code in _CRASHES)


def _activity_of(process_id: int) -> tuple[bool, int]:
    """Returns whether a process runs or waits for a processor, and its CPU time in ticks."""
    try:
        fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return True, 0  # it has ended; the end of its output gives the reason
    return fields[0] == "R", int(fields[11]) + int(fields[12])

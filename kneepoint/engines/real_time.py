"""The common part of engines in real time: one supervisor per run, repeats on a busy host."""

import contextlib
import hashlib
import json
import os
import select
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from kneepoint.common.json_text import parse_json
from kneepoint.common.places import PACKAGE
from kneepoint.common.project import python_path
from kneepoint.engines.base import (
    EngineSettings,
    MachineFaultError,
    RunRecord,
    RunSpec,
    digest_of,
    require_answered,
)
from kneepoint.engines.supervision import START_AND_END_S

_ATTEMPTS = 3
"""Attempts at a run on a busy host."""

Settings = TypeVar("Settings", bound=EngineSettings)


def digest_of_programs(programs: Iterable[Path], text: str = "") -> str:
    """Returns a digest of programs and a text; raises KneepointError if a program is missing."""
    digest = hashlib.sha256(text.encode())
    for program in programs:
        digest.update(bytes.fromhex(digest_of(program)))
    return digest.hexdigest()


class RealTimeEngine(ABC, Generic[Settings]):
    """Runs in real time, one after the other, each under a supervisor (see `supervision`)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def run(self, spec: RunSpec) -> RunRecord:
        """Executes one run (see Engine), and repeats it if the host was too busy.

        The record's reason then lists the earlier attempts.
        """
        spoilt: list[str] = []
        for _ in range(_ATTEMPTS):
            try:
                record = RunRecord.measured(spec, self.answer_to(spec))
            except OSError as error:
                reason = f"{error.filename or 'the run'}: {error.strerror}"
                raise MachineFaultError(reason) from None
            if not self._settings.spoils(record):
                tries = "earlier try" if len(spoilt) == 1 else "earlier tries"
                earlier = _busy(spoilt, tries) if spoilt else ""
                return replace(record, reason=record.reason or earlier)
            spoilt.append(f"{(record.scheduling_delay_p99_us or 0) / 1000:.1f}")
        remedy = "use fewer slots or reduce other load"
        raise MachineFaultError(f"{_busy(spoilt, 'tries')}; {remedy}", is_final=True)

    @abstractmethod
    def answer_to(self, spec: RunSpec) -> dict[str, Any]:
        """Executes one run once and returns the answer, whose status is ok or failed."""

    def supervise(
        self,
        module: str,
        request: Mapping[str, Any],
        expected_s: float,
        *,
        where: str,
        folder: Path = PACKAGE.parent,
        before: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Returns a supervisor's answer, whose status is ok or failed.

        Args:
            module: the supervisor.
            request: its request.
            expected_s: expected duration of the run.
            where: the run, for messages.
            folder: the supervisor's working directory.
            before: a command that starts it.

        Raises:
            OSError: it cannot be started.
            MachineFaultError: it was stopped, does not answer in time, or answers with a fault.
            KneepointError: it answers that the run cannot be executed.
        """
        supervisor = self._supervisor = subprocess.Popen(
            [*before, sys.executable, "-m", module],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": python_path()},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            if self._is_stopped:
                raise MachineFaultError("the run was stopped")
            answer = _ask(supervisor, request, expected_s + 2 * START_AND_END_S)
        finally:
            self.close()
        require_answered(answer, where)
        return answer

    def stop(self) -> None:
        """Tells the supervisor to end its run, which ends the wait of a thread in `run`."""
        self._is_stopped = True
        supervisor = self._supervisor
        if supervisor is not None and supervisor.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                supervisor.stdin.close()

    def close(self) -> None:
        """Ends the current run, if any, by closing the supervisor's input."""
        supervisor, self._supervisor = self._supervisor, None
        if supervisor is None:
            return
        for stream in (supervisor.stdin, supervisor.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        try:
            supervisor.wait(START_AND_END_S)
        except subprocess.TimeoutExpired:
            supervisor.kill()
            supervisor.wait()


def _ask(
    supervisor: "subprocess.Popen[bytes]", request: Mapping[str, Any], limit_s: float
) -> dict[str, Any]:
    """Returns the supervisor's answer. Its input stays open: closing it would end the run."""
    assert supervisor.stdin is not None and supervisor.stdout is not None
    try:
        supervisor.stdin.write(f"{json.dumps(request)}\n".encode())
        supervisor.stdin.flush()
    except (BrokenPipeError, ValueError):  # the supervisor ended, or `stop` closed its input
        raise MachineFaultError("the run's supervisor did not start") from None
    if not select.select([supervisor.stdout], [], [], limit_s)[0]:
        raise MachineFaultError(f"the run's supervisor did not answer within {limit_s:g} s")
    line = supervisor.stdout.readline()
    try:
        answer: dict[str, Any] = parse_json(line)
    except ValueError:
        raise MachineFaultError("the run's supervisor was killed") from None
    return answer


def _busy(delays_ms: list[str], tries: str) -> str:
    delays = ", ".join(delays_ms)
    return f"the host was too busy in {len(delays_ms)} {tries} (scheduling delay {delays} ms)"

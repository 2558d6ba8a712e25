"""Common parts of the supervisors of real runs, and their protocol with an engine.

A supervisor is a process that reads a request, one line of JSON, carries it out and prints the
answer, another line. It ends its run when its standard input closes, which happens however its
starter ends.
"""

import contextlib
import json
import os
import select
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from common.code import ROOT
from common.errors import KneepointError
from engines.base import MachineFaultError

START_AND_END_S = 30.0
"""Time limit of a run beyond its duration (s)."""
_STOP_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)


class RunEndedError(Exception):
    """The run ended early; the text says why.

    Args:
        reason: what happened.
        status: that the engine reports: failed if the controller is at fault.
    """

    def __init__(self, reason: str, status: str = "fault") -> None:
        super().__init__(reason)
        self.status = status


class StopWatch:
    """Watches for signals to stop, and for the end of the standard input, which carries no data."""

    def __init__(self) -> None:
        self._stopped = False
        self._input = selectors.DefaultSelector()
        self._input.register(sys.stdin, selectors.EVENT_READ)
        for number in _STOP_SIGNALS:
            signal.signal(number, self._stop)

    def __call__(self) -> bool:
        """Whether the run must end now."""
        if not self._stopped and self._input.select(0):
            self._stopped = not os.read(sys.stdin.fileno(), 1)
        return self._stopped

    def _stop(self, *_: object) -> None:
        self._stopped = True


class SupervisedRuns:
    """An engine's side: starts a supervisor for each run, one after the other.

    Another thread may stop the current run.
    """

    def __init__(self) -> None:
        self._supervisor: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def carry_out(
        self,
        command: Sequence[str],
        request: Mapping[str, Any],
        limit_s: float,
        *,
        where: str,
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Returns the supervisor's answer, whose status is ok or failed.

        Args:
            command: starts the supervisor.
            request: its request.
            limit_s: time limit.
            where: the run, for messages.
            folder: its working directory.
            environment: variables besides this process's own and the modules' path.

        Raises:
            MachineFaultError: it cannot be started, was stopped, does not answer in time, or
                answers with a fault.
            KneepointError: it answers that the run cannot be carried out.
        """
        try:
            self._supervisor = subprocess.Popen(
                command,
                cwd=folder,
                env={**os.environ, **(environment or {}), "PYTHONPATH": str(ROOT)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise MachineFaultError(f"{command[0]}: {error.strerror}") from None
        try:
            if self._is_stopped:
                raise MachineFaultError("the run was stopped")
            answer = _ask(self._supervisor, request, limit_s)
        finally:
            self.close()
        if answer["status"] == "fault":
            raise MachineFaultError(answer["reason"])
        if answer["status"] == "error":
            raise KneepointError(f"{where}: {answer['reason']}")
        return answer

    def stop(self) -> None:
        """Tells the supervisor to end its run; the thread that waits for it notices."""
        self._is_stopped = True
        supervisor = self._supervisor
        if supervisor is not None and supervisor.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                supervisor.stdin.close()

    def close(self) -> None:
        """Ends the current run, if there is one."""
        if self._supervisor is not None:
            _finish(self._supervisor)
            self._supervisor = None


def serve(carry_out: Callable[[dict[str, Any], StopWatch], Mapping[str, Any]]) -> None:
    """A supervisor's side: reads and executes the request, and prints the answer."""
    request = json.loads(sys.stdin.readline())
    try:
        answer = {"status": "ok", **carry_out(request, StopWatch())}
    except RunEndedError as error:
        answer = {"status": error.status, "reason": str(error)}
    except KneepointError as error:
        answer = {"status": "error", "reason": str(error)}
    except OSError as error:
        answer = {"status": "fault", "reason": f"{error.filename or 'the run'}: {error.strerror}"}
    with contextlib.suppress(BrokenPipeError):  # our starter was killed
        print(json.dumps(answer), flush=True)


def _ask(
    supervisor: "subprocess.Popen[bytes]", request: Mapping[str, Any], limit_s: float
) -> dict[str, Any]:
    """Returns the supervisor's answer. Its input stays open: when that closes, it ends the run."""
    assert supervisor.stdin is not None and supervisor.stdout is not None
    try:
        supervisor.stdin.write(f"{json.dumps(request)}\n".encode())
        supervisor.stdin.flush()
    except (BrokenPipeError, ValueError):  # it ended, or was told to stop
        raise MachineFaultError("the run's supervisor did not start") from None
    if not select.select([supervisor.stdout], [], [], limit_s)[0]:
        raise MachineFaultError(f"the run's supervisor did not answer within {limit_s:g} s")
    line = supervisor.stdout.readline()
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError:
        raise MachineFaultError("the run's supervisor was killed") from None
    return answer


def _finish(supervisor: "subprocess.Popen[bytes]") -> None:
    """Closes the supervisor's input, on which it ends its run, and waits for it."""
    for stream in (supervisor.stdin, supervisor.stdout):
        if stream is not None:
            with contextlib.suppress(BrokenPipeError):
                stream.close()
    try:
        supervisor.wait(START_AND_END_S)
    except subprocess.TimeoutExpired:
        supervisor.send_signal(signal.SIGKILL)
        supervisor.wait()

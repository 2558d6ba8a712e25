"""What supervisors of real runs have in common, and how an engine talks to one.

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
from collections.abc import Mapping
from typing import Any

from engines.base import MachineFaultError

START_AND_END_S = 30.0
"""Time limit of a run beyond its duration (s)."""
_STOP_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)


class RunEndedError(Exception):
    """The run is over before its end; the text says why.

    Args:
        reason: what happened.
        status: whose doing it was, as the engine reports it: failed is the controller's.
    """

    def __init__(self, reason: str, status: str = "fault") -> None:
        super().__init__(reason)
        self.status = status


class StopWatch:
    """Sees signals that ask to stop, and the end of the standard input, on which nothing comes."""

    def __init__(self) -> None:
        self._stopped = False
        self._input = selectors.DefaultSelector()
        self._input.register(sys.stdin, selectors.EVENT_READ)
        for number in _STOP_SIGNALS:
            signal.signal(number, self._stop)

    def __call__(self) -> bool:
        """Whether the run is to end now."""
        if not self._stopped and self._input.select(0):
            self._stopped = not os.read(sys.stdin.fileno(), 1)
        return self._stopped

    def _stop(self, *_: object) -> None:
        self._stopped = True


def ask(
    supervisor: "subprocess.Popen[bytes]", request: Mapping[str, Any], limit_s: float
) -> dict[str, Any]:
    """Returns the supervisor's answer. Its input stays open: when that closes, it ends the run.

    Raises:
        MachineFaultError: it does not answer within the limit.
    """
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


def finish(supervisor: "subprocess.Popen[bytes]") -> None:
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

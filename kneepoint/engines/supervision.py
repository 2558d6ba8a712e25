"""The supervisors' side of the protocol between real runs and their engine (`real_time`).

A supervisor is a process that reads a request, one line of JSON, executes it and prints the answer,
another line. It ends its run when its standard input closes, which happens whenever the engine
ends.
"""

import contextlib
import json
import os
import selectors
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import parse_json

START_AND_END_S = 30.0
"""Time allowed for a run besides its duration (s)."""
_STOP_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)


class RunEndedError(Exception):
    """The run ended early; the text says why.

    Args:
        reason: the cause.
        status: status of the answer: `failed` if the controller is at fault.
    """

    def __init__(self, reason: str, status: str = "fault") -> None:
        super().__init__(reason)
        self.status = status


class StopListener:
    """Watches for signals to stop, and for the end of the standard input, which carries no data."""

    def __init__(self) -> None:
        self._stopped = False
        self._input = selectors.DefaultSelector()
        self._input.register(sys.stdin, selectors.EVENT_READ)
        for number in _STOP_SIGNALS:
            signal.signal(number, self._stop)

    def check(self) -> None:
        """Raises RunEndedError if the run must end now."""
        if self._input.select(0):
            self._stopped = self._stopped or not os.read(sys.stdin.fileno(), 1)
        if self._stopped:
            raise RunEndedError("the run was stopped")

    def wait(
        self,
        holds: Callable[[], bool],
        limit_s: float,
        late: str,
        check: Callable[[], None] = lambda: None,
        poll_s: float = 0.01,
    ) -> None:
        """Waits for a condition, polling every `poll_s`.

        Args:
            holds: the condition.
            limit_s: time limit (s).
            late: text of the RunEndedError after the time limit.
            check: called at each poll; raises RunEndedError to end the wait.
            poll_s: polling interval (s).

        Raises:
            RunEndedError: the time limit has passed, or the run must end.
        """
        deadline_s = time.monotonic() + limit_s
        while not holds():
            if time.monotonic() > deadline_s:
                raise RunEndedError(late)
            self.check()
            check()
            time.sleep(poll_s)

    def _stop(self, *_: object) -> None:
        self._stopped = True


def serve(carry_out: Callable[[dict[str, Any], StopListener], Mapping[str, Any]]) -> None:
    """Reads a request, executes it by `carry_out`, and prints the answer."""
    request = parse_json(sys.stdin.readline())
    try:
        answer = {"status": "ok", **carry_out(request, StopListener())}
    except RunEndedError as error:
        answer = {"status": error.status, "reason": str(error)}
    except KneepointError as error:
        answer = {"status": "error", "reason": str(error)}
    except OSError as error:
        answer = {"status": "fault", "reason": f"{error.filename or 'the run'}: {error.strerror}"}
    with contextlib.suppress(BrokenPipeError):  # the engine was killed
        print(json.dumps(answer), flush=True)

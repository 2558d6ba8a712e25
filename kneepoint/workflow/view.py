"""The view of a running workflow: redrawn in place on a terminal, or printed at intervals."""

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TextIO

from kneepoint.workflow.states import State, failure_of, summary_of, table_of

_INTERVAL_S = 10.0
"""The minimum time between two states in a log (s)."""


class Live:
    """A view of running experiments, redrawn in place."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console  # not needed in a log
        from rich.live import Live as RichLive

        console = Console(file=stream)
        self._live = RichLive(console=console, auto_refresh=False, vertical_overflow="ellipsis")
        self._live.start()

    def close(self) -> None:
        """Leaves the last state on screen."""
        self._live.stop()

    def show(self, states: Sequence[State], steps: str) -> None:
        """Draws the running experiments and a summary."""
        from rich.text import Text

        text = Text(_text(states, steps), no_wrap=True, overflow="ellipsis")
        self._live.update(text, refresh=True)


class Lines:
    """A view with lines for experiments that end, and at intervals for running experiments."""

    def __init__(self, stream: TextIO, now_s: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._now_s = now_s
        self._next_s = now_s() + _INTERVAL_S
        self._done: set[str] | None = None
        self._text = ""
        self._printed = ""  # the last text that was printed
        self._reasons: set[tuple[str, str]] = set()  # for which runs failed, by experiment

    def close(self) -> None:
        """Prints the last state, unless no other was printed before."""
        if self._printed and self._printed != self._text:
            self._print(self._text)

    def show(self, states: Sequence[State], steps: str) -> None:
        """Prints changes since the last call."""
        done = {each.name for each in states if each.state == "done"}
        for state in states:
            if self._done is not None and state.name in done - self._done:
                found = "" if state.best is None else f", best {state.best:.5g}"
                failed = failure_of(state)
                self._print(f"{state.name}: done{found}" + (f"\n{failed}" if failed else ""))
            elif state.state == "running" and state.failed:
                is_new = (state.name, state.reason) not in self._reasons
                self._reasons.add((state.name, state.reason))
                if is_new:
                    self._print(failure_of(state))
        self._done = done
        self._text = _text(states, steps)
        if self._text and self._now_s() >= self._next_s:
            self._next_s = self._now_s() + _INTERVAL_S
            self._printed = self._text
            self._print(self._text)

    def _print(self, text: str) -> None:
        print(text, file=self._stream, flush=True)


def view_on(stream: TextIO) -> Live | Lines:
    """Returns the view for a stream: live on a terminal, otherwise plain lines."""
    return Live(stream) if stream.isatty() else Lines(stream)


def follow(
    tell: Callable[[], tuple[Sequence[State], str]], is_over: Callable[[float], bool]
) -> None:
    """Shows the workflow on stderr until it is over.

    Args:
        tell: returns the states of the experiments, and the progress of the workflow.
        is_over: waits for the end at most a number of seconds, and returns whether it is over.
    """
    interval_s = 0.5 if sys.stderr.isatty() else 1.0
    with closing(view_on(sys.stderr)) as view:
        is_last = False
        while not is_last:
            is_last = is_over(interval_s)
            view.show(*tell())


def _text(states: Sequence[State], steps: str) -> str:
    running = [each for each in states if each.state == "running"]
    failures = [failure_of(each) for each in running if each.failed]
    is_begun = any(each.state != "waiting" for each in states)
    summary = " - ".join(filter(None, [steps, summary_of(states) if is_begun else ""]))
    return "\n".join(
        [*([table_of(running)] if running else []), *failures, *([summary] if summary else [])]
    )

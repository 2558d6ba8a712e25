"""Progress on stderr: a bar on a terminal, a few lines in a log."""

import json
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from kneepoint.common.errors import MachineError
from kneepoint.common.files import read_json, write_passing
from kneepoint.common.places import STATE

COUNT_FOLDER = STATE / "progress"
"""Folder of progress files, one per experiment in progress."""

_COUNT_S = 0.5
"""Interval of progress updates (s)."""


@dataclass(frozen=True)
class RunCounts:
    """The progress of an experiment.

    Args:
        done: finished runs.
        known: runs that were already in the journal at the start.
        total: planned runs; None: open.
        elapsed_s: time since the start (s).
        failed: runs since the start in which the controller failed.
        reason: reason of the last failure.
    """

    done: int
    known: int
    total: int | None
    elapsed_s: float
    failed: int = 0
    reason: str = ""

    @property
    def rate(self) -> float | None:
        """Runs per second; None before the first run has ended."""
        executed = self.done - self.known
        return executed / self.elapsed_s if executed and self.elapsed_s else None

    @property
    def left_s(self) -> float | None:
        """Estimated time for the remaining runs (s); None if unknown."""
        if self.total is None or self.rate is None:
            return None
        return max(0, self.total - self.done) / self.rate


def read_progress(name: str) -> RunCounts | None:
    """Returns the progress of an experiment; None if it has not begun."""
    try:
        return RunCounts(**read_json(COUNT_FOLDER / f"{name}.json"))
    except (OSError, ValueError, TypeError):  # it has just begun or ended
        return None


class Progress:
    """Reports the number of finished runs to the terminal and to `kneepoint status`.

    A log gets a line each time the number has doubled, or for every run in real time, and for
    every new reason of a failure.

    Args:
        name: name of the experiment.
        total: number of runs; None: open, because a search determines it.
        is_real_time: whether runs are in real time, and take minutes.
        detail: returns text to print after the number of runs.
    """

    def __init__(
        self,
        name: str,
        total: int | None,
        *,
        is_real_time: bool = False,
        detail: Callable[[], str] | None = None,
    ) -> None:
        self._name = name
        self._detail = detail
        self._is_real_time = is_real_time
        self._counted = RunCounts(0, 0, total, 0.0)
        self._start_s: float | None = None
        self._file = COUNT_FOLDER / f"{name}.json"
        self._next_count_s = 0.0
        self._next_line = 0  # number of runs
        self._reasons: set[str] = set()
        self._bar: Any = None
        if sys.stderr.isatty():
            from rich.console import Console  # not needed in a log
            from rich.progress import Progress as Bar
            from rich.progress import TextColumn

            columns = (*Bar.get_default_columns(), TextColumn("{task.fields[text]}"))
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task(name, total=total, text="")
            self._bar.start()

    def add(self, runs: int) -> None:
        """Counts further runs (0: only time has passed)."""
        now_s = time.monotonic()
        before = self._counted
        done, known = before.done + runs, before.known
        if self._start_s is None:  # the first call counts the runs of the journal
            self._start_s, known = now_s, done
        self._counted = replace(before, done=done, known=known, elapsed_s=now_s - self._start_s)
        if now_s >= self._next_count_s:
            self._write()
            self._next_count_s = now_s + _COUNT_S
        self._show(runs)

    def fail(self, reason: str) -> None:
        """Counts a failed run, and prints its reason if it is new."""
        self._counted = replace(self._counted, failed=self._counted.failed + 1, reason=reason)
        if reason not in self._reasons:
            self._reasons.add(reason)
            self._write()
            self._say(f"a run failed: {reason}")

    def end(self, message: str) -> None:
        """Prints the final message."""
        self._file.unlink(missing_ok=True)
        if self._bar is not None:
            self._bar.stop()
        self._say(message)

    def _write(self) -> None:
        with suppress(OSError, MachineError):  # a failed update must not end a run
            write_passing(self._file, json.dumps(asdict(self._counted)))

    def _show(self, runs: int) -> None:
        done, elapsed_s, total = self._counted.done, self._counted.elapsed_s, self._counted.total
        text = f"{done} of {total} runs" if total else f"{done} run{'s' if done != 1 else ''}"
        if self._is_real_time:
            text += self._left()
        if self._detail:
            text += f", {self._detail()}"
        if self._bar is not None:
            shown = text if self._is_real_time or self._detail else ""
            self._bar.update(self._task, advance=runs, text=shown)
        elif self._is_real_time and (runs or not elapsed_s):
            self._say(text)
        elif not self._is_real_time and runs and done >= self._next_line:
            self._say(text)
            self._next_line = 2 * done

    def _left(self) -> str:
        minutes = (self._counted.left_s or 0) / 60
        if not minutes:
            return ""
        return f"; about {minutes:.0f} min left" if minutes >= 1 else "; less than a minute left"

    def _say(self, message: str) -> None:
        print(f"{self._name}: {message}", file=sys.stderr, flush=True)

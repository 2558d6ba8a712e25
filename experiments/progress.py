"""Progress on stderr: a bar on a terminal, a few lines in a log."""

import json
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from common.files import read_json, write_passing
from engines.base import EngineSettings
from engines.mahimahi.engine import STATUS_FOLDER

COUNT_FOLDER = Path("build/progress")
"""Folder of progress files, one per experiment in progress."""

_COUNT_S = 0.5
"""Interval of progress updates (s)."""
_LINE_S = 10.0
"""Interval of log lines about real-time runs (s)."""
_SILENCE_S = 10.0
"""Age at which a status file counts as abandoned (s)."""


@dataclass(frozen=True)
class Counted:
    """Finished runs of an experiment, their planned number (None: open), and their rate.

    `known` of them were finished when it began; `elapsed_s` has passed since.
    """

    done: int
    known: int
    total: int | None
    elapsed_s: float

    @property
    def rate(self) -> float | None:
        """Runs a second; None before the first."""
        executed = self.done - self.known
        return executed / self.elapsed_s if executed and self.elapsed_s else None

    @property
    def left_s(self) -> float | None:
        """Estimated time for the remaining runs (s); None if unknown."""
        if self.total is None or self.rate is None:
            return None
        return max(0, self.total - self.done) / self.rate


def read_counted(name: str, folder: Path = COUNT_FOLDER) -> Counted | None:
    """Returns the progress of an experiment; None if it has not begun."""
    try:
        return Counted(**read_json(folder / f"{name}.json"))
    except (OSError, ValueError, TypeError):  # it has just begun or ended
        return None


class Progress:
    """Counts runs for the terminal and for `kneepoint status`.

    Args:
        name: what is in progress.
        total: number of runs, or None where a search decides as it goes.
        folder: of the counts.
    """

    def __init__(self, name: str, total: int | None, folder: Path = COUNT_FOLDER) -> None:
        self._name = name
        self._total = total
        self._done = 0
        self._known = 0
        self._start_s: float | None = None
        self._count_file = folder / f"{name}.json"
        self._next_count_s = 0.0
        self._next_line = 1
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
        """Counts further runs; a log gets a line whenever their number has doubled."""
        self._add(runs)
        if self._bar is not None:
            self._bar.advance(self._task, runs)
        elif runs and self._done >= self._next_line:
            self._say(self._count())
            self._next_line = 2 * self._done

    def end(self, message: str) -> None:
        """Prints the final message."""
        self._count_file.unlink(missing_ok=True)
        if self._bar is not None:
            self._bar.stop()
        self._say(message)

    def _add(self, runs: int) -> float:
        """Counts, and saves the count now and then; returns the time since the beginning."""
        self._done += runs
        now_s = time.monotonic()
        if self._start_s is None:  # these runs were finished before
            self._start_s, self._known = now_s, self._done
        elapsed_s = now_s - self._start_s
        if now_s >= self._next_count_s:
            counted = Counted(self._done, self._known, self._total, elapsed_s)
            with suppress(OSError):  # a failed progress update must not end a run
                write_passing(self._count_file, json.dumps(asdict(counted)))
            self._next_count_s = now_s + _COUNT_S
        return elapsed_s

    def _count(self) -> str:
        if self._total:
            return f"{self._done} of {self._total} runs"
        return f"{self._done} run{'s' if self._done != 1 else ''}"

    def _say(self, message: str) -> None:
        print(f"{self._name}: {message}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Status:
    """Progress of a real-time run, and its link's rate in the last second (None: nothing)."""

    elapsed_s: float
    expected_s: float
    throughput_mbps: float | None
    queueing_delay_ms: float | None


class RealTimeProgress(Progress):
    """Counts runs that take minutes, with regular lines about those in progress.

    Args:
        name: what is in progress.
        total: number of runs, or None where a search decides as it goes.
        folder: of the status files of the runs on this host.
    """

    def __init__(self, name: str, total: int | None, folder: Path = STATUS_FOLDER) -> None:
        super().__init__(name, total)
        self._folder = folder
        self._next_s = 0.0

    def add(self, runs: int) -> None:
        """Counts further runs (0: only time has passed)."""
        elapsed_s = self._add(runs)
        text = f"{self._count()}{self._running()}{self._left(elapsed_s)}"
        if self._bar is not None:
            self._bar.update(self._task, advance=runs, text=text)
        elif runs or elapsed_s >= self._next_s:
            self._say(text)
            self._next_s = elapsed_s + _LINE_S

    def _running(self) -> str:
        """The number of runs in progress, and the state of the last one."""
        running = statuses(self._folder)
        if not running:
            return ""
        last = min(running, key=lambda status: status.elapsed_s)
        text = f"; on this host {len(running)} in mahimahi"
        text += f", the last at {last.elapsed_s:.0f} of {last.expected_s:.0f} s"
        if last.throughput_mbps is not None and last.queueing_delay_ms is not None:
            text += f" ({last.throughput_mbps:.2f} Mbit/s, {last.queueing_delay_ms:.0f} ms queued)"
        return text

    def _left(self, elapsed_s: float) -> str:
        executed = self._done - self._known
        if not executed or self._total is None or self._done >= self._total:
            return ""
        minutes = elapsed_s / executed * (self._total - self._done) / 60
        return f"; about {minutes:.0f} min left" if minutes >= 1 else "; less than a minute left"


def progress_of(name: str, engine: EngineSettings, total: int | None) -> Progress:
    """Returns the progress display for an engine's runs."""
    return RealTimeProgress(name, total) if engine.is_real_time else Progress(name, total)


def statuses(folder: Path) -> list[Status]:
    """Reads the status of every run in progress on this host; killed runs expire."""
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            if time.time() - path.stat().st_mtime > _SILENCE_S:
                continue
            found.append(Status(**read_json(path)))
        except (OSError, ValueError, TypeError):  # it has just ended
            continue
    return found

"""The progress of a workflow and its remaining time: compiling, experiments, the report."""

import math
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kneepoint.common.places import LOGS
from kneepoint.workflow.states import State

BUILD_LOG = LOGS / "build_core/build.log"

_FILES = 150
"""The number of files to compile in a fresh clone, until the build states it."""
_FILE_S, _EXPERIMENT_S, _REPORTED_S = 0.45, 2.2, 0.5
"""The mean time for a file, an experiment and its part of the report on two processors (s)."""
_PRIOR_S = 5.0
"""The weight of this prior pace: the observed time to which it corresponds (s)."""
_KNOWN = 0.1
"""The share of files after which the pace of compiling is known, because the first files are the
longest."""
_SHORT, _SHORT_S = 1.5, 30.0
"""The printed remaining time grows only if the estimate exceeds it by this factor, and by this
difference (s)."""
_COMPILED = re.compile(rb"^\[(\d+)/(\d+)\] ", re.MULTILINE)
_STEPS = re.compile(rb"^(\d+) of (\d+) steps \(\S+\) done$", re.MULTILINE)
_TAIL_BYTES = 65536


@dataclass
class Forecast:
    """The forecast of everything that a command makes.

    The printed remaining time grows only if it was far too short.

    Args:
        is_building: whether programs and controllers are compiled now.
        building: name of the built programs, for messages.
        is_whole: whether all experiments and the report are made; otherwise their number is
            unknown.
        processors: number of processors.
        now_s: returns the time (s).
    """

    is_building: bool
    building: Sequence[str] = ()
    is_whole: bool = False
    processors: int = field(default_factory=lambda: os.cpu_count() or 1)
    now_s: Callable[[], float] = time.monotonic
    _shown_s: float = math.inf

    def __post_init__(self) -> None:
        self._began_s = self.now_s()
        self._began_at = time.time() - 1  # times of files have a coarser resolution
        self._compiled, self._files = 0, _FILES if self.is_building else 0

    def progress_text(self, states: Sequence[State], log: Path) -> str:
        """Returns the progress of the build or of Snakemake's steps, and the remaining time.

        Args:
            states: of all experiments.
            log: Snakemake's log.
        """
        if self.is_building:
            if now := _last(_COMPILED, BUILD_LOG, self._began_at):
                self._compiled, self._files = max(self._compiled, now[0]), now[1]
            if not self._compiled:
                return "compiling"
            said = f"compiling: {self._compiled} of {self._files} files"
            is_known = self._compiled >= _KNOWN * self._files
            return f"{said}, {spoken(self.left_s(states))}" if is_known else said
        if (steps := _last(_STEPS, log)) is None:
            return ""
        done = f"{steps[0]} of {steps[1]} steps done"
        is_over = steps[0] == steps[1] or not self.is_whole
        return done if is_over else f"{done}, {spoken(self.left_s(states))}"

    def left_s(self, states: Sequence[State]) -> float:
        """Returns the remaining time (s), at the pace so far."""
        done_s, total_s = _FILE_S * self._compiled, _FILE_S * self._files
        if self.is_whole:
            done_s += _EXPERIMENT_S * sum(map(_share, states))
            total_s += (_EXPERIMENT_S + _REPORTED_S) * len(states)
        prior_s = _PRIOR_S * 2 / self.processors
        pace = (prior_s + self.now_s() - self._began_s) / (_PRIOR_S + done_s)
        found_s = pace * max(0.0, total_s - done_s)
        if found_s < self._shown_s or found_s > _SHORT * self._shown_s + _SHORT_S:
            self._shown_s = found_s
        return self._shown_s


def spoken(left_s: float) -> str:
    """Formats a remaining time, rounded to its uncertainty."""
    minutes = round(left_s / 60)
    return f"about {minutes} min left" if minutes else "less than a minute left"


def _share(state: State) -> float:
    """Returns the finished share of an experiment."""
    if state.state == "running" and state.total:
        return min(1.0, (state.runs or 0) / state.total)
    return float(state.state == "done")


def _last(pattern: re.Pattern[bytes], log: Path, since: float = 0) -> tuple[int, int] | None:
    """Returns the two numbers of the last match in a log, if the log was written since a time."""
    try:
        with log.open("rb") as file:
            about = os.fstat(file.fileno())
            file.seek(max(0, about.st_size - _TAIL_BYTES))
            found = pattern.findall(file.read())
    except FileNotFoundError:
        return None
    if not found or about.st_mtime < since:
        return None
    done, total = map(int, found[-1])
    return done, total

"""Progress on stderr: a bar for somebody who looks, a few lines for a log."""

import sys
from typing import Any


class Progress:
    """Counts runs.

    Args:
        name: what is in progress.
        total: number of runs, or None where a search decides as it goes.
    """

    def __init__(self, name: str, total: int | None) -> None:
        self._name = name
        self._total = total
        self._done = 0
        self._next_line = 1
        self._bar: Any = None
        if sys.stderr.isatty():
            from tqdm import tqdm  # not needed in a log

            self._bar = tqdm(total=total, desc=name, unit="run", leave=False)

    def add(self, runs: int) -> None:
        """Counts further runs; a log gets a line whenever their number has doubled."""
        self._done += runs
        if self._bar is not None:
            self._bar.update(runs)
        elif runs and self._done >= self._next_line:
            of_total = f" of {self._total}" if self._total else ""
            self._say(f"{self._done}{of_total} runs")
            self._next_line = 2 * self._done

    def end(self, message: str) -> None:
        """Says how it ended."""
        if self._bar is not None:
            self._bar.close()
        self._say(message)

    def _say(self, message: str) -> None:
        print(f"{self._name}: {message}", file=sys.stderr, flush=True)

"""Executors run many runs at once."""

import os
import queue
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from kneepoint.engines.base import Engine, EngineSettings, RunRecord, RunSpec, run_reliably


class Executor(Protocol):
    """Executes runs in any order."""

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs in lists, as runs finish.

        Runs after a machine fault may be left out. While real-time runs are in progress, an empty
        list is yielded from time to time.

        Raises:
            KneepointError: a run cannot be executed.
        """

    def close(self) -> None:
        """Frees the executor's resources."""


class LocalExecutor:
    """Executes runs in virtual time in threads of this process, each with its own engine.

    The default number of workers is the number of processors.
    """

    def __init__(self, settings: EngineSettings, workers: int | None = None) -> None:
        self._engines = [settings.open() for _ in range(workers or os.cpu_count() or 1)]
        self._free: queue.SimpleQueue[Engine] = queue.SimpleQueue()
        for engine in self._engines:
            self._free.put(engine)

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs (see Executor)."""
        ended: queue.SimpleQueue[Future[RunRecord]] = queue.SimpleQueue()
        pool = ThreadPoolExecutor(len(self._engines))
        try:
            for spec in specs:
                pool.submit(self._run, spec).add_done_callback(ended.put)
            for _ in specs:
                yield [ended.get().result()]
        finally:
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Ends the engines."""
        for engine in self._engines:
            engine.close()

    def _run(self, spec: RunSpec) -> RunRecord:
        engine = self._free.get()
        try:
            return run_reliably(engine, spec)
        finally:
            self._free.put(engine)

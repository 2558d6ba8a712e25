"""Real-time slots, which limit the real runs in progress at once on this host.

The probe measures their number (kneepoint.questions.probe.plan); an unprobed host offers one per
core. A slot is a locked file: all jobs of a user share the slots, and the end of a job, for any
reason, releases its slots. A job reads the number of slots when it begins.
"""

import queue
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from kneepoint.common.errors import KneepointError, unusable
from kneepoint.common.files import hold_lock, read_json, runtime_folder
from kneepoint.engines.base import (
    PAUSES_S,
    Engine,
    EngineSettings,
    RunRecord,
    RunSpec,
    run_reliably,
)

_POLL_S = 0.2
"""Polling interval for a free slot (s)."""
_TICK_S = 1.0
"""Interval of progress reports while real-time runs are in progress (s)."""


def probe_file(results: Path) -> Path:
    """Returns the path of the probe's result."""
    return results / "probe" / "probe.json"


def slots_of(results: Path, cores: int) -> int:
    """Returns the number of slots of this host.

    Raises:
        KneepointError: the probe's result is damaged.
    """
    path = probe_file(results)
    try:
        slots = read_json(path)["slots"]
    except FileNotFoundError:
        return cores
    except (OSError, ValueError, KeyError, TypeError):
        slots = None
    if not isinstance(slots, int) or slots < 1:
        raise unusable(path, "it lacks the number of slots")
    return slots


class StoppedError(Exception):
    """The run's result is no longer needed."""


class SlotExecutor:
    """Executes runs in real time in threads of this process, each run in one of the host's slots.

    Args:
        settings: of the engine.
        slots: their number.
        folder: of their locks; None: this user's default.
        pauses_s: before each further attempt of a run that meets a machine fault.
    """

    def __init__(
        self,
        settings: EngineSettings,
        slots: int,
        folder: Path | None = None,
        pauses_s: Sequence[float] = PAUSES_S,
    ) -> None:
        folder = folder or runtime_folder() / "slots"
        folder.mkdir(parents=True, exist_ok=True)
        self._settings = settings
        self._slots = [folder / f"{slot}.lock" for slot in range(slots)]
        self._pauses_s = pauses_s
        self._stopped = threading.Event()
        self._running: dict[int, Engine] = {}
        self._lock = threading.Lock()

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs (see Executor)."""
        ended: queue.SimpleQueue[Future[RunRecord]] = queue.SimpleQueue()
        self._stopped.clear()
        pool = ThreadPoolExecutor(len(self._slots))
        try:
            for place, spec in enumerate(specs):
                is_next = place >= len(self._slots)
                pool.submit(self._run, spec, is_next).add_done_callback(ended.put)
            left = len(specs)
            while left:
                try:
                    yield [ended.get(timeout=_TICK_S).result()]
                    left -= 1
                except queue.Empty:
                    yield []
        finally:
            self._stop()
            pool.shutdown(cancel_futures=True)

    def close(self) -> None:
        """Does nothing: no resource is held between runs."""

    def _run(self, spec: RunSpec, is_next: bool) -> RunRecord:
        """Makes a run in a slot; `is_next` is whether this thread may have just freed a slot."""
        if is_next:
            self._pause(2 * _POLL_S)  # other jobs may wait for the slot
        with self._slot():
            engine = self._settings.open()
            with self._lock:
                if self._stopped.is_set():
                    raise StoppedError
                self._running[id(engine)] = engine
            try:
                return run_reliably(engine, spec, self._pauses_s, self._pause)
            finally:
                with self._lock:
                    del self._running[id(engine)]
                engine.close()

    def _stop(self) -> None:
        """Begins no further run, and ends runs in progress."""
        with self._lock:
            self._stopped.set()
            for engine in self._running.values():
                engine.stop()

    def _slot(self) -> TextIO:
        """Waits for a free slot and takes it; the slot is held until the result is closed."""
        while True:
            for path in self._slots:
                with suppress(KneepointError):
                    return hold_lock(path)
            self._pause(_POLL_S)

    def _pause(self, seconds: float) -> None:
        if self._stopped.wait(seconds):
            raise StoppedError

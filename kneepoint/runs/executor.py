"""Executors run many runs at once.

Importing Ray takes longer than a short study, so the import is lazy.
"""

import os
import queue
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Protocol

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.engines.base import (
    Engine,
    EngineSettings,
    RunRecord,
    RunSpec,
    run_reliably,
)
from kneepoint.runs.ray_cluster import (
    Cluster,
    Sent,
    attach,
)

_CHUNK = 16
"""Maximum number of runs per worker call; a call costs about a fifth of a run."""
_CALLS = 2
"""Calls in progress per worker, so that the next already waits there."""
_SILENCE_S = 120.0
"""Time without any worker after which the executor gives up (s)."""


class Executor(Protocol):
    """Executes runs in any order."""

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs, some at a time, as they finish.

        Runs after one that met a machine fault may be left out. While runs are in progress
        in real time, it now and then yields None.

        Raises:
            KneepointError: a run cannot be executed.
        """

    def close(self) -> None:
        """Frees the executor's resources."""


class LocalExecutor:
    """Executes runs in virtual time in threads of this process, each with its own engine.

    Without a number of workers there are as many as processors.
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


class RayExecutor:
    """Executes runs on the workers of the workflow's Ray.

    A worker whose process or node dies takes part again when Ray has restarted it, there or on
    another node; meanwhile the others execute its runs.
    """

    def __init__(self, cluster: Cluster, settings: EngineSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._contents: dict[str, Any] = {}  # references of files that were sent, by SHA-256
        ray = attach(cluster)
        try:
            workers = [ray.get_actor(f"worker-{i}") for i in range(cluster.workers)]
        except ValueError as error:
            raise KneepointError(
                f"Ray at {cluster.address} does not answer ({error}); start the workflow again"
            ) from None
        # Concurrent small studies begin with different workers.
        first = os.getpid() % len(workers)
        self._coming: dict[Any, Any] = {
            worker.ready.remote(): worker for worker in workers[first:] + workers[:first]
        }
        self._free: deque[Any] = deque()  # a worker, once per further call that it can take
        self._workers = len(workers)

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs (see Executor)."""
        import ray

        size = max(1, min(_CHUNK, -(-len(specs) // (_CALLS * self._workers))))
        chunks = deque(specs[start : start + size] for start in range(0, len(specs), size))
        calls: dict[Any, tuple[Any, Sequence[RunSpec]]] = {}
        try:
            while chunks or calls:
                while chunks and self._free:
                    worker, chunk = self._free.popleft(), chunks.popleft()
                    call = worker.run.remote(self._settings, chunk, self._sent(chunk))
                    calls[call] = worker, chunk
                patience_s = None if calls else _SILENCE_S
                done, _ = ray.wait([*calls, *self._coming], num_returns=1, timeout=patience_s)
                if not done:
                    raise KneepointError(
                        f"Ray at {self._cluster.address} has had no worker for "
                        f"{_SILENCE_S:g} s; check its nodes (ray status) and run the command again:"
                        " finished runs are kept"
                    )
                if done[0] in self._coming:
                    self._take(done[0], [worker for worker, _ in calls.values()])
                    continue
                worker, chunk = calls.pop(done[0])
                try:
                    answer = ray.get(done[0])
                except ray.exceptions.ActorUnavailableError:
                    chunks.appendleft(chunk)
                    self._set_aside(worker)
                    continue
                if worker not in self._coming.values():
                    self._free.append(worker)
                if isinstance(answer, str):
                    raise KneepointError(answer)
                if answer[-1].status == "failed" and len(answer) < len(chunk):
                    chunks.appendleft(chunk[len(answer) :])
                yield answer
        except ray.exceptions.RayError as error:
            reason = str(error).partition("\n")[0]
            raise KneepointError(f"Ray ended ({reason}); start the workflow again") from None
        finally:
            for call in calls:  # their results are no longer needed
                ray.cancel(call)
            self._free += [worker for worker, _ in calls.values()]

    def close(self) -> None:
        """Detaches from Ray, which keeps running."""
        import ray

        ray.shutdown()

    def _take(self, answer: Any, busy: Sequence[Any]) -> None:
        """Adds a worker, once per call that it can take."""
        import ray

        ray.get(answer)
        worker = self._coming.pop(answer)
        self._free += [worker] * (_CALLS - busy.count(worker))

    def _set_aside(self, worker: Any) -> None:
        """Leaves a dead worker idle until Ray has restarted it."""
        if worker not in self._coming.values():
            self._free = deque(each for each in self._free if each != worker)
            self._coming[worker.ready.options(max_task_retries=-1).remote()] = worker

    def _sent(self, specs: Sequence[RunSpec]) -> Sent:
        """Returns the files that runs need on another machine, in Ray's object store."""
        import ray

        if not self._cluster.is_joined:
            return {}
        sent = {}
        for target, (path, sha256) in self._settings.files_of(specs).items():
            if sha256 not in self._contents:
                content = path.read_bytes()
                if sha256_of(content) != sha256:
                    raise KneepointError(f"{path}: changed during the study; run the command again")
                self._contents[sha256] = ray.put(content)
            sent[target] = sha256, self._contents[sha256]
        return sent

"""Executors run many runs at once. The only place that imports Ray.

Importing Ray takes longer than a short study, so the import is lazy.
"""

import itertools
import logging
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from common.errors import KneepointError, end_with_error
from engines.base import (
    Engine,
    EngineSettings,
    RunRecord,
    RunSpec,
    run_while_sound,
)
from experiments.ray_folder import ray_folder, write_token

RAY_POLL_S = 0.2
"""Polling interval for Ray's helper processes (s)."""
_VITAL = ("gcs_server", "raylet")
_NAMESPACE = "kneepoint"
_CHUNK = 16
"""Maximum number of runs per worker call; a call costs about a fifth of a run."""

_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    # Ray binds to the external address even when given 127.0.0.1, unless it assumes, as on a laptop
    # with a firewall, that this machine cannot join a larger cluster.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}


class Executor(Protocol):
    """Executes runs in any order."""

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs, some at a time, as they finish.

        What was to follow a run that met a fault of the machine may be left out. While runs go on
        in real time, it yields none of them now and then.

        Raises:
            KneepointError: a run cannot be executed.
        """

    def close(self) -> None:
        """Frees what the executor holds."""


class SerialExecutor:
    """Executes one run after the other, in this process."""

    def __init__(self, settings: EngineSettings) -> None:
        self._engine = settings.open()

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs (see Executor)."""
        for start in range(0, len(specs), _CHUNK):
            yield run_while_sound(self._engine, specs[start : start + _CHUNK])

    def close(self) -> None:
        """Ends the engine."""
        self._engine.close()


@dataclass(frozen=True)
class Cluster:
    """A running Ray.

    Args:
        address: where it listens.
        workers: the names of the workers that hold engines.
        token: the file of what Ray asks of everybody who comes.
    """

    address: str
    workers: tuple[str, ...]
    token: str


class RayExecutor:
    """Executes runs on the workers of the workflow's Ray."""

    def __init__(self, cluster: Cluster, settings: EngineSettings) -> None:
        ray = _import_ray(cluster.token)
        self._settings = settings
        try:
            ray.init(
                address=cluster.address,
                namespace=_NAMESPACE,
                log_to_driver=False,
                logging_level=logging.ERROR,
                ignore_reinit_error=True,
            )
            self._workers = [ray.get_actor(name) for name in cluster.workers]
            # Small studies that run side by side begin with different workers.
            first = os.getpid() % len(self._workers)
            self._turns = itertools.cycle(self._workers[first:] + self._workers[:first])
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise KneepointError(
                f"Ray at {cluster.address} does not answer ({error}); start the workflow again"
            ) from None

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs (see Executor)."""
        import ray

        size = max(1, min(_CHUNK, -(-len(specs) // (2 * len(self._workers)))))
        chunks = [specs[start : start + size] for start in range(0, len(specs), size)]
        pending: list[Any] = [
            next(self._turns).run.remote(self._settings, chunk) for chunk in chunks
        ]
        try:
            while pending:
                done, pending = ray.wait(pending, num_returns=1)
                for answer in ray.get(done):
                    if isinstance(answer, str):
                        raise KneepointError(answer)
                    yield answer
        except ray.exceptions.RayError as error:
            raise _ended(error) from None
        finally:
            for task in pending:  # their results are no longer needed
                ray.cancel(task)

    def close(self) -> None:
        """Detaches from Ray, which keeps running."""
        import ray

        ray.shutdown()


class OwnRayExecutor:
    """Executes runs on a Ray of its own, which ends with it."""

    def __init__(self, cores: int, settings: EngineSettings) -> None:
        self._context = own_ray(cores)
        self._inner = RayExecutor(self._context.__enter__(), settings)
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs (see Executor)."""
        return self._inner.execute(specs)

    def close(self) -> None:
        """Ends this Ray, and no other."""
        self._closed.set()
        self._context.__exit__(None, None, None)

    def _watch(self) -> None:
        while not self._closed.wait(RAY_POLL_S):
            if dead := dead_part_of_ray():
                end_with_error(f"{dead}; run the command again: finished runs are kept")


@contextmanager
def own_ray(cores: int) -> Iterator[Cluster]:
    """Starts a Ray with one worker a core, reachable from this machine only, and ends it again.

    Its helper processes end with this process, however that ends.
    """
    # Workers import this package as we did, whatever folder they are started in.
    path = [str(Path.cwd()), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    with ray_folder() as folder:
        token = str(write_token(folder))
        ray = _import_ray(token)
        _leave_out_helpers()
        ray.init(
            address="local",
            num_cpus=cores,
            namespace=_NAMESPACE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=80 * 2**20,
            _temp_dir=str(folder / "ray"),
        )
        try:
            names = tuple(f"worker-{i}" for i in range(cores))
            remote: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(_Worker)
            workers = [remote.options(name=name).remote() for name in names]
            ray.get([worker.ready.remote() for worker in workers])
            yield Cluster(ray.get_runtime_context().gcs_address, names, token)
        finally:
            if not dead_part_of_ray():  # or it would wait for that, too
                ray.shutdown()


def dead_part_of_ray() -> str:
    """Returns a message if a vital helper process of this process's Ray has ended, otherwise "".

    Ray itself waits a minute for it.
    """
    from ray._private import worker

    node: Any = worker._global_node
    dead = [] if node is None else [name for name, _ in node.dead_processes()]
    return next((f"Ray ended (its {name} died)" for name in dead if name in _VITAL), "")


def _import_ray(token: str) -> Any:
    """Imports Ray, which asks for this token and shows it."""
    os.environ.pop("RAY_AUTH_TOKEN", None)
    os.environ.update(_ENVIRONMENT, RAY_AUTH_TOKEN_PATH=token)
    import ray
    from ray._raylet import AuthenticationTokenLoader, Config  # type: ignore[attr-defined]

    # What was imported before keeps its mode and its token.
    Config.initialize("")
    AuthenticationTokenLoader.instance().reset_cache()
    return ray


def _leave_out_helpers() -> None:
    """Keeps Ray from starting its dashboard, autoscaler and log monitor, which nothing here uses.

    They take two fifths of the CPU time of Ray's start, which waits for the dashboard; no option of
    `ray.init` leaves them out.
    """
    from ray._private import parameter, services

    params: Any = parameter.RayParams
    lean: Any = partial(params, no_monitor=True, include_log_monitor=False)
    parameter.RayParams = lean  # type: ignore[misc]
    services.start_api_server = lambda *_, **__: (None, None)


def _ended(error: Exception) -> KneepointError:
    reason = str(error).partition("\n")[0]
    return KneepointError(f"Ray ended ({reason}); start the workflow again")


class _Worker:
    """A Ray actor: holds engines, so that their processes live from call to call."""

    def __init__(self) -> None:
        self._engines: dict[EngineSettings, Engine] = {}

    def ready(self) -> bool:
        """Answers when the worker is there."""
        return True

    def run(self, settings: Any, specs: Sequence[RunSpec]) -> list[RunRecord] | str:
        """Returns the records of all runs, or the message of a KneepointError."""
        try:
            if settings not in self._engines:
                self._engines[settings] = settings.open()
            return run_while_sound(self._engines[settings], specs)
        except KneepointError as error:
            return str(error)

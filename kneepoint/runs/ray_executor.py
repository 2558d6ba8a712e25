"""Execution of runs as tasks of a Ray cluster."""

import logging
import os
import secrets
import subprocess
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError, end_with_error
from kneepoint.common.files import private_folder, sha256_of
from kneepoint.common.places import PACKAGE
from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec
from kneepoint.runs.cluster import POLL_S, RAY, Cluster
from kneepoint.runs.ray_node import Sent, facts_here, run_here

_CHUNK = 16
"""The maximum number of runs per task; a task executes them in sequence."""
_CPUS = 0.5
"""A task's share of a CPU, so that a study runs while another samples; Ray ends idle workers."""
_RETRIES = 10
"""Further attempts, on any worker, of a task whose worker or node dies."""
_SILENCE_S = 120.0
"""Time without a result after which the executor checks that the cluster has nodes (s)."""


class RayExecutor:
    """Executes runs as tasks of Ray, which repeats tasks if their worker or node dies.

    Ends this process, with one line, when Ray ends.

    Raises:
        KneepointError: the cluster cannot be joined.
    """

    def __init__(self, cluster: Cluster, settings: EngineSettings) -> None:
        self._cluster = cluster
        self._settings = settings
        self._contents: dict[str, Any] = {}  # references of files that were sent, by SHA-256
        self._is_closed = threading.Event()
        os.environ.pop("RAY_AUTH_TOKEN", None)
        os.environ.update(cluster.environment())
        import ray

        with private_folder("empty") as empty:
            # Everything that a node needs besides Python and Ray. Without a working directory,
            # workers import a package at the path of this process's folder on their node, if one
            # exists.
            needed = {
                "py_modules": [str(PACKAGE)],
                "excludes": ["data/", "__pycache__/"],
                "working_dir": str(empty),
            }
            try:
                ray.init(
                    address=cluster.address,
                    runtime_env=needed if cluster.is_joined else None,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    ignore_reinit_error=True,
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise _not_joined(cluster, error) from None
        self._cores = _cores()
        if not self._cores:
            raise self._lost("no node with a CPU")
        self._facts = facts_here() if cluster.is_joined else {}
        self._task = ray.remote(num_cpus=_CPUS, max_retries=_RETRIES)(run_here)
        threading.Thread(target=self._watch, daemon=True).start()

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        """Yields the records of all runs (see kneepoint.runs.executor.Executor)."""
        import ray

        size = max(1, min(_CHUNK, -(-len(specs) // self._cores)))
        chunks = deque(specs[start : start + size] for start in range(0, len(specs), size))
        tasks: dict[Any, Sequence[RunSpec]] = {}
        while chunks or tasks:
            while chunks and len(tasks) < self._cores:
                chunk = chunks.popleft()
                sent = self._sent(chunk)
                tasks[self._task.remote(self._settings, chunk, self._facts, sent)] = chunk
            try:
                done, _ = ray.wait(list(tasks), num_returns=1, timeout=_SILENCE_S)
                if not done:
                    if not _cores():
                        raise self._lost(f"no node for {_SILENCE_S:g} s")
                    continue
                answer = ray.get(done[0])
            except ray.exceptions.RayError as error:
                raise self._lost(error) from None
            chunk = tasks.pop(done[0])
            if isinstance(answer, str):
                raise KneepointError(answer)
            if answer[-1].status == "failed" and len(answer) < len(chunk):
                chunks.appendleft(chunk[len(answer) :])
            yield answer

    def close(self) -> None:
        """Detaches from Ray, which keeps running."""
        import ray

        self._is_closed.set()
        ray.shutdown()

    def _watch(self) -> None:
        while not self._is_closed.wait(POLL_S):
            if not self._cluster.answers() and not self._is_closed.is_set():
                ended = f"Ray at {self._cluster.address} ended"
                end_with_error(f"{ended}; run the command again: finished runs are kept")

    def _lost(self, reason: object) -> KneepointError:
        said = str(reason).partition("\n")[0]
        return KneepointError(
            f"Ray at {self._cluster.address} executes nothing ({said}); check its nodes (ray "
            "status) and run the command again: finished runs are kept"
        )

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


def join(address: str) -> Cluster:
    """Returns the existing Ray cluster at HOST:PORT.

    Raises:
        KneepointError: nothing answers at this address, no token exists, or Ray requires no
        token or another token.
    """
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()
    cluster = Cluster(address, str(path), is_joined=True)
    cluster.require_answer()
    if not path.is_file():
        raise KneepointError(
            f"{path}: no token of the Ray to join; make one (ray get-auth-token --generate), give "
            "it to all nodes, or name its file in RAY_AUTH_TOKEN_PATH"
        )

    def admits(**token: str) -> bool:
        environment = {**os.environ, **cluster.environment(), "RAY_AUTH_TOKEN": "", **token}
        command = [RAY, "status", "--address", address]
        status = subprocess.run(command, env=environment, capture_output=True, check=False)
        return status.returncode == 0

    if admits(RAY_AUTH_TOKEN=secrets.token_hex(32)):
        raise KneepointError(
            f"ray_address {address}: this Ray admits anyone who can reach it; start its nodes with "
            "RAY_AUTH_MODE=token"
        )
    if not admits():
        raise KneepointError(
            f"ray_address {address}: this Ray refuses the token in {path}; name the file of its "
            "own token in RAY_AUTH_TOKEN_PATH"
        )
    return cluster


def _cores() -> int:
    import ray

    return int(ray.cluster_resources().get("CPU", 0))  # type: ignore[no-untyped-call]


def _not_joined(cluster: Cluster, error: Exception) -> KneepointError:
    reason = " ".join(str(error).split())
    remedy = "correct the address or the cluster"
    if "raylet" in reason.lower():
        remedy = f"make this machine a node: ray start --address={cluster.address} --num-cpus=0"
    elif "ersion mismatch" in reason:
        remedy = "install the versions of requirements.txt on every node"
    return KneepointError(f"ray_address {cluster.address}: cannot be joined ({reason}); {remedy}")

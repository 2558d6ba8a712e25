"""A Ray of our own on this machine, or an existing one on many machines.

Importing Ray takes longer than a short study, so the import is lazy.
"""

import logging
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from common.errors import KneepointError
from experiments.ray_folder import find_token, own_token, ray_folder, write_token
from experiments.worker import CODE, PACKAGES, Worker, difference, facts_here

RAY_POLL_S = 1.0
"""Polling interval for Ray's server (s)."""
_ANSWER_S = 5.0
"""Time limit for a server's answer (s)."""
_NODE_S = 120.0
"""Time limit for a node to fetch the code and report its facts (s)."""
_MISSED_S = 30.0
"""Time that Ray takes to notice a dead node (s)."""
_START_S = 100.0
"""Time limit for the start of a Ray (s)."""
_RAY = Path(sys.executable).with_name("ray")
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_AUTH_MODE": "token",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_ON_THIS_MACHINE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""If 0, Ray assumes, as on a laptop with a firewall, that this machine cannot be part of a larger
cluster; otherwise it binds to the external address even when given 127.0.0.1."""


@dataclass(frozen=True)
class Cluster:
    """A running Ray.

    Args:
        address: where it listens, HOST:PORT.
        workers: the names of the workers that hold engines.
        token: the file of the token that Ray requires.
        namespace: of the workers' names.
        is_joined: it existed before and may have nodes on other machines.
    """

    address: str
    workers: tuple[str, ...]
    token: str
    namespace: str = "kneepoint"
    is_joined: bool = False

    def dead_part(self) -> str:
        """Returns a message if Ray has ended, otherwise ""."""
        return "" if _answers(self.address) else f"Ray at {self.address} ended"


def open_cluster(cores: int, address: str | None) -> AbstractContextManager[Cluster]:
    """Returns the context of a Ray: our own with so many workers, or the one at an address."""
    return own_ray(cores) if address is None else joined_ray(address)


@contextmanager
def own_ray(cores: int) -> Iterator[Cluster]:
    """Starts a Ray with one worker per core, reachable from this machine only, and ends it again.

    Its helper processes end with this process, however that ends.
    """
    # Workers import this package from the same place, whatever their folder.
    path = [str(Path.cwd()), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(path)
    with ray_folder() as folder, _server(folder, cores) as address:
        token = str(own_token())
        ray = import_ray(address, token)
        ray.init(
            address=address,
            namespace=Cluster.namespace,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
        try:
            names, workers = _start_workers(cores, facts_here())
            ray.get([worker.ready.remote() for worker in workers])
            yield Cluster(address, names, token)
        finally:
            if _answers(address):  # or it would wait for that, too
                ray.shutdown()


@contextmanager
def _server(folder: Path, cores: int) -> Iterator[str]:
    """Runs `ray start --block`, which ends with its first process that ends; gives its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address, log = f"127.0.0.1:{port}", folder / "start.log"
    options = {
        "node-ip-address": "127.0.0.1",
        "port": port,
        "num-cpus": cores,
        "object-store-memory": 80 * 2**20,
        "include-dashboard": False,
        "include-log-monitor": False,
        "temp-dir": folder / "ray",
    }
    given = [f"--{name}={value}" for name, value in options.items()]
    with log.open("wb") as output:
        server = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", _RAY, "start", "--head", "--block", *given],
            env={**os.environ, **_variables(address, str(own_token()))},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        deadline = time.monotonic() + _START_S
        while b"Ray runtime started" not in log.read_bytes():
            if server.poll() is not None or time.monotonic() > deadline:
                last = log.read_text(errors="replace").strip().splitlines()[-1:]
                raise KneepointError(f"Ray cannot be started: {''.join(last)}")
            time.sleep(RAY_POLL_S / 4)
        yield address
    finally:
        server.terminate()
        server.wait()


@contextmanager
def joined_ray(address: str) -> Iterator[Cluster]:
    """Joins the Ray at an address with one worker per core of its nodes; leaves it unchanged.

    Ray brings our code to the nodes; the files of runs follow with the runs.

    Raises:
        KneepointError: it does not answer, requires no token or another one, has no node on
            this machine, or a node differs from this machine.
    """
    require_answer(address)
    token = find_token()
    namespace = f"kneepoint-{uuid4().hex}"
    with ray_folder() as folder:
        _require_token(address, token, wrong=write_token(folder))
        ray = import_ray(address, str(token))
        code = folder / "code"
        for package in PACKAGES:
            shutil.copytree(
                CODE / package, code / package, ignore=shutil.ignore_patterns("__pycache__")
            )
        try:
            ray.init(
                address=address,
                namespace=namespace,
                runtime_env={"working_dir": str(code)},
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise _not_joined(address, error) from None
        try:
            expected = facts_here()
            _check_nodes(expected)
            cores = int(ray.cluster_resources().get("CPU", 0))
            if cores < 1:
                raise KneepointError(f"Ray at {address} has no node with a CPU; start one")
            names, workers = _start_workers(cores, expected)
            yield Cluster(address, names, str(token), namespace, is_joined=True)
            del workers  # the actors live as long as these handles
        finally:
            if _answers(address):  # or it would wait for that, too
                ray.shutdown()


def require_answer(address: str) -> None:
    """Raises KneepointError if nothing listens at HOST:PORT."""
    if not _answers(address):
        raise KneepointError(
            f"ray_address {address}: nothing answers there; start Ray (ray start --head) or "
            "correct the address"
        )


def import_ray(address: str, token: str) -> Any:
    """Imports Ray for a cluster at an address that requires a file's token.

    Ray reads both once in a process.
    """
    os.environ.pop("RAY_AUTH_TOKEN", None)
    os.environ.pop(_ON_THIS_MACHINE, None)
    os.environ.update(_variables(address, token))
    import ray

    return ray


def _variables(address: str, token: str) -> dict[str, str]:
    here = {_ON_THIS_MACHINE: "0"} if address.startswith("127.") else {}
    return {**_ENVIRONMENT, **here, "RAY_AUTH_TOKEN_PATH": token}


def _start_workers(cores: int, expected: Mapping[str, str]) -> tuple[tuple[str, ...], list[Any]]:
    """Starts workers that Ray restarts; their callers repeat calls that died with one."""
    import ray

    names = tuple(f"worker-{i}" for i in range(cores))
    remote: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(Worker)
    return names, [remote.options(name=name).remote(expected) for name in names]


def _check_nodes(expected: Mapping[str, str]) -> None:
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask: Any = ray.remote(num_cpus=0, max_retries=0)(facts_here)
    nodes = _living_nodes()
    places = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
    answers = [ask.options(scheduling_strategy=place).remote() for place in places]
    for node, answer in zip(nodes, answers, strict=True):
        name = f"node {node['NodeManagerHostname']} ({node['NodeManagerAddress']})"
        try:
            refusal = difference(name, ray.get(answer, timeout=_NODE_S), expected)
        except ray.exceptions.RayError as error:
            if _has_died(node):
                continue
            reason = " ".join(str(error).split())
            refusal = f"{name}: Kneepoint does not run there ({reason}); repair or remove the node"
        if refusal:
            raise KneepointError(refusal)


def _living_nodes() -> list[dict[str, Any]]:
    import ray

    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return [node for node in nodes if node["Alive"]]


def _has_died(node: Mapping[str, Any]) -> bool:
    """Whether Ray has lost the node, which takes seconds to show, and our code did not fail."""
    deadline = time.monotonic() + _MISSED_S
    while node["NodeID"] in [each["NodeID"] for each in _living_nodes()]:
        if time.monotonic() > deadline:
            return False
        time.sleep(RAY_POLL_S)
    return True


def _require_token(address: str, token: Path, wrong: Path) -> None:
    """Raises KneepointError if Ray admits a wrong token, or refuses ours."""
    if _lets_in(address, wrong):
        raise KneepointError(
            f"ray_address {address}: this Ray admits anyone who can reach it; start its nodes with "
            "RAY_AUTH_MODE=token"
        )
    if not _lets_in(address, token):
        raise KneepointError(
            f"ray_address {address}: this Ray refuses the token in {token}; name the file of its "
            "own token in RAY_AUTH_TOKEN_PATH"
        )


def _lets_in(address: str, token: Path) -> bool:
    environment = {**os.environ, **_variables(address, str(token))}
    environment.pop("RAY_AUTH_TOKEN", None)
    answer = subprocess.run(
        [_RAY, "status", "--address", address],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode == 0:
        return True
    if "AuthenticationError" in answer.stderr:
        return False
    raise _not_joined(address, answer.stderr.strip().rpartition("\n")[2])


def _not_joined(address: str, error: object) -> KneepointError:
    reason = " ".join(str(error).split())
    remedy = "correct the address or the cluster"
    if "raylet" in reason.lower():
        remedy = f"this machine must also be a node: ray start --address={address} --num-cpus=0"
    elif "ersion mismatch" in reason:
        remedy = "install the versions of requirements.txt on every node"
    return KneepointError(f"ray_address {address}: cannot be joined ({reason}); {remedy}")


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
    except OSError:
        return False
    return True

"""A Ray of our own on this machine, or an existing one on many machines.

Importing Ray takes longer than a short study, so the import is lazy.
"""

import hashlib
import logging
import math
import os
import platform
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from kneepoint.common.errors import KneepointError, of_file
from kneepoint.common.files import (
    hold_lock,
    private_folder,
    runtime_folder,
    sha256_of,
    write_whole,
)
from kneepoint.common.places import PACKAGE
from kneepoint.engines.base import (
    Engine,
    EngineSettings,
    RunRecord,
    RunSpec,
    run_while_sound,
)

PARTS = ("common", "config", "engines", "networks", "runs")
"""All that a worker imports: its node needs nothing but Python, Ray and this."""
_SHIPPED = (".py", ".json")

Sent = Mapping[str, tuple[str, Any]]
"""Files by their path in a worker's folder: the SHA-256 and the reference of the content."""

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


_PARENT = Path("/tmp")  # noqa: S108 (mkdtemp makes it safe; paths of sockets must be short)


@dataclass(frozen=True)
class Cluster:
    """A running Ray.

    Args:
        address: where it listens, HOST:PORT.
        workers: number of the workers that hold engines, worker-0 and so on.
        token: the file of the token that Ray requires.
        namespace: of the workers' names.
        is_joined: it existed before and may have nodes on other machines.
    """

    address: str
    workers: int
    token: str
    namespace: str
    is_joined: bool = False

    def dead_part(self) -> str:
        """Returns a message if Ray has ended, otherwise ""."""
        return "" if _answers(self.address) else f"Ray at {self.address} ended"


@contextmanager
def open_cluster(cores: int, address: str | None) -> Iterator[Cluster]:
    """Starts a Ray with so many workers, or joins the one at an address.

    Our own is reachable from this machine only, and its helper processes end with this process,
    however that ends. An existing one stays as it is; it gets one worker per core of its nodes,
    and brings our code to them; the files of runs follow with the runs.

    Raises:
        KneepointError: Ray cannot be started. An existing one does not answer, requires no token or
            another one, has no node on this machine, or a node differs from this machine.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(ray_folder())
        if address is None:
            # Workers import this package from the same place, whatever their folder.
            path = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
            os.environ["PYTHONPATH"] = os.pathsep.join(path)
            own = stack.enter_context(_server(folder, cores))
            cluster = Cluster(own, cores, str(own_token()), "kneepoint")
        else:
            require_answer(address)
            token = find_token()
            _require_token(address, token, wrong=write_token(folder))
            for source in _code():
                copy = folder / "code" / PACKAGE.name / source.relative_to(PACKAGE)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
            name = f"kneepoint-{uuid4().hex}"
            cluster = Cluster(address, 0, str(token), name, is_joined=True)
        ray = attach(cluster, {"working_dir": str(folder / "code")} if address else None)
        try:
            expected = facts_here()
            if cluster.is_joined:
                _check_nodes(expected)
                cores = int(ray.cluster_resources().get("CPU", 0))
                if cores < 1:
                    raise KneepointError(f"Ray at {address} has no node with a CPU; start one")
                cluster = replace(cluster, workers=cores)
            workers = _start_workers(cores, expected)
            if not cluster.is_joined:
                ray.get([worker.ready.remote() for worker in workers])
            yield cluster
            del workers  # the actors live as long as these handles
        finally:
            if _answers(cluster.address):  # or it would wait for that, too
                ray.shutdown()


def attach(cluster: Cluster, environment: Mapping[str, str] | None = None) -> Any:
    """Returns the module ray, attached to a cluster.

    Raises:
        KneepointError: the cluster cannot be joined.
    """
    ray = import_ray(cluster.address, cluster.token)
    try:
        ray.init(
            address=cluster.address,
            namespace=cluster.namespace,
            runtime_env=environment,
            log_to_driver=False,
            logging_level=logging.ERROR,
            ignore_reinit_error=True,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _not_joined(cluster.address, error) from None
    return ray


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


def _start_workers(cores: int, expected: Mapping[str, str]) -> list[Any]:
    """Starts workers that Ray restarts; their callers repeat calls that died with one."""
    import ray

    remote: Any = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=0)(Worker)
    return [remote.options(name=f"worker-{i}").remote(expected) for i in range(cores)]


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


def ray_folder() -> AbstractContextManager[Path]:
    """Makes a folder and removes it afterwards (see private_folder).

    Ray opens its own folder to everybody, so that must lie in this one.
    """
    return private_folder("ray", _PARENT)


def write_token(folder: Path) -> Path:
    """Writes a new token for Ray into a file that only this user can read."""
    path = folder / "token"
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(secrets.token_hex(32))
    return path


def own_token() -> Path:
    """Returns the token file of the Rays that this user's workflows start; makes it.

    One for all of them, because Ray reads its token once in a process.
    """
    folder = runtime_folder()
    path = folder / "token"
    with hold_lock(folder / "ray.lock", math.inf):
        if not path.exists() or not path.read_text():  # killed while it was written
            path.unlink(missing_ok=True)
            write_token(folder)
    return path


def find_token() -> Path:
    """Returns the token file of an existing Ray, where Ray itself looks for it.

    Raises:
        KneepointError: there is none.
    """
    path = Path(os.environ.get("RAY_AUTH_TOKEN_PATH") or "~/.ray/auth_token").expanduser()
    if not path.is_file():
        raise KneepointError(
            f"{path}: no token of the Ray to join; make one (ray get-auth-token --generate), give "
            "it to all nodes, or name its file in RAY_AUTH_TOKEN_PATH"
        )
    return path


class Worker:
    """A Ray actor: holds engines, so that their processes live from call to call.

    Args:
        expected: facts of the machine that requests runs (see facts_here); a node with
            others refuses to run anything, because results might depend on them.
    """

    def __init__(self, expected: Mapping[str, str]) -> None:
        self._refusal = difference(f"node {platform.node()}", facts_here(), expected)
        self._engines: dict[EngineSettings, Engine] = {}
        self._files: dict[str, str] = {}
        self._stack = ExitStack()
        self._folder: Path | None = None

    def ready(self) -> bool:
        """Returns when the worker is ready."""
        return True

    def run(self, settings: Any, specs: Sequence[RunSpec], sent: Sent) -> list[RunRecord] | str:
        """Returns the records of all runs, or the message of a KneepointError.

        Args:
            settings: of the engine.
            specs: the runs.
            sent: files that they need; empty: the settings' paths on this machine.
        """
        try:
            if self._refusal:
                return self._refusal
            if sent:
                settings = settings.moved(self._keep(sent))
            if settings not in self._engines:
                self._engines[settings] = settings.open()
            return run_while_sound(self._engines[settings], specs)
        except KneepointError as error:
            return str(error)
        except OSError as error:
            return f"node {platform.node()}: {of_file(error) or error}"

    def _keep(self, sent: Sent) -> Path:
        """Returns the folder of the files, after fetching missing ones."""
        import ray

        self._folder = self._folder or self._stack.enter_context(ray_folder())
        for path, (sha256, reference) in sent.items():
            if self._files.get(path) == sha256:
                continue
            content: Any = ray.get(reference)
            if sha256_of(content) != sha256:
                raise KneepointError(
                    f"{path}: arrived damaged on node {platform.node()}; run the command again"
                )
            target = self._folder / path
            if not target.resolve().is_relative_to(self._folder.resolve()):
                raise KneepointError(f"{path}: leads outside the folder; give a relative path")
            write_whole(target, content)
            target.chmod(0o700)
            self._files[path] = sha256
        return self._folder


def facts_here() -> dict[str, str]:
    """Returns the facts of this machine that results may depend on, by their names in messages."""
    import ray

    return {
        "the architecture": platform.machine(),
        "the C library": " ".join(platform.libc_ver()),
        "Python": platform.python_version(),
        "Ray": ray.__version__,
        "Kneepoint's code": _digest_of_code(),
    }


def difference(node: str, facts: Mapping[str, str], expected: Mapping[str, str]) -> str:
    """Returns how a node differs from the machine that requests runs, or ""."""
    for what, value in expected.items():
        if facts.get(what) != value:
            return (
                f"{node}: {what} is {facts.get(what, 'unknown')}, but {value} on the machine that "
                "runs the workflow; results might depend on it: use identical nodes"
            )
    return ""


def _digest_of_code() -> str:
    digest = hashlib.sha256()
    for path in _code():
        digest.update(f"{path.relative_to(PACKAGE)} {sha256_of(path.read_bytes())}\n".encode())
    return digest.hexdigest()[:12]


def _code() -> Iterator[Path]:
    """The files of all that a worker imports."""
    yield PACKAGE / "__init__.py"
    for part in PARTS:
        yield from sorted(path for path in (PACKAGE / part).rglob("*") if path.suffix in _SHIPPED)

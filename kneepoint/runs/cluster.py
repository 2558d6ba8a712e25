"""The workflow's Ray, which starts when a study asks for it and ends with the workflow.

The Snakefile calls `start_cluster`; studies call `find_cluster` and `end_with_cluster`.
"""

import json
import math
import os
import platform
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from kneepoint.common.errors import KneepointError, end_with_error
from kneepoint.common.files import (
    LOCK_PATIENCE_S,
    hold_lock,
    is_held,
    private_folder,
    read_json,
    runtime_folder,
    write_whole,
)
from kneepoint.common.places import PACKAGE

RAY = str(Path(sys.executable).with_name("ray"))
POLL_S = 0.5
"""Polling interval for a Ray, and for requests for one (s)."""
_ANSWER_S, _START_S, _END_S = 5.0, 100.0, 5.0
"""Time limits for an answer of the server, for its start and its end (s)."""
_SHORT = Path("/tmp")  # noqa: S108 (private_folder makes it safe; paths of sockets must be short)


@dataclass(frozen=True)
class Cluster:
    """A running Ray cluster: its address (HOST:PORT), and the file of the token that it requires.

    A joined cluster existed before and may have nodes on other machines.
    """

    address: str
    token: str
    is_joined: bool = False

    def environment(self) -> dict[str, str]:
        """Returns the environment of Ray's processes and of processes that attach to it."""
        variables = {
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": self.token,
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        }
        if self.address.startswith("127."):  # otherwise it would bind to an external address
            variables["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        return variables

    def answers(self) -> bool:
        """Returns whether the server accepts connections."""
        host, _, port = self.address.rpartition(":")
        with suppress(OSError):
            socket.create_connection((host.strip("[]"), int(port)), _ANSWER_S).close()
            return True
        return False

    def require_answer(self) -> None:
        """Raises KneepointError unless a joined Ray's server accepts connections."""
        if not self.answers():
            raise KneepointError(
                f"ray_address {self.address}: nothing answers there; start Ray (ray start --head) "
                "or correct the address"
            )


@contextmanager
def open_cluster(cores: int) -> Iterator[Cluster]:
    """Starts a Ray cluster on some cores, which ends with the block or the death of this thread.

    Only this user can reach the cluster, and only from this machine.

    Raises:
        KneepointError: the cluster cannot be started.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    cluster = Cluster(f"127.0.0.1:{port}", str(own_token()))
    command = ["setpriv", "--pdeathsig", "TERM", RAY, "start", "--head", "--block"]
    command += ["--node-ip-address=127.0.0.1", f"--port={port}", f"--num-cpus={cores}"]
    command += [f"--object-store-memory={80 * 2**20}"]
    command += ["--include-dashboard=False", "--include-log-monitor=False"]
    # Workers import this package from the same place, whatever their folder.
    path = os.pathsep.join(filter(None, [str(PACKAGE.parent), os.environ.get("PYTHONPATH")]))
    # Ray makes its folder readable for all users, so that folder lies in a private folder.
    with private_folder("ray", _SHORT) as folder, (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [*command, f"--temp-dir={folder}/ray"],
            env={**os.environ, **cluster.environment(), "PYTHONPATH": path},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,  # Ctrl-C is for the workflow; studies need Ray while they end
        )
        try:
            deadline_s = time.monotonic() + _START_S
            while b"Ray runtime started" not in (said := (folder / "log").read_bytes()):
                if server.poll() is not None or time.monotonic() > deadline_s:
                    last = said.decode(errors="replace").strip().rpartition("\n")[2]
                    raise KneepointError(f"Ray cannot be started: {last}")
                time.sleep(POLL_S / 2)
            yield cluster
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):  # Ray may hang while it ends
                server.wait(_END_S)
            with suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def own_token() -> Path:
    """Returns the token file of all clusters of this user: Ray reads it once per process."""
    path = runtime_folder() / "token"
    with hold_lock(path.with_suffix(".lock"), math.inf):
        if not path.exists():
            write_whole(path, secrets.token_hex(32), mode=0o600)
    return path


def start_cluster(file: Path, cores: int, existing: Cluster | None = None) -> TextIO:
    """Offers studies the existing Ray cluster or, without one, a cluster of this process.

    The cluster starts when a study asks for it (see find_cluster), and ends with this process. The
    file contains its address, or the reason for its end; the result is a lock, which this process
    holds as long as it lives.
    """
    lock = hold_lock(_lock(file), LOCK_PATIENCE_S)
    _wanted(file).unlink(missing_ok=True)
    _tell(file, **({"cluster": asdict(existing)} if existing else {}))
    if not existing:
        threading.Thread(target=_serve, args=[file, cores]).start()
    return lock


def _serve(file: Path, cores: int) -> None:
    def is_over() -> bool:
        return not threading.main_thread().is_alive()

    while not _wanted(file).exists():
        if is_over():
            return
        time.sleep(POLL_S / 10)
    try:
        with open_cluster(cores) as cluster:
            _tell(file, cluster=asdict(cluster))
            while cluster.answers():
                if is_over():
                    return
                time.sleep(POLL_S)
        raise KneepointError(f"Ray at {cluster.address} ended")
    except Exception as error:
        _tell(file, error=str(error).partition("\n")[0])


def find_cluster(file: Path) -> Cluster:
    """Asks for the workflow's Ray cluster, and returns it as soon as it is ready.

    Raises:
        KneepointError: it ended or did not start.
    """
    _wanted(file).touch()
    while is_held(_lock(file)) and "error" not in (state := read_json(file)):
        if "cluster" in state:
            cluster = Cluster(**state["cluster"])
            if cluster.is_joined:  # no process of this workflow watches it
                cluster.require_answer()
            if cluster.answers():
                return cluster
        time.sleep(POLL_S / 10)
    raise KneepointError(f"{file}: no Ray: {_reason(file)}; start the workflow again")


def serves_here(file: Path) -> bool:
    """Returns whether the workflow runs on this machine; a batch system may run jobs elsewhere."""
    return bool(read_json(file)["host"] == platform.node())


def end_with_cluster(file: Path) -> None:
    """Ends this process when its workflow ends, so that it keeps no lock of a study."""

    def watch() -> None:
        while is_held(_lock(file)):
            time.sleep(POLL_S / 2)
        end_with_error("the workflow has ended; run the command again: finished runs are kept")

    threading.Thread(target=watch, daemon=True).start()


def _tell(file: Path, **news: object) -> None:
    write_whole(file, json.dumps({"host": platform.node(), **news}))


def _reason(file: Path) -> str:
    return str(read_json(file).get("error", "the workflow has ended"))


def _lock(file: Path) -> Path:
    return file.with_suffix(".lock")


def _wanted(file: Path) -> Path:
    return file.with_suffix(".wanted")

"""A node of Ray on this machine's loopback: `ray start` refuses a second one there.

    RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=... python -m tests.ray_node FOLDER [ADDRESS]

Without an address it is the head. It prints the address of the head and stays until it is killed.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Self

from experiments.ray_cluster import import_ray
from experiments.ray_folder import own_token, ray_folder
from tests.conftest import ROOT


@dataclass
class Nodes:
    """A Ray of several nodes, each a session of its own that can be killed; ends with its block."""

    cpus: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    started: "list[subprocess.Popen[str]]" = field(default_factory=list)
    address: str = ""

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._folder = self._stack.enter_context(ray_folder())
        token = own_token()  # Ray reads its token once in a test's process
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            **self.environment,
        }
        self.address = self._start([])
        return self

    def __exit__(self, *_: object) -> None:
        for index in range(len(self.started)):
            self.kill(index)
        self._stack.close()

    def add(self, *before: str, wait: bool = True) -> None:
        """Starts another node, under a command that changes how the machine looks to it."""
        self._start(before, wait)

    def kill(self, index: int) -> None:
        """Kills a node with all its processes."""
        try:
            os.killpg(self.started[index].pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        self.started[index].wait()

    def _start(self, before: Sequence[str], wait: bool = True) -> str:
        node = subprocess.Popen(
            [
                *(*before, sys.executable, "-m", "tests.ray_node"),
                *(str(self._folder / "ray"), str(self.cpus), *filter(None, [self.address])),
            ],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.started.append(node)
        assert node.stdout is not None
        if not wait:
            return ""
        address = node.stdout.readline().strip()
        assert address, "the node did not start"
        return address


def main(folder: str, cpus: str, address: str | None = None) -> None:
    """Starts a node and stays."""
    mode = os.environ["RAY_AUTH_MODE"]
    import_ray("127.0.0.1:0", os.environ["RAY_AUTH_TOKEN_PATH"])
    os.environ["RAY_AUTH_MODE"] = mode
    from ray._private import node, parameter, services

    services.start_api_server = lambda *_, **__: (None, None)
    options: dict[str, Any] = {
        "num_cpus": int(cpus),
        "num_gpus": 0,
        "object_store_memory": 80 * 2**20,
        "node_ip_address": "127.0.0.1",
        "min_worker_port": 0,
        "max_worker_port": 0,
        "include_log_monitor": False,
        "no_monitor": True,
        "dashboard_agent_listen_port": None,
        "temp_dir": folder,
    }
    if address:
        options |= {"gcs_address": address, "redis_address": address, "node_manager_port": 0}
    params = parameter.RayParams(**options)
    started: Any = node.Node(params, head=address is None, shutdown_at_exit=True, spawn_reaper=True)
    print(started.gcs_address, flush=True)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main(*sys.argv[1:])

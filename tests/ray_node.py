"""A Ray of several nodes on this machine's loopback, where `ray start` refuses a second node.

    RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=... python -m tests.ray_node FOLDER CPUS

Prints its address, then executes commands on its input (`add`, `kill NUMBER`) and answers each.
"""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from kneepoint.common.files import private_folder
from kneepoint.runs.cluster import Cluster, own_token
from tests.conftest import ROOT


@dataclass
class Nodes:
    """A Ray whose nodes can be killed; ends with its block.

    Args:
        cpus: of each node.
        environment: further variables.
        before: a command that changes its view of the machine.
    """

    cpus: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    before: tuple[str, ...] = ()
    count: int = 0

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        folder = self._stack.enter_context(private_folder("ray", Path("/tmp")))
        token = own_token()  # Ray reads its token once in a test's process
        self.environment = {
            **os.environ,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN_PATH": str(token),
            **self.environment,
        }
        self._process = subprocess.Popen(
            [*self.before, sys.executable, "-m", "tests.ray_node", folder / "ray", str(self.cpus)],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._stack.callback(self._end)
        self.address, self.count = self._answer(), 1
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def pid(self) -> int:
        """The process whose descendants are the nodes' processes."""
        return self._process.pid

    def add(self) -> None:
        """Starts another node."""
        self._ask("add")
        self.count += 1

    def kill(self, number: int) -> None:
        """Kills a node, the head being number 0, with all its processes."""
        self._ask(f"kill {number}")

    def _ask(self, text: str) -> None:
        print(text, file=self._process.stdin, flush=True)
        self._answer()

    def _answer(self) -> str:
        assert self._process.stdout is not None
        answer = self._process.stdout.readline().strip()
        assert answer, "the node did not start"
        return answer

    def _end(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


def main(folder: str, cpus: str) -> None:
    """Starts the head node, and executes commands."""
    mode = os.environ["RAY_AUTH_MODE"]
    os.environ.update(Cluster("127.0.0.1:0", os.environ["RAY_AUTH_TOKEN_PATH"]).environment())
    os.environ["RAY_AUTH_MODE"] = mode
    from ray import cluster_utils

    Path(folder, "ray").mkdir(parents=True)
    options: dict[str, Any] = {
        "num_cpus": int(cpus),
        "object_store_memory": 80 * 2**20,
        "node_ip_address": "127.0.0.1",
        "include_dashboard": False,
        "include_log_monitor": False,
        "temp_dir": folder,
    }
    os.environ["RAY_TMPDIR"] = folder  # Ray writes its address there
    cluster = cluster_utils.Cluster()
    nodes = [cluster.add_node(**options)]
    print(cluster.address, flush=True)
    for line in sys.stdin:
        what, _, number = line.partition(" ")
        if what.strip() == "add":
            nodes.append(cluster.add_node(**options))
        else:
            cluster.remove_node(nodes[int(number)], allow_graceful=False)
        print("done", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A real Slurm of the distribution's packages, on loopback: two nodes, no root, no accounting."""

import getpass
import importlib.util
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

NODES = ("first", "second")
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue")
_PLUGIN = "snakemake_executor_plugin_slurm"
_LIMIT_S = 60.0
_CONFIGURATION = """\
ClusterName=kneepoint
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SlurmdParameters=config_overrides
PartitionName=all Nodes=ALL Default=YES
"""
_NODE = """\
NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=16 RealMemory=64000
"""


def lacking() -> list[str]:
    """Returns the names of missing programs of Slurm, and of Snakemake's missing plugin."""
    plugin = [] if importlib.util.find_spec(_PLUGIN) else [_PLUGIN]
    return [name for name in _PROGRAMS if _path_of(name) is None] + plugin


class Slurm:
    """A controller and its nodes, which end with the block; commands need `environment`."""

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        self._daemons: list[subprocess.Popen[bytes]] = []
        self._stack.callback(self._end)
        self._configure()
        self.environment = {
            "SLURM_CONF": str(self._folder / "slurm.conf"),
            "PATH": f"{self._folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        }
        self._start_authentication()
        self._start("slurmctld", "-D")
        for node in NODES:
            self._start("slurmd", "-D", "-N", node)
        self._wait_until(lambda: self._run("sinfo", "-h", "-o", "%t %D").split() == ["idle", "2"])
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _configure(self) -> None:
        port, *ports = _free_ports(1 + len(NODES))
        text = _CONFIGURATION.format(
            host=socket.gethostname(), port=port, user=getpass.getuser(), folder=self._folder
        )
        for node, port in zip(NODES, ports, strict=True):
            text += _NODE.format(node=node, port=port)
        (self._folder / "slurm.conf").write_text(text)
        # The plugin hides SLURM_CONF from srun, because a real cluster has it in /etc.
        srun = self._folder / "bin" / "srun"
        srun.parent.mkdir()
        leading = f"SLURM_CONF={shlex.quote(str(self._folder / 'slurm.conf'))}"
        srun.write_text(f'#!/bin/sh\n{leading} exec {_path_of("srun")} "$@"\n')
        srun.chmod(0o755)
        (self._folder / "state").mkdir()

    def _start_authentication(self) -> None:
        key = self._folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(os.urandom(128))
        own = self._folder / "munge"
        files = [f"--{kind}-file={own}.{kind}" for kind in ("key", "log", "pid", "seed")]
        self._start("munged", "--foreground", "--force", *files, f"--socket={own}.socket")
        self._wait_until(own.with_suffix(".socket").exists)

    def _start(self, program: str, *arguments: str) -> None:
        path = _path_of(program)
        assert path is not None
        with (self._folder / f"{len(self._daemons)}.log").open("wb") as log:
            self._daemons.append(
                subprocess.Popen(
                    [path, *arguments],
                    env=os.environ | self.environment,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                )
            )

    def _run(self, *words: str) -> str:
        told = subprocess.run(
            words, env=os.environ | self.environment, capture_output=True, check=False, text=True
        )
        return told.stdout

    def _wait_until(self, is_so: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _LIMIT_S
        while not is_so():
            said = "".join(p.read_text(errors="replace") for p in self._folder.glob("*.log"))
            assert time.monotonic() < deadline, f"Slurm does not start:\n{said}"
            assert all(each.poll() is None for each in self._daemons), f"Slurm ended:\n{said}"
            time.sleep(0.05)

    def _end(self) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(_LIMIT_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()


def _path_of(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [
            stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        return [each.getsockname()[1] for each in sockets]

"""Our programs, forked for a test by a process that has imported what they need.

Started afresh, short programs would spend most of their time on imports. But forks share the seed
of Python's hashes, so a test that two processes say the same compares a fork with a fresh one.
"""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import IO

from common.fork_server import start_fork_server
from tests.conftest import ROOT

# What most calls of a module need.
IMPORTS = {
    "experiments.run": ("experiments.run", "search.study"),
    "kneepoint": ("kneepoint.compare", "kneepoint.run", "matplotlib.figure", "pandas"),
    "snakemake": (
        "numpy",
        "pyarrow",
        "requests",
        "snakemake.api",
        "snakemake.cli",
        "snakemake.report",
    ),
}


def run(
    module: str, *words: str | Path, cwd: Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Runs one of the modules in IMPORTS to its end in a folder, and returns what it said.

    Args:
        module: as `python -m` takes it.
        words: the module's command line.
        cwd: the folder, whose own modules come first.
        environment: variables beside our own.
    """
    told = json.dumps({**os.environ, **environment})
    asked = ["tests.elsewhere", str(cwd), told, module, *map(str, words)]
    request = "".join(f"{word}\0" for word in asked).encode(errors="surrogateescape")
    with (
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection,
    ):
        connection.connect(str(_server(module)))
        socket.send_fds(connection, [request], [output.fileno(), errors.fileno()])
        status = connection.recv(1)
        said = [_content(file) for file in (output, errors)]
    assert status, f"{asked[3:]} was killed; it said: {said}"
    return subprocess.CompletedProcess(asked[3:], status[0], *said)


def run_fresh(
    module: str, *words: str | Path, cwd: Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Does what `run` does, in a process with another seed of hashes."""
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )


@cache
def _server(module: str) -> Path:
    """Starts a server for a module, which ends with this process; returns its socket."""
    folder = Path(tempfile.mkdtemp(prefix="fork-"))  # in pytest's folder, its path would be long
    atexit.register(shutil.rmtree, folder)
    with chdir(ROOT):
        start_fork_server(IMPORTS[module], folder / "log", folder / "socket")
    return folder / "socket"


def _content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()

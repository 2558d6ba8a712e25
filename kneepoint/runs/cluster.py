"""The workflow's only Ray, held by a separate process that ends with its parent.

The Snakefile calls `start_cluster`, studies call `find_cluster` and `end_with_cluster`. Ray itself
starts when the first study asks for it, because a workflow may have nothing to run. The file then
gives its address.
"""

import argparse
import dataclasses
import json
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from kneepoint.common.errors import (
    KneepointError,
    end_with_error,
    run_command_line,
)
from kneepoint.common.files import (
    hold_lock,
    is_held,
    read_json,
    write_whole,
)
from kneepoint.common.interrupt import end_rest_of_session
from kneepoint.runs.ray_cluster import (
    RAY_POLL_S,
    Cluster,
    open_cluster,
)

_POLL_S = 0.2
_START_LIMIT_S = 120
_END_LIMIT_S = 30


def start_cluster(file: Path, cores: int, log: Path, address: str | None = None) -> None:
    """Starts the process in the background and returns at once; it ends with this process.

    Args:
        file: that it writes when Ray is ready.
        cores: workers, if it starts a Ray.
        log: its output.
        address: of a Ray to join instead, HOST:PORT.

    It has its own session: Ctrl-C is meant for the workflow, and studies may still need
    Ray while they end.
    """
    file.unlink(missing_ok=True)
    _wanted(file).unlink(missing_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        options = [f"--owner={os.getpid()}", f"--file={file}", f"--cores={cores}"]
        options += [f"--address={address}"] if address else []
        subprocess.Popen(
            [sys.executable, "-m", "kneepoint.runs.cluster", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def find_cluster(file: Path) -> Cluster:
    """Requests the cluster, and waits until it is ready.

    Raises:
        KneepointError: it ended or did not start.
    """
    _wanted(file).touch()
    deadline = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < deadline:
        state = _read(file)
        if "address" in state:
            return Cluster(**{each.name: state[each.name] for each in dataclasses.fields(Cluster)})
        if state and not is_held(_lock(file)):
            break
        time.sleep(_POLL_S / 4)
    raise KneepointError(
        f"{file}: Ray was not started ({_reason(file)}); see {file.with_name('logs')}/cluster.log"
    )


def serves_here(file: Path) -> bool:
    """Returns whether the cluster's process is out of reach, on another machine.

    A batch system may have brought the job elsewhere, where neither the process nor its lock is.
    """
    deadline = time.monotonic() + _START_LIMIT_S
    while "host" not in (state := _read(file)) and time.monotonic() < deadline:
        time.sleep(_POLL_S / 4)
    return bool(state.get("host", platform.node()) == platform.node())


def end_with_cluster(file: Path) -> None:
    """Ends this process when the cluster's process ends, with its workflow or with Ray.

    So no process of a killed workflow keeps a study's lock, and no study waits for a dead Ray.
    """

    def watch() -> None:
        while not file.exists():
            time.sleep(_POLL_S)
        while is_held(_lock(file)):
            time.sleep(_POLL_S)
        end_with_error(f"{_reason(file)}; run the command again: finished runs are kept")

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def own_cluster(cores: int, address: str | None) -> Iterator[Cluster]:
    """Provides a cluster for this process alone, which ends at once when Ray has ended."""
    closed = threading.Event()

    def watch() -> None:
        while not closed.wait(RAY_POLL_S):
            if dead := cluster.dead_part():
                end_with_error(f"{dead}; run the command again: finished runs are kept")

    with open_cluster(cores, address) as cluster:
        threading.Thread(target=watch, daemon=True).start()
        try:
            yield cluster
        finally:
            closed.set()


def _serve(owner: int, file: Path, cores: int, address: str | None) -> None:
    told_to_end = threading.Event()

    def is_wanted() -> bool:
        return os.getppid() == owner and not told_to_end.is_set()

    def end_when_told() -> None:
        signal.signal(signal.SIGTERM, lambda *_: told_to_end.set())

    end_when_told()
    with hold_lock(_lock(file), _END_LIMIT_S) as alive, ExitStack() as stack:
        known = {"pid": os.getpid(), "host": platform.node()}
        write_whole(file, json.dumps(known))
        while is_wanted() and not _wanted(file).exists():
            time.sleep(_POLL_S / 4)
        try:
            if is_wanted():
                cluster = stack.enter_context(open_cluster(cores, address))
                end_when_told()  # Ray has its own handler
        except Exception as error:
            write_whole(file, json.dumps({**known, "error": str(error).partition("\n")[0]}))
            raise
        if is_wanted():
            write_whole(file, json.dumps({**known, **dataclasses.asdict(cluster)}))
        reason = ""
        while is_wanted() and not reason:
            time.sleep(RAY_POLL_S)
            reason = cluster.dead_part()
        if reason:  # else the workflow has ended, and its folder may be gone
            write_whole(file, json.dumps({**known, "error": reason}))
        alive.close()  # studies end now; the next workflow need not wait for Ray
        if reason:
            end_rest_of_session()
    end_rest_of_session()  # helpers of Ray that are still running
    if reason:
        end_with_error(reason)  # a normal exit would shut Ray down first


def _lock(file: Path) -> Path:
    return file.with_suffix(".lock")


def _wanted(file: Path) -> Path:
    return file.with_suffix(".wanted")


def _reason(file: Path) -> str:
    """Returns why the process has ended."""
    return str(_read(file).get("error", "the workflow has ended"))


def _read(file: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = read_json(file)
    except FileNotFoundError:
        return {}
    return state


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--owner", type=int, required=True, help="process with which this one ends")
    parser.add_argument("--file", type=Path, required=True, help="written when Ray is ready")
    parser.add_argument("--cores", type=int, required=True, help="workers")
    parser.add_argument("--address", help="of a Ray to join, HOST:PORT; default: starts one")
    arguments = parser.parse_args()
    _serve(arguments.owner, arguments.file, arguments.cores, arguments.address)


if __name__ == "__main__":
    run_command_line(main)

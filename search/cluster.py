"""The one Ray of a workflow: a process of its own, which ends with the process that started it.

    python -m search.cluster --file build/cluster.json --cores 2

The Snakefile calls `start_cluster`, studies call `find_cluster` and `end_with_owner`. Ray itself
starts when the first study asks for it: many a workflow has nothing to run. The file says then
where it is.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from networks.files import write_whole
from search.errors import KneepointError, run_command_line
from search.executor import Cluster, own_ray

_POLL_S = 0.2
_START_LIMIT_S = 120


def start_cluster(file: Path, cores: int, log: Path) -> None:
    """Starts the process in the background and returns at once; it ends with this process.

    It belongs to a session of its own: a Ctrl-C is for the workflow, and studies may still want
    Ray while they end.
    """
    file.unlink(missing_ok=True)
    _wanted(file).unlink(missing_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        subprocess.Popen(
            [sys.executable, "-m", "search.cluster", f"--file={file}", f"--cores={cores}"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )


def find_cluster(file: Path) -> Cluster:
    """Asks for the cluster, and waits until it is ready.

    Raises:
        KneepointError: it ended, or does not begin.
    """
    _wanted(file).touch()
    deadline = time.monotonic() + _START_LIMIT_S
    while time.monotonic() < deadline:
        state = _read(file)
        if "address" in state:
            return Cluster(state["address"], tuple(state["workers"]))
        if "error" in state or ("pid" in state and not _is_alive(state["pid"])):
            raise KneepointError(
                f"{file}: Ray could not be started ({state.get('error', 'it ended')}); "
                "see logs/cluster.log"
            )
        time.sleep(_POLL_S / 4)
    raise KneepointError(f"{file}: no Ray after {_START_LIMIT_S} s; see logs/cluster.log")


def end_with_owner(file: Path) -> None:
    """Ends this process when the workflow of the cluster has ended without ending it.

    So a killed workflow leaves nothing behind that would hold the lock of a study.
    """
    owner: int | None = _read(file).get("owner")
    if owner is None:
        return

    def watch() -> None:
        while _is_alive(owner):
            time.sleep(_POLL_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _serve(file: Path, cores: int) -> None:
    owner = os.getppid()
    state: dict[str, Any] = {"pid": os.getpid(), "owner": owner}
    write_whole(file, json.dumps(state))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    while os.getppid() == owner:
        if _wanted(file).exists():
            try:
                with own_ray(cores) as cluster:
                    state |= {"address": cluster.address, "workers": cluster.workers}
                    write_whole(file, json.dumps(state))
                    while os.getppid() == owner:
                        time.sleep(_POLL_S)
            except Exception as error:
                write_whole(file, json.dumps({**state, "error": str(error).partition("\n")[0]}))
                raise
        time.sleep(_POLL_S / 4)
    file.unlink(missing_ok=True)


def _wanted(file: Path) -> Path:
    return file.with_suffix(".wanted")


def _read(file: Path) -> dict[str, Any]:
    try:
        state: dict[str, Any] = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    return state


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--file", type=Path, required=True, help="written when Ray is ready")
    parser.add_argument("--cores", type=int, required=True, help="workers")
    arguments = parser.parse_args()
    _serve(arguments.file, arguments.cores)


if __name__ == "__main__":
    run_command_line(main)

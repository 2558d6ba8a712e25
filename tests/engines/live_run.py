"""A real run while it goes on, seen from outside, and what is left of it afterwards."""

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from engines.mahimahi.engine import STATUS_FOLDER

PATIENCE_S = 60


@dataclass(frozen=True)
class LiveRun:
    """The process ids of a run by name, its folder and its status file."""

    supervisor: int
    processes: dict[str, list[int]]
    folder: Path
    status: Path

    def left_behind(self) -> list[str]:
        """Returns everything that the run had and that is still there."""
        pids = [self.supervisor, *(pid for some in self.processes.values() for pid in some)]
        left = [f"process {pid}" for pid in pids if lives(pid)]
        left += [str(path) for path in (self.folder, self.status) if path.exists()]
        devices = [path.name for path in Path("/sys/class/net").iterdir()]
        left += [name for name in devices if name.rpartition("-")[2] in map(str, pids)]
        return left + [rule for rule in _rules() if any(f"{pid:#x}" in rule for pid in pids)]


def observe(folder: Path, with_status: bool = False, other_than: LiveRun | None = None) -> LiveRun:
    """Waits for the run of an engine that works in `folder`, until its sender is there.

    Args:
        folder: of the engine's settings: no two tests have the same.
        with_status: waits for the run's status file, too.
        other_than: a run that is not meant.
    """
    found: list[LiveRun] = []

    def is_complete() -> bool:
        pids = [p for p in _supervisors(folder) if not other_than or p != other_than.supervisor]
        found[:] = [run for pid in pids if (run := _look(pid, folder))]
        return bool(found) and (found[0].status.is_file() or not with_status)

    wait_until(is_complete)
    return found[0]


def wait_until(condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Waits for what must happen; the limit is for a test that would wait for ever."""
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def nothing_is_left(run: LiveRun, patience_s: float = PATIENCE_S) -> None:
    """Waits until nothing is left of a run; fails with what is."""
    deadline = time.monotonic() + patience_s
    while (left := run.left_behind()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left, left


def descendants(pid: int) -> dict[int, str]:
    """Returns the names of all processes that a process has started, by process id."""
    found = {}
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                found[child.pid] = child.name()
    return found


def lives(pid: int) -> bool:
    """Whether there is such a process, and it is no zombie."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False


def status_of(pid: int) -> dict[str, str]:
    """What the kernel says of a process: /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _look(supervisor: int, folder: Path) -> LiveRun | None:
    processes: dict[str, list[int]] = {}
    for pid, name in descendants(supervisor).items():
        processes.setdefault(name, []).append(pid)
    if "sender" not in processes:
        return None
    work = Path(psutil.Process(processes["receiver"][0]).cwd())
    statuses = list((folder / STATUS_FOLDER).glob("*.json"))
    status = statuses[0] if statuses else folder / STATUS_FOLDER / "none"
    return LiveRun(supervisor, processes, work.parent, status)


def _supervisors(folder: Path) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "cwd"])
        if "engines.mahimahi.supervisor" in (process.info["cmdline"] or ())
        and process.info["cwd"] == str(folder)
    ]


def _rules() -> list[str]:
    if os.geteuid() != 0:
        return []
    listing = ["iptables", "-w", "-t", "nat", "-S"]
    return subprocess.run(listing, capture_output=True, text=True, check=True).stdout.splitlines()

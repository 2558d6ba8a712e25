"""A real run in progress, seen from outside, and its remains afterwards."""

import os
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

PATIENCE_S = 60


@dataclass(frozen=True)
class LiveRun:
    """The process ids of a run by name, and its folder."""

    supervisor: int
    processes: dict[str, list[int]]
    folder: Path

    def left_behind(self) -> list[str]:
        """Returns the remains: processes, the folder, network devices, firewall rules."""
        pids = [self.supervisor, *(pid for some in self.processes.values() for pid in some)]
        left = [f"process {pid}" for pid in pids if lives(pid)]
        left += [str(self.folder)] if self.folder.exists() else []
        devices = [path.name for path in Path("/sys/class/net").iterdir()]
        left += [name for name in devices if name.rpartition("-")[2] in map(str, pids)]
        return left + [rule for rule in _rules() if any(f"{pid:#x}" in rule for pid in pids)]


def observe(folder: Path) -> LiveRun:
    """Waits for the run of an engine that works in `folder` until packets have left its link.

    Args:
        folder: of the engine's settings, different in every test.
    """
    found: list[LiveRun] = []

    def is_under_way() -> bool:
        found[:] = [run for pid in _supervisors(folder) if (run := _look(pid))]
        with suppress(FileNotFoundError):
            return bool(found) and " - " in (found[0].folder / "work/uplink.log").read_text()
        return False

    wait_until(is_under_way)
    return found[0]


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, up to a time limit."""
    deadline = time.monotonic() + 5 * PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.05)


def nothing_is_left(run: LiveRun, patience_s: float = PATIENCE_S) -> None:
    """Waits until nothing is left of a run; fails with a list of the remains."""
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
    """Returns whether a process exists and is no zombie."""
    with suppress(psutil.NoSuchProcess):
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    return False


def status_of(pid: int) -> dict[str, str]:
    """Returns the fields of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _look(supervisor: int) -> LiveRun | None:
    processes: dict[str, list[int]] = {}
    for pid, name in descendants(supervisor).items():
        processes.setdefault(name, []).append(pid)
    if "sender" not in processes:
        return None
    work = Path(psutil.Process(processes["receiver"][0]).cwd())
    return LiveRun(supervisor, processes, work.parent)


def _supervisors(folder: Path) -> list[int]:
    return [
        process.pid
        for process in psutil.process_iter(["cmdline", "cwd"])
        if "kneepoint.engines.mahimahi.supervisor" in (process.info["cmdline"] or ())
        and process.info["cwd"] == str(folder)
    ]


def _rules() -> list[str]:
    if os.geteuid() != 0:
        return []
    listing = ["iptables", "-w", "-t", "nat", "-S"]
    return subprocess.run(listing, capture_output=True, text=True, check=True).stdout.splitlines()

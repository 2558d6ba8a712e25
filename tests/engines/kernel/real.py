"""The kernel's rig for tests, where it works, and what is left of a run."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from common.errors import KneepointError
from engines.kernel.diagnosis import diagnose
from engines.kernel.engine import KernelSettings
from tests.conftest import ROOT

PATIENCE_S = 20


def kernel_engine(build: Path = ROOT / "build") -> KernelSettings:
    """Returns the engine, or skips the test, loudly."""
    try:
        diagnose()
    except KneepointError as error:
        pytest.skip(f"NOT TESTED on the kernel's own TCP: {error}")
    return KernelSettings.of(build)


def descendants(pid: int) -> dict[int, str]:
    """Returns the names of all processes that a process has started, by process id."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").iterdir():
        if path.name.isdecimal() and (fields := _fields(int(path.name))):
            parents.setdefault(int(fields[1]), []).append(int(path.name))
    found: dict[int, str] = {}
    waiting = list(parents.get(pid, []))
    while waiting:
        child = waiting.pop()
        waiting += parents.get(child, [])
        found[child] = _name(child)
    return found


def lives(pid: int) -> bool:
    """Whether there is such a process, and it is no zombie."""
    fields = _fields(pid)
    return bool(fields) and fields[0] != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    """Waits for what must happen; the limit is for a test that would wait for ever."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def _fields(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (OSError, ProcessLookupError):
        return []


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except (OSError, ProcessLookupError):
        return ""

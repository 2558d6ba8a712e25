"""Ends an interrupted workflow with all its processes and one message."""

import logging
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_POLL_S = 0.05
_PATIENCE_S = 15.0
"""Time limit for jobs and the cluster to end (s)."""


def end_on_signals(temporary: Path) -> None:
    """Makes this process end cleanly on signals that end processes; those ignored stay so (nohup).

    Its jobs must ignore SIGINT: Ctrl-C reaches them, too, and each would print an error.

    Args:
        temporary: folder to remove in the end.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, partial(_end, temporary))


def _end(temporary: Path, number: int, _: object) -> None:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    logging.disable()  # silences Snakemake's message for every ended job
    deadline = time.monotonic() + _PATIENCE_S
    signalled: set[int] = set()
    while (running := _started_by(os.getpid())) and time.monotonic() < deadline:
        for pid in running - signalled:
            _send(pid, signal.SIGTERM)
        signalled |= running
        time.sleep(_POLL_S)
    for process in _processes():
        if process.pid in running and process.session == os.getsid(0):  # the cluster still ends
            _send(process.pid, signal.SIGKILL)
    shutil.rmtree(temporary, ignore_errors=True)
    message = "error: interrupted; run the same command again: finished runs are kept"
    print(message, file=sys.stderr, flush=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def end_rest_of_session() -> None:
    """Kills all other processes of this session, which is this process's own."""
    for process in _processes():
        if process.session == os.getpid() != process.pid:
            _send(process.pid, signal.SIGKILL)


@dataclass(frozen=True)
class _Process:
    pid: int
    parent: int
    session: int


def _processes() -> list[_Process]:
    """The processes that have not ended."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):  # it has just ended
            state, parent, _, session, *_ = path.read_text().rpartition(")")[2].split()
            if state != "Z":
                found.append(_Process(int(path.parent.name), int(parent), int(session)))
    return found


def _started_by(starter: int) -> set[int]:
    """The children of a process, and their descendants in its session."""
    children: dict[int, list[_Process]] = {}
    for process in _processes():
        children.setdefault(process.parent, []).append(process)
    found: set[int] = set()
    waiting = [starter]
    while waiting:
        for child in children.get(waiting.pop(), []):
            found.add(child.pid)
            if child.session == os.getsid(0):
                waiting.append(child.pid)
    return found


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)

"""Ends an interrupted workflow with all its processes and one message."""

import logging
import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from pathlib import Path

import psutil

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)
_POLL_S = 0.05
_PATIENCE_S = 15.0
"""Time limit for jobs and the cluster to end (s)."""


def end_on_signals(temporary: Path) -> None:
    """Ends this process and its jobs on signals, and removes the folder `temporary`.

    Ignored signals stay ignored (nohup). Jobs must ignore SIGINT: Ctrl-C reaches them, too, and
    each would print an error.
    """
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, partial(_end, temporary))


def _end(temporary: Path, number: int, _: object) -> None:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    logging.disable()  # silences Snakemake's message for every ended job
    deadline_s = time.monotonic() + _PATIENCE_S
    signalled: set[psutil.Process] = set()
    while (running := _running()) and time.monotonic() < deadline_s:
        for process in running - signalled:
            _send(process.pid, signal.SIGTERM)
        signalled |= running
        time.sleep(_POLL_S)
    for process in running:
        if _session_of(process.pid) == os.getsid(0):  # the cluster still ends
            _send(process.pid, signal.SIGKILL)
    shutil.rmtree(temporary, ignore_errors=True)
    message = "error: interrupted; run the same command again: finished runs are kept"
    print(message, file=sys.stderr, flush=True)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _running() -> set[psutil.Process]:
    """Returns the descendants of this process whose parents are in its session."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            is_ours = _session_of(process.ppid()) == os.getsid(0)
            if is_ours and process.status() != psutil.STATUS_ZOMBIE:
                found.add(process)
    return found


def _session_of(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return os.getsid(pid)
    return None


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)

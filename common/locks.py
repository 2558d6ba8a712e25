"""Locks whose previous holder may need a moment to end, and that of the workflow."""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from common.errors import KneepointError
from common.files import hold_lock

WORKFLOW_LOCK = Path(".snakemake/kneepoint.lock")
"""The kernel releases it however the workflow ends."""
PASSED_LOCK = "KNEEPOINT_LOCK"
"""Environment variable with the descriptor of that lock, held by who started this process."""


def hold_workflow_lock() -> TextIO:
    """Takes the workflow's lock, or over from who started this process.

    Raises:
        KneepointError: another workflow is running here.
    """
    with suppress(ValueError, OSError):  # nobody passed it
        descriptor = int(os.environ.pop(PASSED_LOCK, ""))
        if os.path.samestat(os.fstat(descriptor), WORKFLOW_LOCK.stat()):
            os.set_inheritable(descriptor, False)
            return os.fdopen(descriptor, "a+")
    return hold_lock(WORKFLOW_LOCK)


def hold_lock_patiently(path: Path, patience_s: float = 5) -> TextIO:
    """Takes the lock as `hold_lock` does, but waits up to `patience_s` for its holder to end.

    The processes of a killed workflow end within the default.

    Raises:
        KneepointError: another process still holds it.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return hold_lock(path)
        except KneepointError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.05)

"""The lock of the workflow, which the command passes on to Snakemake."""

import os
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from kneepoint.common.files import hold_lock

WORKFLOW_LOCK = Path(".snakemake/kneepoint.lock")
"""The lock's file; the kernel releases the lock at the end of the workflow, for any reason."""
PASSED_LOCK = "KNEEPOINT_LOCK"
"""Environment variable with the lock's descriptor, inherited from the parent process."""


def hold_workflow_lock() -> TextIO:
    """Takes the workflow's lock, or inherits it from the parent process (see hold_lock)."""
    with suppress(ValueError, OSError):  # no lock was passed on
        descriptor = int(os.environ.pop(PASSED_LOCK, ""))
        if os.path.samestat(os.fstat(descriptor), WORKFLOW_LOCK.stat()):
            os.set_inheritable(descriptor, False)
            return os.fdopen(descriptor, "a+")
    return hold_lock(WORKFLOW_LOCK)

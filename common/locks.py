"""Locks whose previous holder may need a moment to end."""

import time
from pathlib import Path
from typing import TextIO

from common.errors import KneepointError
from common.files import hold_lock


def hold_lock_patiently(path: Path, patience_s: float) -> TextIO:
    """Takes the lock as `hold_lock` does, but waits up to `patience_s` for its holder to end.

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

"""Folders that all processes of a session share."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kneepoint.common.files import hold_lock


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Returns the session's folder of temporary files: with xdist, above the processes' own."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """Returns a folder of the session, filled by the first process that asks for it."""
    folder = shared_folder(factory) / name
    done = folder.with_name(f"{name}.done")
    with hold_lock(folder.with_name(f"{name}.lock"), math.inf):
        if not done.exists():
            folder.mkdir(exist_ok=True)
            make(folder)
            done.touch()
    return folder

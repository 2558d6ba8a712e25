"""Our programs, as a user starts them."""

import os
import subprocess
import sys
from pathlib import Path


def run_module(
    module: str, *words: str | Path, cwd: Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Runs `python -m MODULE WORDS...` to its end in a folder, and returns what it printed.

    Args:
        module: as `python -m` takes it.
        words: the module's command line.
        cwd: the folder, whose own modules come first.
        environment: variables beside our own.
    """
    return subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
    )

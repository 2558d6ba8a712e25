"""Starts our programs as a user does."""

import io
import os
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from kneepoint.cli import main


def run_module(
    module: str, *words: str | Path, cwd: Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Runs `python -m MODULE WORDS...` in a folder to its end, and returns its output.

    Args:
        module: its full name.
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


def run_kneepoint(
    *words: str | Path, cwd: Path, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Runs `kneepoint WORDS...` in a folder, in this process, and returns its output."""
    out, err = io.StringIO(), io.StringIO()
    arguments = list(map(str, words))
    status = 0
    with (
        chdir(cwd),
        patch.dict(os.environ, environment),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main(arguments)
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())

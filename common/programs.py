"""Runs system programs and extracts their error messages."""

import os
import shutil
import subprocess
from pathlib import Path

from common.errors import KneepointError

_TIME_LIMIT_S = 300
_ERROR_PREFIXES = ("E: ", "W: Failed to fetch", "dpkg-deb: error:", "fatal: ", "error: ")


def require_program(tool: str, remedy: str) -> None:
    """Raises KneepointError unless the program is on the PATH."""
    if shutil.which(tool) is None:
        raise KneepointError(f"the program {tool} is missing; {remedy}")


def run_program(command: list[str], work: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command in `work`, in English, non-interactively, within the time limit."""
    environment = os.environ | {"LC_ALL": "C.UTF-8", "GIT_TERMINAL_PROMPT": "0"}
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):  # set while a git hook runs
        environment.pop(name, None)
    try:
        return subprocess.run(
            command,
            cwd=work,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise KneepointError(
            f"{command[0]} did not finish within {_TIME_LIMIT_S} s; check the network"
        ) from None


def complaint(*results: subprocess.CompletedProcess[str]) -> str:
    """Returns the first error that the commands printed, or else their last line."""
    lines = [line.strip() for result in results for line in result.stderr.splitlines()]
    errors = [line for line in lines if line.startswith(_ERROR_PREFIXES)]
    return next(iter(errors or lines[-1:]), f"exit status {results[-1].returncode}")

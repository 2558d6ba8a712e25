"""Runs system programs and extracts their error messages."""

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import BinaryIO

from kneepoint.common.errors import KneepointError, of_file, of_signal

_TIME_LIMIT_S = 300
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    "GIT_TERMINAL_PROMPT": "0",
    "DEBIAN_FRONTEND": "noninteractive",
    "NEEDRESTART_SUSPEND": "1",
}
_SBIN = ":/usr/sbin:/usr/bin:/sbin:/bin"  # `su` without a dash leaves these out
_ERROR_PREFIXES = ("E: ", "W: Failed to fetch", "dpkg-deb: error:", "fatal: ", "error: ")


def find_program(name: str, remedy: str, search_path: str | None = None) -> Path:
    """Returns a program's path in `search_path` (None: $PATH); raises KneepointError without it."""
    found = shutil.which(name, path=search_path)
    if found is None:
        raise KneepointError(f"the program {name} is missing; {remedy}")
    return Path(found)


def run_program(
    command: list[str], work: Path, limit_s: float | None = _TIME_LIMIT_S
) -> subprocess.CompletedProcess[str]:
    """Runs a command in the folder `work`, in English, non-interactively, within a time limit."""
    environment = os.environ | _ENVIRONMENT
    environment["PATH"] = os.environ.get("PATH", os.defpath) + _SBIN
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
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise KneepointError(
            f"{command[0]} did not finish within {limit_s} s; check the network"
        ) from None


def run_built(
    program: Path, *arguments: str, content: bytes | BinaryIO = b""
) -> tuple[bytes, int, str]:
    """Runs a program of build/; returns its output, its exit status and its error message.

    `content` is its standard input; a stream is passed on in constant memory.
    """
    stream = io.BytesIO(content) if isinstance(content, bytes) else content
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as complained:
        try:
            process = subprocess.Popen(
                [program, *arguments], stdin=subprocess.PIPE, stdout=printed, stderr=complained
            )
        except OSError as error:
            remedy = "build it first: make build"
            raise KneepointError(f"{program}: {error.strerror}; {remedy}") from None
        with process:
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:  # it may end early
                shutil.copyfileobj(stream, pipe, 1 << 20)
        printed.seek(0)
        complained.seek(0)
        errors = complained.read().decode(errors="replace").strip().removeprefix("error: ")
        if not errors and process.returncode != 0:
            errors = _unsaid(process.returncode, complained)
        return printed.read(), process.returncode, errors


def _unsaid(status: int, complained: BinaryIO) -> str:
    """Returns the reason of a failure without a message: a signal, or a full disk."""
    if status < 0:
        return of_signal(-status)
    try:
        complained.write(bytes(1 << 16))
        complained.flush()
    except OSError as error:
        return f"{tempfile.gettempdir()}: {of_file(error) or error}"
    return f"exit status {status}"


def complaint(*results: subprocess.CompletedProcess[str]) -> str:
    """Returns the first error that the commands printed, otherwise their last line."""
    lines = [line.strip() for result in results for line in result.stderr.splitlines()]
    errors = [line for line in lines if line.startswith(_ERROR_PREFIXES)]
    return next(iter(errors or lines[-1:]), f"exit status {results[-1].returncode}")

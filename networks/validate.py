"""Validates trace files with build/check_trace, the only implementation of their rules."""

import subprocess
from pathlib import Path

from common.errors import KneepointError

_CHECK_TRACE = Path("build/check_trace")


class InvalidTraceError(KneepointError):
    """A file that is not a trace."""


def parse_trace(content: bytes, name: str) -> list[int]:
    """Returns the delivery opportunities of a trace: non-decreasing ms, the last not 0.

    Args:
        content: content of the trace file.
        name: name of the trace in messages.

    Raises:
        InvalidTraceError: the trace is invalid; the message names the trace and the line.
        KneepointError: the program is missing.
    """
    try:
        result = subprocess.run(
            [_CHECK_TRACE, name], input=content, capture_output=True, check=False
        )
    except OSError as error:
        raise KneepointError(
            f"{_CHECK_TRACE}: {error.strerror}; build it first: make build"
        ) from None
    if result.returncode != 0:
        complaint = result.stderr.decode(errors="replace").strip().removeprefix("error: ")
        raise InvalidTraceError(complaint or f"{_CHECK_TRACE}: exit status {result.returncode}")
    return list(map(int, content.split()))


def read_trace(path: Path) -> list[int]:
    """Reads and validates a trace file; returns its opportunities (ms).

    Raises:
        KneepointError: the file is unreadable or invalid.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise KneepointError(
            f"trace {path} cannot be read: {error.strerror}; check the path"
        ) from None
    return parse_trace(content, str(path))


def format_trace(times_ms: list[int]) -> bytes:
    """Returns the content of a trace file with these opportunities (ms)."""
    return "".join(f"{time_ms}\n" for time_ms in times_ms).encode()

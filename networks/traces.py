"""Traces: their files, which build/check_trace validates, and those of constant rates."""

from fractions import Fraction
from pathlib import Path

from common.errors import KneepointError
from common.programs import run_built

OPPORTUNITY_BYTES = 1504
MOST_OPPORTUNITIES = 1_000_000
_CHECK_TRACE = Path("build/check_trace")
"""The only implementation of the rules of trace files."""


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
    _, status, complaint = run_built(_CHECK_TRACE, name, content=content)
    if status != 0:
        raise InvalidTraceError(complaint or f"{_CHECK_TRACE}: exit status {status}")
    return times_of(content)


def times_of(content: bytes) -> list[int]:
    """Returns the opportunities (ms) of a trace that is known to be valid."""
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


def constant_rate_trace(rate_mbps: float) -> list[int]:
    """Returns the opportunities (ms) in one period of a constant rate.

    Opportunity k is due at k * 1504 bytes / rate, rounded up to a whole millisecond. The period is
    the shortest whole number of milliseconds that repeats exactly.

    Raises:
        KneepointError: the period has too many opportunities.
    """
    rate_bytes_per_ms = Fraction(repr(rate_mbps)) * 1000 / 8
    spacing_ms = OPPORTUNITY_BYTES / rate_bytes_per_ms
    period_ms, opportunities = spacing_ms.numerator, spacing_ms.denominator
    if opportunities > MOST_OPPORTUNITIES:
        raise KneepointError(
            f"constant_mbps: {rate_mbps!r} needs a trace of {opportunities} lines; "
            "give the rate with fewer digits"
        )
    return [-(-k * period_ms // opportunities) for k in range(1, opportunities + 1)]

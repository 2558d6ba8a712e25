"""Traces: their files, which build/check_trace validates, and those of constant rates."""

import math
from collections.abc import Mapping
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


def changing_rate_trace(rates_mbps: Mapping[float, float], duration_s: float) -> list[int]:
    """Returns the opportunities (ms) of a run over a link whose rate changes.

    Each is due when 1504 bytes have become possible since the last, rounded up to a whole
    millisecond. One more, beyond the end of the run, keeps the trace from repeating within it.

    Args:
        rates_mbps: rates by the times (s) at which they begin, in order, the first 0.
        duration_s: of the run.

    Raises:
        KneepointError: there are too many opportunities.
    """
    begins = [1000 * Fraction(repr(at_s)) for at_s in rates_mbps]
    times_ms: list[int] = []
    possible = Fraction(0)  # since the last opportunity, in bytes
    ends = [*begins[1:], 1000 * Fraction(repr(duration_s))]
    for begin, end, mbps in zip(begins, ends, rates_mbps.values(), strict=True):
        rate = Fraction(repr(mbps)) * 1000 / 8  # bytes per ms
        became = possible + rate * (end - begin)
        count = became // OPPORTUNITY_BYTES
        if len(times_ms) + count > MOST_OPPORTUNITIES:
            raise KneepointError(
                f"changes: {mbps:g} Mbit/s until {float(end) / 1000:g} s need a trace of more than "
                f"{MOST_OPPORTUNITIES} lines; lower the rate or duration_s"
            )
        times_ms += [
            math.ceil(begin + (k * OPPORTUNITY_BYTES - possible) / rate)
            for k in range(1, int(count) + 1)
        ]
        possible = became - count * OPPORTUNITY_BYTES
    return [*times_ms, math.ceil(ends[-1]) + 1]

"""Traces: files, which build/check_trace validates, and traces of given rates."""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import read_bytes
from kneepoint.common.places import BUILT
from kneepoint.common.programs import run_built

OPPORTUNITY_BYTES = 1504
OPPORTUNITY_BITS = 8 * OPPORTUNITY_BYTES
MAX_OPPORTUNITIES = 10_000_000  # as of controllers/links/trace.hh
_CHECK_TRACE = BUILT / "check_trace"
"""The only implementation of the rules of trace files."""


class InvalidTraceError(KneepointError):
    """A file that is not a trace."""


def parse_trace(content: bytes, name: str) -> list[int]:
    """Returns the delivery opportunities of a trace: non-decreasing ms, the last not 0.

    Raises InvalidTraceError, which names the trace `name` and the line.
    """
    _, status, complaint = run_built(_CHECK_TRACE, name, content=content)
    if status != 0:
        raise InvalidTraceError(complaint or f"{_CHECK_TRACE}: exit status {status}")
    return times_of(content)


def part_of_trace(content: BinaryIO, name: str, start_ms: int, end_ms: int) -> bytes:
    """Returns the opportunities in (start_ms, end_ms] of a trace of any length, shifted to 0.

    Raises:
        InvalidTraceError: the content is not a trace, or the part is empty.
    """
    words = (name, str(start_ms), str(end_ms))
    part, status, complaint = run_built(_CHECK_TRACE, *words, content=content)
    if status != 0:
        raise InvalidTraceError(complaint or f"{_CHECK_TRACE}: exit status {status}")
    return part


def times_of(content: bytes) -> list[int]:
    """Returns the opportunities (ms) of a valid trace."""
    return list(map(int, content.split()))


def read_trace(path: Path) -> list[int]:
    """Reads and validates a trace file; returns its opportunities (ms)."""
    return parse_trace(read_bytes(path), str(path))


def format_trace(times_ms: list[int]) -> bytes:
    """Returns the content of a trace file with these opportunities (ms)."""
    return "".join(f"{time_ms}\n" for time_ms in times_ms).encode()


def constant_rate_trace(rate_mbps: float) -> list[int]:
    """Returns the opportunities (ms) in one period of a constant rate.

    Opportunity k is due at k * 1504 bytes / rate, rounded up to a whole millisecond. The period is
    the shortest whole number of milliseconds that repeats exactly.
    """
    rate_bytes_per_ms = Fraction(repr(rate_mbps)) * 1000 / 8
    spacing_ms = OPPORTUNITY_BYTES / rate_bytes_per_ms
    period_ms, opportunities = spacing_ms.numerator, spacing_ms.denominator
    if opportunities > MAX_OPPORTUNITIES:
        raise KneepointError(
            f"constant_mbps: {rate_mbps!r} needs a trace of {opportunities} lines; "
            "give the rate with fewer digits"
        )
    return [-(-k * period_ms // opportunities) for k in range(1, opportunities + 1)]


def trace_of_rates(steps: Iterable[tuple[Fraction, Fraction]]) -> list[int]:
    """Returns the opportunities (ms) of a step function of rate: (duration in ms, rate in Mbit/s).

    Opportunity k is due once the link could have carried k * 1504 bytes, rounded up to whole
    milliseconds.
    """
    steps = [*steps]
    _refuse_long(steps)
    times_ms: list[int] = []
    start_ms, passed = Fraction(0), Fraction(0)  # in bits
    for lasts_ms, rate_mbps in steps:
        bits_per_ms = rate_mbps * 1000
        after = passed + bits_per_ms * lasts_ms
        # Opportunity k is due at (begun + k * OPPORTUNITY_BITS) / bits_per_ms.
        begun, (bits, ms) = start_ms * bits_per_ms - passed, bits_per_ms.as_integer_ratio()
        first, each = begun.numerator * ms, begun.denominator * OPPORTUNITY_BITS * ms
        whole = begun.denominator * bits
        numbers = range(int(passed // OPPORTUNITY_BITS) + 1, int(after // OPPORTUNITY_BITS) + 1)
        times_ms += [-(-(first + k * each) // whole) for k in numbers]
        start_ms, passed = start_ms + lasts_ms, after
    return times_ms


def _refuse_long(steps: Iterable[tuple[Fraction, Fraction]]) -> None:
    """Refuses rates whose trace would have too many opportunities, before any is computed."""
    end_ms, bits = Fraction(0), Fraction(0)
    for lasts_ms, rate_mbps in steps:
        end_ms, bits = end_ms + lasts_ms, bits + rate_mbps * 1000 * lasts_ms
        if bits // OPPORTUNITY_BITS > MAX_OPPORTUNITIES:
            raise KneepointError(
                f"{float(rate_mbps):g} Mbit/s until {float(end_ms) / 1000:g} s need a trace of "
                f"more than {MAX_OPPORTUNITIES} lines; lower the rate or the time, or check units"
            )


def changing_rate_trace(rates_mbps: Mapping[float, float], duration_s: float) -> list[int]:
    """Returns the opportunities (ms) of a run, given rates (Mbit/s) by their start times (s).

    A last opportunity beyond the end of the run keeps the trace from wrapping around within it.
    """
    times_ms = [1000 * Fraction(repr(time_s)) for time_s in (*rates_mbps, duration_s)]
    lasts_ms = (after - before for before, after in pairwise(times_ms))
    rates = (Fraction(repr(mbps)) for mbps in rates_mbps.values())
    return [*trace_of_rates(zip(lasts_ms, rates, strict=True)), math.ceil(times_ms[-1]) + 1]

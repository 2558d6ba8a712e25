"""Traces of a constant rate."""

from fractions import Fraction

from common.errors import KneepointError

OPPORTUNITY_BYTES = 1504
_MOST_OPPORTUNITIES = 1_000_000


def constant_rate_trace(rate_mbps: float) -> list[int]:
    """Returns one period of a constant rate: the times of its opportunities (ms).

    Opportunity k is due at k * 1504 bytes / rate; it stands at the next whole millisecond. The
    period is the shortest that is a whole number of milliseconds, so that its repetition is exact.

    Raises:
        KneepointError: the period is too long to write.
    """
    rate_bytes_per_ms = Fraction(repr(rate_mbps)) * 1000 / 8
    spacing_ms = OPPORTUNITY_BYTES / rate_bytes_per_ms
    period_ms, opportunities = spacing_ms.numerator, spacing_ms.denominator
    if opportunities > _MOST_OPPORTUNITIES:
        raise KneepointError(
            f"constant_mbps: {rate_mbps!r} takes {opportunities} lines to write exactly; "
            "give the rate with fewer digits"
        )
    return [-(-k * period_ms // opportunities) for k in range(1, opportunities + 1)]

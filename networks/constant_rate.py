"""Constant-rate traces."""

from fractions import Fraction

from common.errors import KneepointError

OPPORTUNITY_BYTES = 1504
MOST_OPPORTUNITIES = 1_000_000


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

"""The omniscient bound: the metrics of a sender that knows the trace in advance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kneepoint.common.errors import KneepointError
from kneepoint.networks.traces import OPPORTUNITY_BYTES


@dataclass(frozen=True)
class Bound:
    """The omniscient bound: capacity (Mbit/s), delay (ms) and power (Mbit/s per second)."""

    capacity_mbps: float
    signal_delay_p95_ms: int
    power: float


def omniscient_bound(uplink_ms: Sequence[int], end_ms: int, repeats: bool = False) -> Bound:
    """Computes the metrics of a sender that knows the trace in advance.

    One datagram per delivery opportunity arrives at the uplink just in time: in the preceding
    millisecond, because a packet departs strictly later than the millisecond in which it arrives.
    The sender thus uses every opportunity, no packet waits longer than 1 ms, and only the gaps of
    the trace delay the signal: its age in millisecond t is the time to the first opportunity after
    t. The 95th percentile is element floor(0.95 n) of the n sorted ages from the first arrival to
    the last, as for a run. The capacity counts every opportunity from the start of the run to the
    last opportunity. The bound excludes the propagation delay and the ACKs' return path.

    Args:
        uplink_ms: non-decreasing opportunities of the trace (ms).
        end_ms: end of the run (ms); later opportunities do not count.
        repeats: whether the trace wraps around, as in a run with a duration.

    Raises:
        KneepointError: the run ends before the first usable opportunity.
    """
    laps_ms = range(0, end_ms + 1, uplink_ms[-1]) if repeats else [0]
    times_ms = [lap + each for lap in laps_ms for each in uplink_ms if lap + each <= end_ms]
    usable_ms = sorted({time_ms for time_ms in times_ms if time_ms > 0})
    if not usable_ms:
        raise KneepointError(
            f"the run ends at {end_ms} ms, before the uplink can deliver a packet; "
            "choose another part of the trace or a longer duration_s"
        )
    gaps_ms = (after - before for before, after in pairwise(usable_ms))
    ages_ms = sorted([1, *(age for gap in gaps_ms for age in range(1, gap + 1))])
    signal_delay_ms = ages_ms[int(0.95 * len(ages_ms))]
    capacity_mbps = len(times_ms) * OPPORTUNITY_BYTES * 8 / (usable_ms[-1] * 1000)
    return Bound(capacity_mbps, signal_delay_ms, capacity_mbps / (signal_delay_ms / 1000))


def bound_of_traces(
    uplink_ms: Sequence[int], downlink_ms: Sequence[int], duration_s: float | None
) -> Bound:
    """Returns the bound of a run of `duration_s`; None: of one pass of the shorter trace.

    Raises:
        KneepointError: see `omniscient_bound`.
    """
    if duration_s is not None:
        return omniscient_bound(uplink_ms, round(duration_s * 1000), repeats=True)
    return omniscient_bound(uplink_ms, min(uplink_ms[-1], downlink_ms[-1]))


def bound_of_rate(rate_mbps: float) -> Bound:
    """Returns the bound of a link of constant rate: each packet waits for its own transmission.

    The delay is rounded up to whole milliseconds, the resolution of traces.
    """
    delay_ms = math.ceil(OPPORTUNITY_BYTES * 8 / rate_mbps / 1000)
    return Bound(rate_mbps, delay_ms, rate_mbps / (delay_ms / 1000))

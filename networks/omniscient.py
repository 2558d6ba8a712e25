"""The omniscient bound: what a sender that knows the trace in advance would achieve."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from common.errors import KneepointError, unusable
from common.files import read_json
from networks.traces import OPPORTUNITY_BYTES


@dataclass(frozen=True)
class Bound:
    """The omniscient bound: capacity (Mbit/s), delay (ms) and power (Mbit/s per second)."""

    capacity_mbps: float
    signal_delay_p95_ms: int
    power: float

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads the bound of a prepared network from its network.json.

        Raises:
            KneepointError: the file is missing, damaged, or predates the bound.
        """
        try:
            return cls(**read_json(path)["omniscient"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise unusable(path, f"it has no omniscient bound: {error!r}") from None


def omniscient_bound(uplink_ms: Sequence[int], end_ms: int, repeats: bool = False) -> Bound:
    """Computes the metrics of a sender that knows the trace in advance.

    One datagram per delivery opportunity arrives at the uplink just in time: in the preceding
    millisecond, because a packet departs strictly later than the millisecond in which it arrives.
    The sender thus uses every opportunity, no packet waits longer than 1 ms, and only the gaps of
    the trace delay the signal: its age in millisecond t is the time to the first opportunity after
    t. The 95th percentile is element floor(0.95 n) of the n sorted ages from the first arrival to
    the last, as for a run. The capacity counts every opportunity from the start of the run to the
    last one. The bound excludes the propagation delay and the return path of the ACKs.

    Args:
        uplink_ms: non-decreasing opportunities of the trace (ms).
        end_ms: end of the run (ms); later opportunities do not count.
        repeats: whether the trace wraps around, as in a run with a duration.

    Raises:
        KneepointError: the run ends before the first usable opportunity.
    """
    times_ms = list(_opportunities(uplink_ms, end_ms, repeats))
    usable_ms = sorted({time_ms for time_ms in times_ms if time_ms > 0})
    if not usable_ms:
        raise KneepointError(
            f"the run ends at {end_ms} ms, before the uplink can deliver a packet; "
            "choose another part of the trace or a longer duration_s"
        )
    ages_ms = sorted(_ages(usable_ms))
    signal_delay_ms = ages_ms[int(0.95 * len(ages_ms))]
    capacity_mbps = len(times_ms) * OPPORTUNITY_BYTES * 8 / (usable_ms[-1] * 1000)
    return Bound(capacity_mbps, signal_delay_ms, capacity_mbps / (signal_delay_ms / 1000))


def bound_of_rate(rate_mbps: float) -> Bound:
    """Returns the bound of a link of constant rate: each packet waits for its own transmission.

    Delays count in whole milliseconds, as those of a trace do.
    """
    delay_ms = math.ceil(OPPORTUNITY_BYTES * 8 / rate_mbps / 1000)
    return Bound(rate_mbps, delay_ms, rate_mbps / (delay_ms / 1000))


def _opportunities(uplink_ms: Sequence[int], end_ms: int, repeats: bool) -> Iterator[int]:
    lap_ms = 0
    while True:
        for time_ms in uplink_ms:
            if lap_ms + time_ms > end_ms:
                return
            yield lap_ms + time_ms
        if not repeats:
            return
        lap_ms += uplink_ms[-1]


def _ages(usable_ms: Iterable[int]) -> Iterator[int]:
    """The signal's age in every millisecond from the first arrival to the last."""
    previous_ms = None
    for time_ms in usable_ms:
        yield from range(1, 2 if previous_ms is None else time_ms - previous_ms + 1)
        previous_ms = time_ms

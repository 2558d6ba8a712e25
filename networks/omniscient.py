"""What the best imaginable sender would get out of a link: the yardstick of a network."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from common.errors import KneepointError, unusable
from networks.constant_rate import OPPORTUNITY_BYTES


@dataclass(frozen=True)
class Bound:
    """The omniscient bound: Mbit/s, ms, and their quotient in Mbit/s per second."""

    capacity_mbps: float
    signal_delay_p95_ms: int
    power: float

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads the bound of a prepared network from its network.json.

        Raises:
            KneepointError: the file is missing or damaged, or older than bounds are.
        """
        try:
            return cls(**json.loads(path.read_bytes())["omniscient"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise unusable(path, f"it has no omniscient bound: {error!r}") from None


def omniscient_bound(uplink_ms: Sequence[int], end_ms: int, repeats: bool = False) -> Bound:
    """Computes the metrics of a sender that knows the trace beforehand.

    One datagram for each delivery opportunity arrives at the uplink just when the link can take
    it: in the millisecond before, for what arrives in a millisecond leaves strictly later. So
    every opportunity is used, no packet waits for longer than 1 ms, and the signal is as old as
    the gaps of the trace make it: in millisecond t its age is the time to the first opportunity
    after t. Its 95th percentile is element floor(0.95 n) of the n sorted ages, from the first
    arrival to the last, as for a run. The capacity counts every opportunity, from the start of the
    run to the last of them. The fixed delay and the ACKs' way back are not in it.

    Args:
        uplink_ms: the opportunities of the trace (ms), not decreasing.
        end_ms: when the run ends (ms); later opportunities do not count.
        repeats: whether the trace starts again when it is through, as with a given duration.

    Raises:
        KneepointError: the run ends before any opportunity that a packet could use.
    """
    times_ms = list(_opportunities(uplink_ms, end_ms, repeats))
    usable_ms = sorted({time_ms for time_ms in times_ms if time_ms > 0})
    if not usable_ms:
        raise KneepointError(
            f"the run ends at {end_ms} ms, before the uplink can deliver anything; "
            "choose another part of the trace, or a longer duration_s"
        )
    ages_ms = sorted(_ages(usable_ms))
    signal_delay_ms = ages_ms[int(0.95 * len(ages_ms))]
    capacity_mbps = len(times_ms) * OPPORTUNITY_BYTES * 8 / (usable_ms[-1] * 1000)
    return Bound(capacity_mbps, signal_delay_ms, capacity_mbps / (signal_delay_ms / 1000))


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

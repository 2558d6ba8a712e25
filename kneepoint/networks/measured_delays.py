"""The host's scheduling delays in real runs, for the emulated host."""

import math
from collections.abc import Iterable, Mapping, Sequence

from kneepoint.networks.scenario import PreparedNetwork

MIN_DELAYS, MAX_DELAYS = 2, 32
"""Number of delays that the emulated host accepts (see MeasuredTable in common/random.hh)."""


def pooled_delays(runs: Iterable[Sequence[float]]) -> list[dict[str, float]]:
    """Returns the scheduling delays, pooled over runs.

    Args:
        runs: the scheduling delays (us) of each run: one datagram in 2^k was delayed by at least
            element k.

    Returns:
        Rows with the keys one_in, delay_us (mean over runs), least_us, greatest_us, n_runs. Only
        long runs have rare delays, so the running maximum keeps delay_us from decreasing.
    """
    measured = list(runs)
    rows: list[dict[str, float]] = []
    for k in range(max(map(len, measured), default=0)):
        delays = [delays_us[k] for delays_us in measured if k < len(delays_us)]
        mean = math.fsum(delays) / len(delays)
        rows.append(
            {
                "one_in": 2**k,
                "delay_us": max(mean, rows[-1]["delay_us"]) if rows else mean,
                "least_us": min(delays),
                "greatest_us": max(delays),
                "n_runs": len(delays),
            }
        )
    return rows


def with_delays(network: PreparedNetwork, delays: Sequence[Mapping[str, float]]) -> PreparedNetwork:
    """Returns the network on a host with these scheduling delays.

    They replace the exponential delay of its timers, too.
    """
    if len(delays) < MIN_DELAYS:
        return network
    delays_us = "+".join(f"{row['delay_us']:.0f}" for row in delays[:MAX_DELAYS])
    return network.with_host("wake_mean_us", 0).with_host("delays_us", delays_us)

"""What a link log says over time, by the definitions of mm-throughput-graph and mm-delay-graph."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reports.link_log import LinkLog

BIN_MS = 500
"""The width of a bin that the contest's graphs use."""


@dataclass(frozen=True)
class LinkMetrics:
    """The figures of one run over one link."""

    throughput_mbps: float
    capacity_mbps: float
    queueing_delay_p95_ms: float
    signal_delay_p95_ms: float

    @property
    def power(self) -> float:
        """Throughput over signal delay, in Mbit/s per second."""
        return self.throughput_mbps / (self.signal_delay_p95_ms / 1000)


def rates(log: LinkLog, bin_ms: int = BIN_MS) -> pd.DataFrame:
    """Mean rates in bins of `bin_ms`.

    Returns:
        Columns start_s, capacity_mbps, ingress_mbps, egress_mbps; one row a bin. The last bin
        is divided by its full width although the log may end within it, as mm-throughput-graph
        does.
    """
    bins = log.last_ms // bin_ms + 1

    def rate(times_ms: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.float64]:
        total = np.bincount(times_ms // bin_ms, weights=sizes, minlength=bins)
        return total * 8 / (bin_ms * 1000)

    return pd.DataFrame(
        {
            "start_s": np.arange(bins) * bin_ms / 1000,
            "capacity_mbps": rate(log.opportunity_ms, log.opportunity_bytes),
            "ingress_mbps": rate(log.arrival_ms, log.arrival_bytes),
            "egress_mbps": rate(log.departure_ms, log.departure_bytes),
        }
    )


def signal_delay(log: LinkLog) -> pd.DataFrame:
    """The age of the newest information, for each ms from the first to the last arrival.

    A millisecond in which packets arrived that later departed has the least of their delays; one
    without has its successor's value plus one.

    Returns:
        Columns time_ms, delay_ms; one row a millisecond.
    """
    arrived_ms = log.departure_ms - log.departure_delay_ms
    first = int(arrived_ms.min())
    time_ms = np.arange(first, int(arrived_ms.max()) + 1)
    least = np.full(time_ms.size, np.iinfo(np.int64).max)
    np.minimum.at(least, arrived_ms - first, log.departure_delay_ms)
    # value(t) = value(t + 1) + 1 means: value(t) + t is that of the next arrival.
    known = np.flatnonzero(least < np.iinfo(np.int64).max)
    following = known[np.searchsorted(known, np.arange(time_ms.size))]
    delay_ms = least[following] + following - np.arange(time_ms.size)
    return pd.DataFrame({"time_ms": time_ms, "delay_ms": delay_ms})


def packet_delays(log: LinkLog) -> pd.DataFrame:
    """Each departed packet's queueing delay: columns departure_ms, delay_ms."""
    return pd.DataFrame({"departure_ms": log.departure_ms, "delay_ms": log.departure_delay_ms})


def percentile_95(values: NDArray[np.int64]) -> float:
    """Element floor(0.95 n) of the sorted values, mahimahi's 95th percentile."""
    return float(np.sort(values)[int(0.95 * values.size)])


def metrics(log: LinkLog) -> LinkMetrics:
    """The metrics of a whole run; throughput and capacity over first to last event."""
    seconds = (log.last_ms - log.first_ms) / 1000
    return LinkMetrics(
        throughput_mbps=float(log.departure_bytes.sum()) * 8 / seconds / 1e6,
        capacity_mbps=float(log.opportunity_bytes.sum()) * 8 / seconds / 1e6,
        queueing_delay_p95_ms=percentile_95(log.departure_delay_ms),
        signal_delay_p95_ms=percentile_95(signal_delay(log)["delay_ms"].to_numpy()),
    )

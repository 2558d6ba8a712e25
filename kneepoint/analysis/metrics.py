"""The metrics of a run for readers: their names, units, decimals and tolerances."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kneepoint.analysis import labels
from kneepoint.analysis.frames import STEP

if TYPE_CHECKING:  # slow to import
    import pandas as pd


@dataclass(frozen=True)
class Metric:
    """One metric's name and format, and the tolerances of a replay of a report.

    `relative` and `absolute` are the tolerances; either suffices. `step` is what our own values are
    multiples of: a delay is that of whole milliseconds.
    """

    title: str
    unit: str
    decimals: int
    relative: float = math.nan
    absolute: float = 0.0
    step: float = 0.0

    def text(self, value: float) -> str:
        """The value with this metric's decimals, without its unit; a dash for none."""
        return labels.DASH if value != value else f"{value:.{self.decimals}f}"


THROUGHPUT = "throughput_mbps"
SIGNAL_DELAY = "signal_delay_p95_ms"
QUEUEING_DELAY = "queueing_delay_p95_ms"
POWER = "power"

METRICS = {
    THROUGHPUT: Metric("Throughput", "Mbit/s", 2, relative=0.01),
    SIGNAL_DELAY: Metric("Signal delay", "ms", 0, relative=0.01, absolute=3.0, step=1.0),
    QUEUEING_DELAY: Metric("Queueing delay", "ms", 0, relative=0.01, absolute=3.0, step=1.0),
    POWER: Metric("Power", "Mbit/s/s", 2, relative=0.06),
}
"""In the order of a table's columns."""
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)
"""Those that most tables and figures show."""
MEAN_OF_RATIOS = 1e-3
"""A mean of powers may differ so much from the ratio of the means: at a variation of 3 %."""


def as_printed(row: Mapping[str, Any], metric: str) -> str:
    """`printed` of a row with columns published_<metric> and, if known, step_<metric>."""
    return printed(row[f"published_{metric}"], row.get(STEP + metric, math.nan), metric)


def printed(value: float, step: float, metric: str) -> str:
    """A published number digit for digit, without its unit; a dash for none.

    Without a known step, one unit in its last digit, it has the metric's decimals.
    """
    return in_steps(value, step) if value == value and step > 0 else METRICS[metric].text(value)


def in_steps(value: float, step: float) -> str:
    """A number with all digits that a step, one unit in its last digit, leaves it."""
    tiny = 1e-9  # a step of 1e-5 may be a little less in binary
    return f"{value:.{max(0, -math.floor(math.log10(step) + tiny))}f}"


def resolution(table: "pd.DataFrame", metric: str) -> "pd.Series[float]":
    """The value of one unit in the last digit of each value of a table; NaN if unknown.

    A value has at least as many decimals as any greater one of its column: where fewer are
    printed, a spreadsheet has dropped the zeros.

    Args:
        table: columns published_<metric> and, where the digits are known, step_<metric>.
        metric: which.
    """
    published = table[f"published_{metric}"]
    if STEP + metric not in table:
        return published.astype(float) * math.nan
    order = published.sort_values(ascending=False, kind="stable").index
    return table[STEP + metric].reindex(order).cummin().reindex(table.index)


FIGURES = {
    "throughput_mbps": Metric("Throughput", "Mbit/s", 3),
    "goodput_mbps": Metric("Goodput", "Mbit/s", 3),
    "utilization": Metric("Utilization", "", 3),
    "queueing_delay_p95_ms": Metric("Queueing delay", "ms", 0),
    "completion_s": Metric("Completion time", "s", 2),
    "rtt_min_ms": Metric("Least RTT", "ms", 1),
    "rtt_mean_ms": Metric("Mean RTT", "ms", 1),
    "rtt_max_ms": Metric("Greatest RTT", "ms", 1),
    "rtt_p95_ms": Metric("95th percentile of RTT", "ms", 1),
    "answered": Metric("Answered probes", "", 1),
    "loss": Metric("Loss", "", 4),
    "retransmissions": Metric("Retransmissions", "", 0),
    "mean_window_packets": Metric("Mean window", "packets", 1),
    "loss_events_per_minute": Metric("Loss events", "1/min", 1),
}
"""Metrics of a flow, a probe or a link."""

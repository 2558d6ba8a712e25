"""Presentation of metrics: names, units, decimals and tolerances."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kneepoint.analysis import labels
from kneepoint.analysis.frames import STEP

if TYPE_CHECKING:  # slow to import
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True)
class Metric:
    """A metric's name and format, and the tolerances of a replay.

    A replay must be within `relative` or `absolute` tolerance. Our own values are multiples of
    `step`: delays are whole milliseconds.
    """

    title: str
    unit: str
    decimals: int
    relative: float = math.nan
    absolute: float = 0.0
    step: float = 0.0

    def text(self, value: float) -> str:
        """Formats a value with the metric's decimals, without unit; a dash for a missing value."""
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
"""All metrics, in the order of a table's columns."""
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)
"""The metrics that most tables and figures show."""
MEAN_OF_RATIOS = 1e-3
"""Relative difference between a mean of powers and the ratio of the means, at a CV of 3 %."""


def per_metric(*prefixes: str, unit: str | None = None) -> "list[pa.Field]":
    """Returns columns of each metric: published_throughput_mbps and so on for `published_`.

    Args:
        prefixes: prefixes of the columns' names; without prefixes, the names of the metrics.
        unit: unit of the columns; by default, the unit of the metric.
    """
    from kneepoint.common.tables import real

    return [
        column
        for prefix in prefixes or ("",)
        for name, metric in METRICS.items()
        for column in real(prefix + name, unit=metric.unit if unit is None else unit)
    ]


def as_printed(row: Mapping[str, Any], metric: str) -> str:
    """Returns `printed` for a row with columns published_<metric> and, if known, step_<metric>."""
    return printed(row[f"published_{metric}"], row.get(STEP + metric, math.nan), metric)


def printed(value: float, step: float, metric: str) -> str:
    """Formats a published number with its printed digits, without unit; a dash if missing.

    `step` is one unit in the last printed digit; if unknown (NaN), the metric's decimals are used.
    """
    return in_steps(value, step) if value == value and step > 0 else METRICS[metric].text(value)


def in_steps(value: float, step: float) -> str:
    """Formats a number with the decimals of `step`, one unit in its last digit."""
    tiny = 1e-9  # a step of 1e-5 may be slightly less in binary
    return f"{value:.{max(0, -math.floor(math.log10(step) + tiny))}f}"


def resolution(table: "pd.DataFrame", metric: str) -> "pd.Series[float]":
    """Returns one unit in the last digit of each value of a table; NaN if unknown.

    A value has at least as many decimals as any greater value of its column: if fewer are printed,
    a spreadsheet has dropped trailing zeros.

    Args:
        table: columns published_<metric> and, where the digits are known, step_<metric>.
        metric: the metric.
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
    "rtt_min_ms": Metric("Min RTT", "ms", 1),
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

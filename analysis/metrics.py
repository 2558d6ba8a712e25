"""The metrics of a run, as a reader meets them: their names, units, decimals and tolerances."""

from dataclasses import dataclass

from analysis import labels


@dataclass(frozen=True)
class Metric:
    """How one metric is called and printed, and how near a replay has to come to a report.

    `relative` and `absolute` are the tolerances; either suffices.
    """

    title: str
    unit: str
    decimals: int
    relative: float
    absolute: float = 0.0

    def text(self, value: float) -> str:
        """The value with this metric's decimals, without its unit; a dash for none."""
        return labels.DASH if value != value else f"{value:.{self.decimals}f}"


THROUGHPUT = "throughput_mbps"
SIGNAL_DELAY = "signal_delay_p95_ms"
QUEUEING_DELAY = "queueing_delay_p95_ms"
POWER = "power"

METRICS = {
    THROUGHPUT: Metric("Throughput", "Mbit/s", 2, relative=0.01),
    SIGNAL_DELAY: Metric("Signal delay", "ms", 0, relative=0.01, absolute=3.0),
    QUEUEING_DELAY: Metric("Queueing delay", "ms", 0, relative=0.01, absolute=3.0),
    POWER: Metric("Power", "Mbit/s/s", 2, relative=0.06),
}
"""In the order of a table's columns."""

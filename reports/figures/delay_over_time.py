"""How long did packets wait, and how old was the newest information, moment by moment?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures import FigureKind, style
from reports.link_series import BIN_MS, LinkMetrics
from reports.subjects import OneRun


def draw(run: OneRun) -> Figure:
    """Every packet's queueing delay as a dot, the signal delay as a line, their percentiles."""
    figure = style.page(2.6)
    onto(figure.add_subplot(), run.signal, run.packets, run.metrics)
    return figure


def onto(axes: Axes, signal: pd.DataFrame, packets: pd.DataFrame, metrics: LinkMetrics) -> None:
    """Draws `link_series.signal_delay` and `packet_delays`, with their percentiles."""
    axes.plot(
        signal["time_ms"] / 1000,
        signal["delay_ms"],
        color=style.ALTERNATE,
        linewidth=0.6,
        label=f"signal delay, 95th percentile {metrics.signal_delay_p95_ms:.0f} ms",
        rasterized=True,
    )
    axes.plot(
        packets["departure_ms"] / 1000,
        packets["delay_ms"],
        ".",
        color=style.OURS,
        markersize=1.0,
        markeredgewidth=0,
        label=f"queueing delay, 95th percentile {metrics.queueing_delay_p95_ms:.0f} ms",
        rasterized=True,
    )
    axes.axhline(metrics.signal_delay_p95_ms, color=style.ALTERNATE, linewidth=0.7, dashes=(5, 3))
    axes.axhline(metrics.queueing_delay_p95_ms, color=style.OURS, linewidth=0.7, dashes=(5, 3))
    last_ms = max(packets["departure_ms"].iloc[-1], signal["time_ms"].iloc[-1])
    axes.set_xlim(0, (last_ms // BIN_MS + 1) * BIN_MS / 1000)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Delay (ms)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, markerscale=6)


def _caption(run: OneRun) -> str:
    return (
        f"The same {'real ' if run.is_real else ''}run: each departed packet's wait in the queue "
        "(dots), and the signal delay (line), the time from each moment until something sent at "
        "that moment or later had passed the link. Dashed: the 95th percentiles, "
        f"{run.metrics.queueing_delay_p95_ms:.0f} and {run.metrics.signal_delay_p95_ms:.0f} ms. "
        "The propagation delay is in neither."
    )


FIGURE = FigureKind(
    name="delay-over-time",
    subject=OneRun,
    order=20,
    title=lambda run: "Delay over time" + (", in real mahimahi" if run.is_real else ""),
    caption=_caption,
    draw=draw,
)

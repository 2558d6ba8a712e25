"""How much of the link did one run use, moment by moment? In the manner of mm-throughput-graph."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from reports import labels
from reports.figures import FigureKind, style
from reports.link_series import BIN_MS, LinkMetrics
from reports.subjects import OneRun

Floats = NDArray[np.float64]


def draw(run: OneRun) -> Figure:
    """Capacity filled, what entered the queue, what left it, in bins of 500 ms."""
    figure = style.page(2.6)
    onto(figure.add_subplot(), run.rates, run.metrics)
    return figure


def onto(axes: Axes, series: pd.DataFrame, metrics: LinkMetrics) -> None:
    """Draws `link_series.rates` and their means."""
    start_s, *rates = _steps(series)
    axes.fill_between(
        start_s,
        rates[0],
        step="post",
        color=style.FAINT,
        linewidth=0,
        label=f"capacity, mean {metrics.capacity_mbps:.2f} Mbit/s",
    )
    axes.plot(
        start_s,
        rates[1],
        drawstyle="steps-post",
        color=style.ALTERNATE,
        linewidth=1.5,
        alpha=0.75,
        label="ingress",
    )
    axes.plot(
        start_s,
        rates[2],
        drawstyle="steps-post",
        color=style.OURS,
        linewidth=0.8,
        label=f"egress, mean {metrics.throughput_mbps:.2f} Mbit/s",
    )
    axes.set_xlim(0, start_s[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Rate (Mbit/s)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def _steps(series: pd.DataFrame) -> list[Floats]:
    """Starts of the bins, capacity, ingress, egress; the last bin ends with a point of its own."""
    columns = [series[name].to_numpy(dtype=float) for name in series.columns]
    return [np.append(columns[0], columns[0][-1] + BIN_MS / 1000)] + [
        np.append(column, column[-1]) for column in columns[1:]
    ]


def _caption(run: OneRun) -> str:
    share = run.metrics.throughput_mbps / run.metrics.capacity_mbps
    return (
        f"One {'real ' if run.is_real else ''}run of {labels.words(run.controller)} "
        f"({run.constants}) over the link of the data, in bins of {BIN_MS} ms: what the link could "
        "have carried (filled), what entered its queue, and what left it. It used "
        f"{labels.percent(share)} of the capacity."
    )


FIGURE = FigureKind(
    name="rate-over-time",
    subject=OneRun,
    order=10,
    title=lambda run: "Rate over time" + (", in real mahimahi" if run.is_real else ""),
    caption=_caption,
    draw=draw,
)

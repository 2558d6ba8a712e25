"""How much of the link did one run use, moment by moment? In the manner of mm-throughput-graph."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis import over_time
from analysis.frames import Record, select
from analysis.link_log import end_s
from common.tables import Tables
from reports.figures import each, style

Floats = NDArray[np.float64]


def draw(run: Record, tables: Tables) -> Figure:
    """Capacity filled, what entered the queue, what left it, in bins of 500 ms."""
    figure = style.page(2.6)
    onto(figure.add_subplot(), select(tables["series"], run=run["run"]), run)
    return figure


def onto(axes: Axes, series: pd.DataFrame, run: Record) -> None:
    """Draws the rates of a run, whose record has their means."""
    start_s, *rates = _steps(series)
    axes.fill_between(
        start_s,
        rates[0],
        step="post",
        color=style.FAINT,
        linewidth=0,
        label=f"capacity, mean {run['capacity_mbps']:.2f} Mbit/s",
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
        label=f"egress, mean {run['throughput_mbps']:.2f} Mbit/s",
    )
    axes.set_xlim(0, start_s[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Rate (Mbit/s)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)


def _steps(series: pd.DataFrame) -> list[Floats]:
    """Starts of the bins, capacity, ingress, egress; the last bin ends with a point of its own."""
    rates = [over_time.of(series, name) for name in over_time.RATES]
    start_s = rates[0]["time_s"].to_numpy()
    return [np.append(start_s, end_s(start_s))] + [
        np.append(rate["value"], rate["value"].iloc[-1]) for rate in rates
    ]


subjects = each("showcase", "run")

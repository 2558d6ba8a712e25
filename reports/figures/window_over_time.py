"""How did the sender's window move, and how much of it waited in the queue?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import over_time
from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import each, style


def draw(run: Record, tables: Tables) -> Figure:
    """The window as a line over the packets in the uplink's queue, filled."""
    figure = style.page(2.6)
    series = select(tables["series"], run=run["run"])
    axes = figure.add_subplot()
    onto(axes, series, run["mean_window_packets"])
    axes.set_xlim(0, max(over_time.of(series, over_time.WINDOW)["time_s"].iloc[-1], 1e-3))
    axes.set_xlabel("Time (s)")
    return figure


def onto(axes: Axes, series: pd.DataFrame, mean_packets: float, noun: str = "window") -> None:
    """Draws a run's window and the uplink's queue."""
    windows, queue = (over_time.of(series, name) for name in (over_time.WINDOW, over_time.QUEUE))
    axes.fill_between(
        queue["time_s"],
        queue["value"],
        step="post",
        color=style.FAINT,
        linewidth=0,
        label="in the uplink's queue",
        rasterized=True,
    )
    axes.plot(
        windows["time_s"],
        windows["value"],
        drawstyle="steps-post",
        color=style.OURS,
        linewidth=0.7,
        label=f"{noun}, mean {mean_packets:.1f} packets",
        rasterized=True,
    )
    axes.set_ylim(bottom=0)
    axes.set_ylabel(f"{noun.capitalize()} (packets)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


subjects = each("showcase", "run", lambda run: run["mean_window_packets"] > 0)

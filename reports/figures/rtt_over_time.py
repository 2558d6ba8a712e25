"""How long did each acknowledgment take?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import over_time
from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import each, style


def draw(run: Record, tables: Tables) -> Figure:
    """The RTT of every acknowledgment, and the minimum."""
    figure = style.page(2.6)
    axes = figure.add_subplot()
    onto(axes, select(tables["series"], run=run["run"]))
    axes.set_xlim(left=0)
    axes.set_xlabel("Time (s)")
    return figure


def onto(axes: Axes, series: pd.DataFrame) -> None:
    """Draws the RTTs of a run on a logarithmic axis: an outage is seconds long."""
    rtts = over_time.of(series, over_time.RTT)
    median, least = rtts["value"].median(), rtts["value"].min()
    axes.plot(
        rtts["time_s"],
        rtts["value"],
        ".",
        color=style.OURS,
        markersize=1.0,
        markeredgewidth=0,
        label=f"RTT, median {median:.0f} ms",
        rasterized=True,
    )
    axes.axhline(
        least, color=style.ALTERNATE, linewidth=0.7, dashes=(5, 3), label=f"minimum {least:.0f} ms"
    )
    low, high = 0.8 * max(1.0, least), 1.2 * max(1.0, rtts["value"].max())
    axes.set(yscale="log", ylim=(low, high), ylabel="RTT (ms)")
    axes.minorticks_off()
    style.log_ticks(axes, "y", style.decades(low, high))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, markerscale=6)


subjects = each("showcase", "run", lambda run: run["mean_window_packets"] > 0)

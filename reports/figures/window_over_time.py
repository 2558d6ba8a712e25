"""How did the sender's window move, and how much of it waited in the queue?"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import each, style
from reports.figures.delay_over_time import Columns


def draw(run: Record, tables: Tables) -> Figure:
    """The window as a line over the packets in the uplink's queue, filled."""
    figure = style.page(2.6)
    windows, queue = (
        select(tables[f"showcase_{name}"], run=run["run"]) for name in ("windows", "queue")
    )
    axes = figure.add_subplot()
    onto(axes, windows, queue, run["mean_window_packets"])
    axes.set_xlim(0, max(np.asarray(windows["time_s"])[-1], 1e-3))
    axes.set_xlabel("Time (s)")
    return figure


def onto(
    axes: Axes, windows: Columns, queue: Columns, mean_packets: float, noun: str = "window"
) -> None:
    """Draws `FlowLog.windows` and `link_log.queue_length` of a run."""
    axes.fill_between(
        queue["time_ms"] / 1000,
        queue["packets"],
        step="post",
        color=style.FAINT,
        linewidth=0,
        label="in the uplink's queue",
        rasterized=True,
    )
    axes.plot(
        windows["time_s"],
        windows["window_packets"],
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

"""How long did packets wait, and how old was the newest information, moment by moment?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import over_time
from analysis.frames import Record, select
from analysis.link_log import end_s
from common.tables import Tables
from reports.figures import each, style


def draw(run: Record, tables: Tables) -> Figure:
    """Every packet's queueing delay as a dot, the signal delay as a line, their percentiles."""
    figure = style.page(2.6)
    onto(figure.add_subplot(), select(tables["series"], run=run["run"]), run)
    return figure


def onto(axes: Axes, series: pd.DataFrame, run: Record) -> None:
    """Draws the delays of a run, whose record has their percentiles."""
    signal, packets, rates = (
        over_time.of(series, name)
        for name in (over_time.SIGNAL, over_time.QUEUEING, over_time.RATES[0])
    )
    late_ms, waited_ms = run["signal_delay_p95_ms"], run["queueing_delay_p95_ms"]
    axes.plot(
        signal["time_s"],
        signal["value"],
        color=style.ALTERNATE,
        linewidth=0.6,
        label=f"signal delay, 95th percentile {late_ms:.0f} ms",
        rasterized=True,
    )
    axes.plot(
        packets["time_s"],
        packets["value"],
        ".",
        color=style.OURS,
        markersize=1.0,
        markeredgewidth=0,
        label=f"queueing delay, 95th percentile {waited_ms:.0f} ms",
        rasterized=True,
    )
    axes.axhline(late_ms, color=style.ALTERNATE, linewidth=0.7, dashes=(5, 3))
    axes.axhline(waited_ms, color=style.OURS, linewidth=0.7, dashes=(5, 3))
    axes.set_xlim(0, end_s(rates["time_s"]))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Delay (ms)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, markerscale=6)


subjects = each("showcase", "run")

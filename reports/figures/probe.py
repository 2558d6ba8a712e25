"""How many real runs does the host take at once?"""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, extremes
from analysis.host import probe_levels, probe_runs
from analysis.metrics import METRICS, SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import only, style


def draw(host: Record, tables: Tables) -> Figure:
    """Three panels over the number of runs at once: throughput, signal delay, scheduling delay."""
    levels, runs = probe_levels(tables), probe_runs(tables)
    figure = style.page(2.5)
    panels = figure.subplots(1, 3)
    for axes, metric in zip(panels[:2], (THROUGHPUT, SIGNAL_DELAY), strict=True):
        _draw_difference(axes, levels, runs, metric)
    _draw_scheduling(panels[2], runs, host["busy_us"] / 1000)
    tried = levels["concurrency"].tolist()
    for axes in panels:
        axes.axvline(host["slots"], color=style.BEST, linewidth=0.8, dashes=(5, 3), zorder=1)
        axes.set_xscale("log", base=2)
        axes.set_xticks(tried, tried)
        axes.set(xlim=(min(tried) / 1.25, max(tried) * 1.25), xlabel="Runs at once")
    panels[0].set_ylabel("Difference from runs alone (%)")
    panels[1].set_ylabel("")
    side = -3 if host["slots"] == max(tried) else 3
    look = {"xycoords": ("data", "axes fraction"), "va": "top", "color": style.BEST}
    slots = labels.count(host["slots"], "slot")
    style.label(panels[0], slots, (host["slots"], 1), (side, 0), **look)
    return figure


def _draw_difference(axes: Axes, levels: pd.DataFrame, runs: pd.DataFrame, metric: str) -> None:
    """Single runs, the range of runs alone on the host, and the mean of each level."""
    runs, levels = (rows.assign(off=100 * rows[f"relative_{metric}"]) for rows in (runs, levels))
    alone = runs["off"][runs["level"] == 0]
    if len(alone):
        axes.axhspan(*extremes(alone), color=style.FAINT, linewidth=0, zorder=0)
    place = {"x": "concurrency", "y": "off", "color": style.OURS, "ax": axes}
    sns.scatterplot(runs, **place, **_DOTS)
    sns.scatterplot(levels, **place, marker="_", s=120, linewidth=1.6, zorder=3)
    axes.set_title(METRICS[metric].title)


def _draw_scheduling(axes: Axes, runs: pd.DataFrame, busy_ms: float) -> None:
    delays = runs["scheduling_delay_p99_us"].astype(float) / 1000
    sns.scatterplot(x=runs["concurrency"], y=delays, ax=axes, color=style.OURS, **_DOTS)
    axes.axhline(busy_ms, color=style.QUIET, linewidth=0.7, dashes=(2, 2))
    look = {"xycoords": ("axes fraction", "data"), "color": style.QUIET}
    style.label(axes, "too busy", (0, busy_ms), (3, 3), **look)
    known = delays[delays > 0]
    if len(known):
        low, high = extremes(known)
        axes.set(yscale="log", ylim=(low / 1.6, max(high, busy_ms) * 2.2))
        style.log_ticks(axes, "y", (1,))
    axes.set(title="Scheduling delay", ylabel="99th percentile (ms)")


_DOTS = {"s": 12, "alpha": 0.45, "linewidth": 0, "zorder": 2}

subjects = only("probe", "host")

"""How many real runs does the host take at once?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, extremes
from analysis.metrics import METRICS, SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import only, style


def draw(host: Record, tables: Tables) -> Figure:
    """Three panels over the number of runs at once: throughput, signal delay, scheduling delay."""
    levels, runs = tables["probe_levels"], tables["probe_runs"]
    figure = style.page(2.5)
    panels = figure.subplots(1, 3)
    for axes, metric in zip(panels[:2], (THROUGHPUT, SIGNAL_DELAY), strict=True):
        _draw_difference(axes, levels, runs, metric)
    panels[0].set_ylabel("Difference from runs alone (%)")
    _draw_scheduling(panels[2], runs, host["busy_us"] / 1000)
    tried = [int(n) for n in levels["concurrency"]]
    for axes in panels:
        axes.axvline(host["slots"], color=style.BEST, linewidth=0.8, dashes=(5, 3), zorder=1)
        axes.set_xscale("log", base=2)
        axes.set_xlim(min(tried) / 1.25, max(tried) * 1.25)
        axes.minorticks_off()
        axes.set_xticks(tried, [str(n) for n in tried])
        axes.set_xlabel("Runs at once")
    panels[0].annotate(
        f" {labels.count(host['slots'], 'slot')}",
        (host["slots"], 1),
        xycoords=("data", "axes fraction"),
        va="top",
        ha="right" if host["slots"] == max(tried) else "left",
        fontsize=7.5,
        color=style.BEST,
    )
    return figure


def _draw_difference(axes: Axes, levels: pd.DataFrame, runs: pd.DataFrame, metric: str) -> None:
    """Single runs, the range of runs alone on the host, and the mean of each level."""
    column = f"relative_{metric}"
    alone = 100 * runs.loc[runs["level"] == 0, column]
    if len(alone):
        axes.axhspan(*extremes(alone), color=style.FAINT, linewidth=0, zorder=0)
    _dots(axes, runs["concurrency"], 100 * runs[column])
    axes.plot(
        levels["concurrency"],
        100 * levels[column],
        "_",
        color=style.OURS,
        markersize=11,
        markeredgewidth=1.6,
        zorder=3,
    )
    axes.set_title(METRICS[metric].title)


def _draw_scheduling(axes: Axes, runs: pd.DataFrame, busy_ms: float) -> None:
    delays = runs["scheduling_delay_p99_us"] / 1000
    _dots(axes, runs["concurrency"], delays)
    axes.axhline(busy_ms, color=style.QUIET, linewidth=0.7, dashes=(2, 2))
    axes.annotate(
        " too busy",
        (0, busy_ms),
        (0, 3),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        fontsize=7.5,
        color=style.QUIET,
    )
    known = delays[delays > 0]
    if len(known):
        low, high = extremes(known)
        axes.set_yscale("log")
        axes.set_ylim(low / 1.6, max(high, busy_ms) * 2.2)
        axes.minorticks_off()
        style.log_ticks(axes, "y", style.decades(*axes.get_ylim(), (1,)))
    axes.set_title("Scheduling delay")
    axes.set_ylabel("99th percentile (ms)")


def _dots(axes: Axes, x: "pd.Series[float]", y: "pd.Series[float]") -> None:
    axes.plot(x, y, "o", color=style.OURS, markersize=2.8, alpha=0.45, linewidth=0, zorder=2)


subjects = only("host", "host")

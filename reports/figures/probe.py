"""How many real runs does the host take at once?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import extremes
from reports.metrics import METRICS, SIGNAL_DELAY, THROUGHPUT
from reports.subjects import Probing


def draw(probing: Probing) -> Figure:
    """Three panels over the number of runs at once: throughput, signal delay, scheduling delay."""
    figure = style.page(2.5)
    panels = figure.subplots(1, 3)
    for axes, metric in zip(panels[:2], (THROUGHPUT, SIGNAL_DELAY), strict=True):
        _draw_difference(axes, probing, metric)
    panels[0].set_ylabel("Difference from lone runs (%)")
    _draw_scheduling(panels[2], probing)
    tried = [int(n) for n in probing.levels["concurrency"]]
    for axes in panels:
        axes.axvline(probing.slots, color=style.BEST, linewidth=0.8, dashes=(5, 3), zorder=1)
        axes.set_xscale("log", base=2)
        axes.set_xlim(min(tried) / 1.25, max(tried) * 1.25)
        axes.minorticks_off()
        axes.set_xticks(tried, [str(n) for n in tried])
        axes.set_xlabel("Runs at once")
    panels[0].annotate(
        f" {labels.count(probing.slots, 'slot')}",
        (probing.slots, 1),
        xycoords=("data", "axes fraction"),
        va="top",
        ha="right" if probing.slots == max(tried) else "left",
        fontsize=7.5,
        color=style.BEST,
    )
    return figure


def _draw_difference(axes: Axes, probing: Probing, metric: str) -> None:
    """Single runs, the range of those that had the host alone, and the mean of each level."""
    column = f"relative_{metric}"
    alone = 100 * probing.runs.loc[probing.runs["level"] == 0, column]
    if len(alone):
        axes.axhspan(*extremes(alone), color=style.FAINT, linewidth=0, zorder=0)
    _dots(axes, probing.runs["concurrency"], 100 * probing.runs[column])
    axes.plot(
        probing.levels["concurrency"],
        100 * probing.levels[column],
        "_",
        color=style.OURS,
        markersize=11,
        markeredgewidth=1.6,
        zorder=3,
    )
    axes.set_title(METRICS[metric].title)


def _draw_scheduling(axes: Axes, probing: Probing) -> None:
    delays = probing.runs["scheduling_delay_p99_us"] / 1000
    _dots(axes, probing.runs["concurrency"], delays)
    axes.axhline(probing.busy_us / 1000, color=style.QUIET, linewidth=0.7, dashes=(2, 2))
    axes.annotate(
        " too busy",
        (0, probing.busy_us / 1000),
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
        axes.set_ylim(low / 1.6, max(high, probing.busy_us / 1000) * 2.2)
        axes.minorticks_off()
        style.log_ticks(axes, "y", style.decades(*axes.get_ylim(), (1,)))
    axes.set_title("Scheduling delay")
    axes.set_ylabel("99th percentile (ms)")


def _dots(axes: Axes, x: "pd.Series[float]", y: "pd.Series[float]") -> None:
    axes.plot(x, y, "o", color=style.OURS, markersize=2.8, alpha=0.45, linewidth=0, zorder=2)


def _caption(probing: Probing) -> str:
    alone = int((probing.runs["level"] == 0).sum())
    return (
        f"The same setting of {labels.words(probing.controller)} in so many real runs at once; "
        f"dots are runs, dashes their means. The band is the range of the {alone} runs that had "
        "the host for themselves. Right: how long the kernel kept a datagram before the receiver "
        f"read it; a run above {labels.number(probing.busy_us / 1000)} ms is repeated. The dashed "
        f"line marks the {labels.count(probing.slots, 'slot')} that follow."
    )


FIGURE = FigureKind(
    name="probe",
    subject=Probing,
    order=10,
    title=lambda _: "Results against the number of real runs at once",
    caption=_caption,
    draw=draw,
)

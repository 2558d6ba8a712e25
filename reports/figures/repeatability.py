"""How repeatable is a run, and does a published mean lie where ours says?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports.figures import FigureKind, style
from reports.frames import Record, records
from reports.metrics import POWER
from reports.subjects import Repetition


def draw(repetition: Repetition) -> Figure:
    """One line a setting: single runs, the interval of their mean, and what was published."""
    settings = records(repetition.settings)
    spread = repetition.spread[repetition.spread["metric"] == POWER]
    spread_of = {row["setting"]: row for row in records(spread)}
    figure = style.page(0.75 + 0.66 * len(settings))
    axes = figure.add_subplot()
    axes.axvline(0, color=style.FAINT, linewidth=0.8, zorder=0)
    names = []
    for line, setting in enumerate(settings):
        ours = spread_of[setting["setting"]]
        runs = repetition.runs[repetition.runs["setting"] == setting["setting"]][POWER]
        _draw_ours(axes, line, runs, ours)
        names.append(f"{setting['label']}\nmean {ours['mean']:.2f}, n = {ours['n']:.0f}")
    lines = {setting["setting"]: line for line, setting in enumerate(settings)}
    for row in records(repetition.published):
        if row["metric"] == POWER:
            _draw_published(axes, lines[row["setting"]], row)
    axes.set_yticks(range(len(settings)), names)
    axes.set_ylim(len(settings) - 0.4, -0.6)
    axes.margins(x=0.08)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("Power, relative to the mean of our runs (%)")
    return figure


def _draw_ours(axes: Axes, line: int, runs: "pd.Series[float]", spread: Record) -> None:
    relative = 100 * (runs / spread["mean"] - 1)
    height = line + np.linspace(-0.16, 0.16, len(runs)) if len(runs) > 1 else [line]
    axes.plot(relative, height, "o", color=style.OURS, markersize=2.4, alpha=0.45, linewidth=0)
    if spread["low"] == spread["low"]:
        low, high = (100 * (spread[name] / spread["mean"] - 1) for name in ("low", "high"))
        axes.hlines(line, low, high, color=style.OURS, linewidth=3.0, zorder=3)
    axes.plot(0, line, "|", color=style.OURS, markersize=11, markeredgewidth=1.4, zorder=4)


def _draw_published(axes: Axes, line: int, row: Record) -> None:
    x = 100 * (row["published_mean"] / row["mean"] - 1)
    axes.plot(
        x,
        line,
        "D",
        markersize=5,
        markerfacecolor="white",
        markeredgecolor=style.BEST,
        markeredgewidth=1.0,
        zorder=5,
    )
    axes.annotate(
        f"published {row['published_mean']:.2f}",
        (x, line),
        (0, 9),
        textcoords="offset points",
        ha="center",
        fontsize=7.5,
        color=style.BEST,
    )


def _caption(repetition: Repetition) -> str:
    what = (
        "in real mahimahi" if repetition.is_real else "each with a fresh seed of the host's jitter"
    )
    return (
        f"Power of repeated runs, {what}, relative to their mean: dots are single runs, the bar is "
        "the 95 % t interval of the mean, diamonds are published means."
    )


FIGURE = FigureKind(
    name="repeatability",
    subject=Repetition,
    order=10,
    title=lambda each: "Repeatability" + (" in real mahimahi" if each.is_real else ""),
    caption=_caption,
    draw=draw,
)

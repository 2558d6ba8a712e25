"""How repeatable is a run, and does a published mean lie where ours says?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.frames import Record, records, select
from analysis.metrics import POWER
from common.tables import Tables
from experiments.models.study import EMULATOR, MAHIMAHI
from reports.figures import style


def draw(subject: Record, tables: Tables) -> Figure:
    """One line a setting: single runs, the interval of their mean, and what was published."""
    whose = subject["whose"]
    settings = records(select(tables["repeatability"], whose=whose, metric=POWER))
    runs = select(tables["repeatability_runs"], whose=whose)
    published = select(tables["repeatability_published"], whose=whose, metric=POWER)
    figure = style.page(0.75 + 0.66 * len(settings))
    axes = figure.add_subplot()
    axes.axvline(0, color=style.FAINT, linewidth=0.8, zorder=0)
    names = []
    for line, ours in enumerate(settings):
        _draw_ours(axes, line, runs.loc[runs["setting"] == ours["setting"], POWER], ours)
        names.append(f"{ours['label']}\nmean {ours['mean']:.2f}, n = {ours['n']:.0f}")
    lines = {setting["setting"]: line for line, setting in enumerate(settings)}
    for row in records(published):
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
    style.tell(axes, relative, height, [f"power {power:.3f}" for power in runs])
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


def subjects(tables: Tables) -> dict[str, Record]:
    """What each engine repeated."""
    there = set(tables["repeatability"]["whose"])
    names = {"all": EMULATOR, "real": MAHIMAHI}
    return {key: {"whose": whose} for key, whose in names.items() if whose in there}

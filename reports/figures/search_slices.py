"""Which parameters mattered, and where in their ranges did a search go?"""

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kneepoint.analysis import labels
from kneepoint.analysis.frames import (
    CONSTANT,
    Record,
    records,
    select,
)
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

_SHADES = 12
"""This many shades tell early trials from late ones."""


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial's value against each parameter, later ones stronger; if there are, brackets."""
    constants = records(select(tables["search_constants"], search=search["search"]))
    trials = select(tables["search_trials"], search=search["search"], measured=True)
    steps = trials.assign(step=trials.index + 1).dropna(subset=["low"])
    count = len(constants) + bool(len(steps))
    columns = 4 if count == 4 or count > 6 else min(count, 3)
    rows = -(-count // columns)
    figure = style.page(2.7 if len(constants) == 1 else 0.3 + 1.9 * rows)
    panels = figure.subplots(rows, columns, sharey=steps.empty, squeeze=False)
    for axes, constant in zip(panels.flat, constants, strict=False):
        _draw_values(axes, trials, constant, len(constants) == 1, has_peak=len(steps) > 0)
        style.ring(axes, constant["best"], search["in_search"])
        if search["fresh_runs"]:
            axes.plot(constant["best"], search["best_value"], "D", color=style.BEST, markersize=4)
        style.search_axis(axes, constant)
    if len(steps):
        _draw_brackets(panels.flat[1], steps, constants[0])
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel(style.OBJECTIVES[search["objective"]])
    if search["objective"] == "misfit" and trials["value"].min() > 0:
        panels[0, 0].set_yscale("log")
        style.log_ticks(panels[0, 0], "y")
    elif search["objective"] not in ("misfit", "worst_case") and len(constants) > 1:
        low, high = trials["value"].quantile(0.02), trials["value"].max()
        panels[0, 0].set_ylim(low - 0.05 * (high - low), high + 0.08 * (high - low))
    return figure


def _draw_values(
    axes: Axes, trials: pd.DataFrame, constant: Record, is_alone: bool, has_peak: bool
) -> None:
    """Dots; a search for one peak joins them, of any other a line would be a zigzag of chance."""
    shown = trials.assign(at=trials[CONSTANT + constant["constant"]], number=trials["trial"] + 1)
    shades: Record = {"cmap": mpl.colormaps["Blues"].resampled(_SHADES)}
    shades["vmin"] = -0.35 * len(trials)
    dots: Record = {"c": trials["trial"], "s": 20 if is_alone else 8, "linewidths": 0, **shades}
    axes.scatter(shown["at"], shown["value"], **dots)
    if is_alone:
        line: Record = {"color": style.OURS, "linewidth": 0.8 * has_peak}
        style.plot(axes, shown.sort_values("at"), "at", "value", **line)
        name = labels.words(constant["constant"])
        text = f"trial {{number}}, {name} {{at:.4g}}: {{value:.4g}}"
        style.tell(axes, shown, "at", "value", text)
        axes.set_title(f"best {labels.number(constant['best'])}")
    elif constant["importance"] == constant["importance"]:
        axes.set_title(f"importance {constant['importance']:.2f}")


def _draw_brackets(axes: Axes, steps: pd.DataFrame, only: Record) -> None:
    """The value evaluated in each step, and where the best can then be."""
    bar: Record = {"color": style.OURS, "linewidth": 3.2, "alpha": 0.3}
    axes.hlines(steps["step"], steps["low"], steps["high"], **bar)
    style.plot(axes, steps, CONSTANT + only["constant"], "step", "o", color=style.OURS)
    axes.axvline(only["best"], color=style.BEST, linewidth=0.7, dashes=(5, 3))
    axes.set(title="Where the best can be, by step", ylabel="Evaluation")
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    style.search_axis(axes, only)


subjects = each("searches", "search")

"""How did the goal depend on the one parameter searched, and how did the search close in on it?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis import labels
from analysis.frames import CONSTANT, Record, records, select
from common.tables import Tables
from reports.figures import each, style


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial's value against the parameter; if the search had brackets, these step by step."""
    (only,) = records(select(tables["search_constants"], search=search["search"]))
    trials = select(tables["search_trials"], search=search["search"]).dropna(subset=["value"])
    trials = trials.assign(at=trials[CONSTANT + only["constant"]], step=range(1, len(trials) + 1))
    steps = trials.dropna(subset=["low"])
    figure = style.page(2.7)
    panels = figure.subplots(1, 1 + bool(len(steps)), squeeze=False, sharex=True)[0]
    _draw_values(panels[0], trials, search, only)
    if len(steps):
        _draw_brackets(panels[1], steps, only["best"])
    for axes in panels:
        style.search_axis(axes, only)
    return figure


def _draw_values(axes: Axes, trials: pd.DataFrame, search: Record, only: Record) -> None:
    name = labels.words(only["constant"])
    style.curve(axes, trials.sort_values("at"), "at", "value")
    style.tell(axes, trials.assign(name=name), "at", "value", "trial {step}, {name} {at}: {value}")
    best = only["best"], search["best_value"]
    style.ring(axes, *best)
    bold = {"color": style.BEST, "weight": "bold", "fontsize": None}
    style.label(axes, labels.number(only["best"]), best, (0, 10), **bold)
    axes.margins(y=0.16)
    axes.set_ylabel(style.OBJECTIVES[search["objective"]])
    if search["objective"] == "misfit" and trials["value"].min() > 0:
        axes.set_yscale("log")
        style.log_ticks(axes, "y")


def _draw_brackets(axes: Axes, steps: pd.DataFrame, best: float) -> None:
    """The value evaluated in each step, and where the best can then be."""
    axes.hlines(
        steps["step"], steps["low"], steps["high"], color=style.OURS, linewidth=3.2, alpha=0.3
    )
    style.plot(axes, steps, "at", "step", "o", color=style.OURS)
    axes.axvline(best, color=style.BEST, linewidth=0.7, dashes=(5, 3))
    axes.set(title="Where the best can be, by step", ylabel="Evaluation")
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


subjects = each("searches", "search", chosen=lambda rows: rows[rows["searched"] == 1])

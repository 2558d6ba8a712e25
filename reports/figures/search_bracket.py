"""How did a search of one parameter close in on the peak?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.frames import CONSTANT, Record, records, select
from analysis.searches import ONE_PEAK
from common.tables import Tables
from reports.figures import each, style


def draw(search: Record, tables: Tables) -> Figure:
    """The evaluated points in order, and the bracket around the peak step by step."""
    (only,) = records(select(tables["search_constants"], search=search["search"]))
    steps = select(tables["search_trials"], search=search["search"]).dropna(subset=["low"])
    steps = steps.assign(at=steps[CONSTANT + only["constant"]], step=range(1, len(steps) + 1))
    figure = style.page(2.9)
    points, brackets = figure.subplots(1, 2, sharex=True)
    _draw_points(points, steps)
    style.ring(points, only["best"], search["best_value"])
    points.set(title="Evaluated, numbered in order", ylabel=style.OBJECTIVES[search["objective"]])
    if search["objective"] == "misfit" and steps["value"].min() > 0:
        points.set_yscale("log")
    brackets.hlines(
        steps["step"], steps["low"], steps["high"], color=style.OURS, linewidth=3.2, alpha=0.3
    )
    brackets.plot(steps["at"], steps["step"], "o", color=style.OURS)
    brackets.axvline(only["best"], color=style.BEST, linewidth=0.7, dashes=(5, 3))
    brackets.set(title="Where the best can be, by step", ylabel="Evaluation")
    brackets.invert_yaxis()
    brackets.yaxis.set_major_locator(MaxNLocator(integer=True))
    for axes in (points, brackets):
        style.search_axis(axes, only)
    return figure


def _draw_points(axes: Axes, steps: pd.DataFrame) -> None:
    """The values in order of the parameter; a number where none is near."""
    style.plot(axes, steps.sort_values("at"), "at", "value", color=style.FAINT, zorder=1)
    style.plot(axes, steps, "at", "value", "o", color=style.OURS, zorder=3)
    axes.margins(y=0.12)
    style.tell(axes, steps, "at", "value", "evaluation {step} at {at}: {value}")
    width, height = (steps[column].max() - steps[column].min() or 1 for column in ("at", "value"))
    taken: list[Record] = []
    for row in records(steps):
        if all(
            abs(row["at"] - other["at"]) > 0.05 * width
            or abs(row["value"] - other["value"]) > 0.07 * height
            for other in taken
        ):
            taken.append(row)
            place = row["at"], row["value"]
            style.label(axes, f"{row['step']}", place, (4, 4), color=style.QUIET)


subjects = each(
    "searches",
    "search",
    chosen=lambda rows: rows[(rows["searched"] == 1) & rows["sampler"].isin(ONE_PEAK)],
)

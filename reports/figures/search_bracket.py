"""How did a search of one parameter close in on the peak?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis import labels
from analysis.frames import CONSTANT, Record, records, select
from analysis.searches import ONE_PEAK
from common.tables import Tables
from reports.figures import each, style

OBJECTIVES = {
    "misfit": "Misfit",
    "mean": "Power (Mbit/s/s)",
    "worst": "Worst power (Mbit/s/s)",
    "mean_log": "Mean of log power",
    "cvar": "Mean power of the worst runs (Mbit/s/s)",
    "expression": "Objective",
    "bounded": "Throughput (Mbit/s)",
    "front": "Power (Mbit/s/s)",
    "sum_log": "Sum of log goodputs",
    "worst_flow": "Least goodput (Mbit/s)",
    "share": "Share of the goodput",
    "least": "Score",
    "worst_case": "Relative power",
}


def draw(search: Record, tables: Tables) -> Figure:
    """The evaluated points in order, and the bracket around the peak step by step."""
    (only,) = records(select(tables["search_constants"], search=search["search"]))
    past = select(tables["search_trials"], search=search["search"]).dropna(subset=["low"])
    steps_taken = past.assign(
        step=range(1, len(past) + 1), result=past["value"], value=past[CONSTANT + only["constant"]]
    )
    figure = style.page(2.9)
    points, steps = figure.subplots(1, 2, width_ratios=[1, 1], sharex=True)
    _draw_points(points, search, steps_taken, only["best"])
    _draw_steps(steps, steps_taken, only["best"])
    for axes in (points, steps):
        style.search_axis(axes, only)
    return figure


def _draw_points(axes: Axes, search: Record, taken_steps: pd.DataFrame, best: float) -> None:
    steps = taken_steps.sort_values("value")
    axes.plot(steps["value"], steps["result"], "-", color=style.FAINT, zorder=1)
    axes.plot(steps["value"], steps["result"], "o", color=style.OURS, zorder=3)
    taken: list[tuple[float, float]] = []
    width = steps["value"].max() - steps["value"].min() or 1.0
    height = steps["result"].max() - steps["result"].min() or 1.0
    for row in records(taken_steps):
        place = row["value"] / width, row["result"] / height
        if all(abs(place[0] - x) > 0.05 or abs(place[1] - y) > 0.07 for x, y in taken):
            taken.append(place)
            axes.annotate(
                f"{row['step']:.0f}",
                (row["value"], row["result"]),
                (4, 4),
                textcoords="offset points",
                fontsize=7.5,
                color=style.QUIET,
            )
    texts = [
        f"evaluation {row['step']:.0f} at {labels.number(row['value'])}: "
        f"{labels.number(row['result'])}"
        for row in records(steps)
    ]
    style.tell(axes, steps["value"], steps["result"], texts)
    style.ring(axes, best, search["best_value"])
    axes.set_title("Evaluated, numbered in order")
    if search["objective"] == "misfit" and steps["result"].min() > 0:
        axes.set_yscale("log")
    axes.set_ylabel(objective_axis(search))
    axes.margins(y=0.12)


def _draw_steps(axes: Axes, taken_steps: pd.DataFrame, best: float) -> None:
    for row in records(taken_steps):
        axes.hlines(
            row["step"], row["low"], row["high"], color=style.OURS, linewidth=3.2, alpha=0.3
        )
        axes.plot(row["value"], row["step"], "o", color=style.OURS)
    axes.axvline(
        best,
        color=style.BEST,
        linewidth=0.7,
        dashes=(5, 3),
    )
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title("Where the best can be, by step")
    axes.set_ylabel("Evaluation")


def objective_axis(search: Record) -> str:
    """What the search optimised, as an axis' label."""
    return OBJECTIVES[search["objective"]]


subjects = each(
    "searches",
    "search",
    lambda search: search["searched"] == 1 and search["sampler"] in ONE_PEAK,
)

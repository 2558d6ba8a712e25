"""Does what tuning gains on the training network hold on others?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox

from analysis import labels
from analysis.frames import Record, records
from analysis.held_out import PUBLISHED, TUNED
from common.tables import Tables
from reports.figures import only, style

_SIDES = ((5, 4), (5, -5), (-5, 5), (-5, -5), (0, 9), (0, -9), (5, 12), (5, -12))
"""Offsets of a name from its dot (points), the best place first."""


Point = tuple[float, float]


def draw(_: Record, tables: Tables) -> Figure:
    """Every setting by its two scores; an arrow leads from the best published one to the tuned."""
    settings, standings = tables["held_out_settings"], tables["held_out_standings"]
    figure = style.page(4.4)
    axes = figure.add_subplot()
    points = {row["trial"]: _point(row) for row in records(settings)}
    published = settings[settings["origin"] == PUBLISHED]
    axes.plot(
        100 * published["training"],
        100 * published["held_out"],
        "o",
        label="published rows",
        markersize=3.2,
        markeredgewidth=0.6,
        markerfacecolor="none",
        markeredgecolor=style.QUIET,
    )
    arrows = [
        (points[before], points[after])
        for before, after in tables["held_out_gains"][["published_trial", "tuned_trial"]].to_numpy()
        if before in points and after in points  # one of two that are the same has no place
    ]
    for start, end in arrows:
        _arrow(axes, start, end)
    tuned = standings[standings["origin"] != PUBLISHED]
    looks = style.looks(tables["inventory"])
    for row in records(tuned):
        marker, colour = looks[row["controller"]]
        axes.plot(*_point(row), marker, color=colour, markersize=4.4)
    axes.set_xlabel("Power on the training network (% of the omniscient bound)")
    axes.set_ylabel("Power on held-out networks,\ngeometric mean (% of the bound)")
    axes.set_xlim(0, 108 * settings["training"].max())
    axes.set_ylim(bottom=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    axes.legend(loc="upper left")
    for rows in (settings, tuned):
        texts = [_value(row) for row in records(rows)]
        style.tell(axes, 100 * rows["training"], 100 * rows["held_out"], texts)
    figure.draw_without_rendering()
    _name(axes, tuned, [*points.values(), *(p for arrow in arrows for p in _along(*arrow))])
    return figure


def _point(row: Record) -> Point:
    return 100 * row["training"], 100 * row["held_out"]


def _value(row: Record) -> str:
    origin = f"{row['table']} row {row['row'] + 1}" if row["origin"] == PUBLISHED else TUNED
    x, y = _point(row)
    return f"{labels.sentence(row['controller'])}, {origin}: {x:.1f} % training, {y:.1f} % held out"


def _arrow(axes: Axes, start: Point, end: Point) -> None:
    shape = {"arrowstyle": "-|>", "mutation_scale": 7, "linewidth": 0.7, "color": style.ALTERNATE}
    axes.annotate("", end, start, arrowprops={**shape, "shrinkA": 1.5, "shrinkB": 2.5})


def _along(start: Point, end: Point) -> list[Point]:
    """Points along an arrow."""
    return [(float(x), float(y)) for x, y in np.linspace(start, end, 40)]


def _name(axes: Axes, tuned: pd.DataFrame, others: list[Point]) -> None:
    """Names the dots, each where its name covers the fewest names and dots, then the least else."""

    def boxes(points: list[Point], size: float) -> list[Bbox]:
        places = axes.transData.transform(points)
        return [Bbox.from_bounds(x - size / 2, y - size / 2, size, size) for x, y in places]

    crowd = boxes(others, 4)
    names = boxes([_point(row) for row in records(tuned)], 6)
    for row in records(tuned):
        texts = [_beside(axes, row, offset) for offset in _SIDES]
        extents = [text.get_window_extent() for text in texts]
        covered = [(box.count_overlaps(names), box.count_overlaps(crowd)) for box in extents]
        best = covered.index(min(covered))
        names.append(extents[best])
        for text in texts[:best] + texts[best + 1 :]:
            text.remove()


def _beside(axes: Axes, row: Record, offset: Point) -> Annotation:
    return axes.annotate(
        labels.sentence(row["controller"]),
        _point(row),
        offset,
        textcoords="offset points",
        ha="left" if offset[0] > 0 else "right" if offset[0] < 0 else "center",
        va="center",
        fontsize=7.5,
        color=style.OURS,
    )


subjects = only("held_out", "all")

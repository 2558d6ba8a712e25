"""Which constants mattered, and where in their ranges did a search go?"""

import numpy as np
from matplotlib.figure import Figure

from reports import labels
from reports.content import literal
from reports.figures import FigureKind, style
from reports.figures.search_bracket import objective_axis
from reports.statistics import CONSTANT
from reports.subjects import Search

_IMPORTANCE = (
    " Its importance is its share in what set the best tenth of the trials apart (PED-ANOVA)."
)


def draw(search: Search) -> Figure:
    """Every trial's value against each constant, later trials darker."""
    count = len(search.searched)
    columns = 4 if count == 4 or count > 6 else min(count, 3)
    rows = -(-count // columns)
    figure = style.page(0.3 + 1.9 * rows)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False)
    trials = search.measured
    best = search.best_trial
    for axes, constant in zip(panels.flat, search.searched, strict=False):
        axes.scatter(
            trials[CONSTANT + constant.name],
            trials["value"],
            c=trials["trial"],
            cmap="Blues",
            vmin=-0.35 * len(trials),
            s=8,
            linewidths=0,
        )
        style.ring(axes, float(best[CONSTANT + constant.name]), float(best["value"]))
        style.search_axis(axes, constant)
        if constant.name in search.importances:
            axes.set_title(f"importance {search.importances[constant.name]:.2f}")
    for axes in panels.flat[len(search.searched) :]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel(objective_axis(search))
    values = trials["value"]
    low, high = float(np.percentile(values, 2)), float(values.max())
    if not search.minimised:
        panels[0, 0].set_ylim(low - 0.05 * (high - low), high + 0.08 * (high - low))
    return figure


def _caption(search: Search) -> str:
    return (
        "Each trial's value against each constant that was searched, later trials darker; the best "
        f"is ringed: {labels.constants(search.best_constants)}. A constant whose good values crowd "
        "together matters; one whose good values spread does not."
        f"{_IMPORTANCE if search.importances else ''}"
        f"{'' if search.minimised else ' The worst 2 % of trials lie below the axis.'}"
    )


FIGURE = FigureKind(
    name="search-slices",
    subject=Search,
    order=30,
    title=lambda search: f"The constants searched: {literal(search.title)}",
    caption=_caption,
    draw=draw,
    applies=lambda search: len(search.searched) > 1,
)

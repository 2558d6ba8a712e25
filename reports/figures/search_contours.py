"""How do the two constants that matter most act together?"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reports import labels
from reports.content import literal
from reports.figures import FigureKind, style
from reports.figures.search_bracket import objective_axis
from reports.statistics import CONSTANT
from reports.subjects import Search
from reports.surface import FLOOR, LEAST_NEAR, REACH, WIDTH, Surface


def draw(search: Search) -> Figure:
    """The mean of the trials around each place, blank where there are none; every trial a dot."""
    surface = _surface(search)
    figure = style.page(3.0)
    axes = figure.add_subplot()
    shown = surface.values[~np.isnan(surface.values)]
    levels = MaxNLocator(9).tick_values(shown.min(), shown.max())
    place = surface.x_values, surface.y_values, surface.values
    filled = axes.contourf(*place, levels=levels, cmap=style.SEQUENTIAL)
    axes.contour(*place, levels=levels, colors="white", linewidths=0.4)
    trials = search.measured
    axes.plot(
        trials[CONSTANT + surface.x.name],
        trials[CONSTANT + surface.y.name],
        "o",
        color=style.INK,
        markersize=2.4,
        markeredgecolor="white",
        markeredgewidth=0.3,
    )
    best = search.best_constants
    style.ring(axes, best[surface.x.name], best[surface.y.name])
    style.search_axis(axes, surface.x, "x")
    style.search_axis(axes, surface.y, "y")
    figure.colorbar(filled, ax=axes, label=objective_axis(search), pad=0.02)
    return figure


def _surface(search: Search) -> Surface:
    assert search.surface is not None
    return search.surface


def _caption(search: Search) -> str:
    surface = _surface(search)
    shares = [search.importances[each.name] for each in (surface.x, surface.y)]
    return (
        f"The two constants of most importance ({shares[0]:.2f} and {shares[1]:.2f}), the best "
        "ringed. Only the dots were run. The colour between them is the mean of the trials around, "
        f"weighed by a bell {labels.percent(WIDTH, 0)} of the searched range wide, whatever their "
        "other constants were, so the best trials stand above it; the worst "
        f"{labels.percent(FLOOR, 0)} count as equal. Blank is where fewer than {LEAST_NEAR} trials "
        f"lie within {labels.percent(REACH, 0)} of the range: there nothing is known. The other "
        f"trials foretell {labels.percent(surface.explained, 0)} of a trial's variance in this way."
    )


FIGURE = FigureKind(
    name="search-contours",
    subject=Search,
    order=40,
    title=lambda search: (
        f"{labels.sentence(_surface(search).x.name)} and {labels.words(_surface(search).y.name)} "
        f"together: {literal(search.title)}"
    ),
    caption=_caption,
    draw=draw,
    applies=lambda search: not search.minimised and search.surface is not None,
)

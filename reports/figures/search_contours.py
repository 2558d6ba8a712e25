"""How do the two most important parameters act together?"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.frames import CONSTANT, Record, records, select
from analysis.results import Searched
from analysis.surface import surface
from common.tables import Tables
from reports.figures import each, style
from reports.figures.search_bracket import objective_axis


def draw(search: Record, tables: Tables) -> Figure:
    """The mean of the trials around each point, blank where there are none; every trial a dot."""
    constants = {
        row["constant"]: row
        for row in records(select(tables["search_constants"], search=search["search"]))
    }
    x, y = (constants[search[f"surface_{axis}"]] for axis in ("x", "y"))
    trials = select(tables["search_trials"], search=search["search"], measured=True)
    found = surface(trials, _searched(x), _searched(y))
    figure = style.page(3.0)
    axes = figure.add_subplot()
    levels = MaxNLocator(9).tick_values(np.nanmin(found.values), np.nanmax(found.values))
    place = found.x_values, found.y_values, found.values
    filled = axes.contourf(*place, levels=levels, cmap=style.SEQUENTIAL)
    axes.contour(*place, levels=levels, colors="white", linewidths=0.4)
    axes.plot(
        trials[CONSTANT + x["constant"]],
        trials[CONSTANT + y["constant"]],
        "o",
        color=style.INK,
        markersize=2.4,
        markeredgecolor="white",
        markeredgewidth=0.3,
    )
    style.ring(axes, x["best"], y["best"])
    style.search_axis(axes, x, "x")
    style.search_axis(axes, y, "y")
    figure.colorbar(filled, ax=axes, label=objective_axis(search), pad=0.02)
    return figure


def _searched(row: Record) -> Searched:
    return Searched(row["constant"], row["low"], row["high"], row["logarithmic"])


subjects = each(
    "searches",
    "search",
    lambda search: search["objective"] != "misfit" and isinstance(search["surface_x"], str),
)

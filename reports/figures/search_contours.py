"""How do the two most important parameters act together?"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.frames import CONSTANT, Record, records, select
from analysis.results import Searched
from analysis.surface import surface
from common.tables import Tables
from reports.figures import each, style

_DOTS: Record = {"markersize": 2.4, "markeredgecolor": "white", "markeredgewidth": 0.3}


def draw(search: Record, tables: Tables) -> Figure:
    """The mean of the trials around each point, blank where there are none; every trial a dot."""
    constants = records(select(tables["search_constants"], search=search["search"]))
    named = {row["constant"]: row for row in constants}
    x, y = (named[search[f"surface_{which}"]] for which in "xy")
    across, up = (
        Searched(row["constant"], row["low"], row["high"], row["logarithmic"]) for row in (x, y)
    )
    trials = select(tables["search_trials"], search=search["search"], measured=True)
    found = surface(trials, across, up)
    figure, axes = style.panel(3.0)
    levels = MaxNLocator(9).tick_values(np.nanmin(found.values), np.nanmax(found.values))
    shown = found.x_values, found.y_values, found.values
    filled = axes.contourf(*shown, levels=levels, cmap=style.SEQUENTIAL)
    axes.contour(*shown, levels=levels, colors="white", linewidths=0.4)
    place = CONSTANT + x["constant"], CONSTANT + y["constant"]
    style.plot(axes, trials, *place, "o", color=style.INK, **_DOTS)
    style.ring(axes, x["best"], y["best"])
    style.search_axis(axes, x, "x")
    style.search_axis(axes, y, "y")
    figure.colorbar(filled, ax=axes, label=style.OBJECTIVES[search["objective"]], pad=0.02)
    return figure


subjects = each(
    "searches",
    "search",
    chosen=lambda rows: rows[(rows["objective"] != "misfit") & rows["surface_x"].notna()],
)

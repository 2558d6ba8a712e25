"""How do the two most important parameters act together?"""

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.frames import CONSTANT, Record, records, select
from common.tables import Tables
from reports.figures import each, style
from reports.figures.search_bracket import objective_axis


def draw(search: Record, tables: Tables) -> Figure:
    """The mean of the trials around each point, blank where there are none; every trial a dot."""
    places = select(tables["search_surfaces"], search=search["search"])
    constants = {
        row["constant"]: row
        for row in records(select(tables["search_constants"], search=search["search"]))
    }
    x, y = (constants[search[f"surface_{axis}"]] for axis in ("x", "y"))
    across, up = places["x"].unique(), places["y"].unique()
    values = places["value"].to_numpy().reshape(len(up), len(across))
    figure = style.page(3.0)
    axes = figure.add_subplot()
    shown = values[~np.isnan(values)]
    levels = MaxNLocator(9).tick_values(shown.min(), shown.max())
    place = across, up, values
    filled = axes.contourf(*place, levels=levels, cmap=style.SEQUENTIAL)
    axes.contour(*place, levels=levels, colors="white", linewidths=0.4)
    trials = select(tables["search_trials"], search=search["search"], measured=True)
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


subjects = each(
    "searches",
    "search",
    lambda search: search["objective"] != "misfit" and isinstance(search["surface_x"], str),
)

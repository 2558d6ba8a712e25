"""Which parameters mattered, and where in their ranges did a search go?"""

import matplotlib as mpl
from matplotlib.figure import Figure

from analysis.frames import CONSTANT, Record, records, select
from common.tables import Tables
from reports.figures import each, style

_SHADES = 12
"""This many shades tell early trials from late ones."""


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial's value against each parameter, later trials darker."""
    constants = records(select(tables["search_constants"], search=search["search"]))
    trials = select(tables["search_trials"], search=search["search"], measured=True)
    count = len(constants)
    columns = 4 if count == 4 or count > 6 else min(count, 3)
    rows = -(-count // columns)
    figure = style.page(0.3 + 1.9 * rows)
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False)
    shades: Record = {
        "cmap": mpl.colormaps["Blues"].resampled(_SHADES),
        "vmin": -0.35 * len(trials),
    }
    for axes, constant in zip(panels.flat, constants, strict=False):
        column = CONSTANT + constant["constant"]
        dots: Record = {"c": trials["trial"], "s": 8, "linewidths": 0, **shades}
        axes.scatter(trials[column], trials["value"], **dots)
        style.ring(axes, constant["best"], search["best_value"])
        style.search_axis(axes, constant)
        if constant["importance"] == constant["importance"]:
            axes.set_title(f"importance {constant['importance']:.2f}")
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel(style.OBJECTIVES[search["objective"]])
    if search["objective"] not in ("misfit", "worst_case"):
        low, high = trials["value"].quantile(0.02), trials["value"].max()
        panels[0, 0].set_ylim(low - 0.05 * (high - low), high + 0.08 * (high - low))
    return figure


subjects = each("searches", "search", chosen=lambda rows: rows[rows["searched"] > 1])

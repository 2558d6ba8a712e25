"""How do the two most important parameters act together?"""

import pandas as pd
from matplotlib.figure import Figure

from analysis.frames import CONSTANT, Record, extremes, records, select
from common.tables import Tables
from reports.figures import each, style

_LEAST_IMPORTANCE = 0.1
"""A parameter of less importance gets no axis."""
_WORST = 0.1
"""This share of the trials, the worst, has one colour: how bad would drown all else."""


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial a dot, coloured by its value, the better ones above."""
    of_search = {"search": search["search"]}
    trials = select(tables["search_trials"], **of_search, measured=True)
    trials = trials.sort_values("rank", ascending=False)
    constants = select(tables["search_constants"], **of_search)
    x, y = records(constants.sort_values("importance", ascending=False, kind="stable"))[:2]
    place = (trials[CONSTANT + each["constant"]] for each in (x, y))
    figure, axes = style.panel(3.0)
    dots: Record = {"c": trials["value"], "cmap": style.SEQUENTIAL, "s": 14, "linewidths": 0}
    shown = axes.scatter(*place, **dots, rasterized=True)
    shown.set_clim(*extremes(trials["value"][int(_WORST * len(trials)) :]))
    style.ring(axes, x["best"], y["best"])
    style.search_axis(axes, x, "x")
    style.search_axis(axes, y, "y")
    figure.colorbar(shown, ax=axes, label=style.OBJECTIVES[search["objective"]], pad=0.02)
    return figure


def _where_two_matter(tables: Tables) -> pd.DataFrame:
    """Searches with two important parameters; fits ask another question."""
    constants, searches = tables["search_constants"], tables["searches"]
    important = constants[constants["importance"] >= _LEAST_IMPORTANCE]
    counts = important.groupby("search").size()
    are_fits = searches["objective"] == "misfit"
    return searches[searches["search"].isin(counts.index[counts > 1]) & ~are_fits]


subjects = each(_where_two_matter, "search")

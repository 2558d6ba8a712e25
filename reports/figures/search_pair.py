"""How do the two most important parameters act together?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from kneepoint.analysis.frames import (
    CONSTANT,
    Record,
    extremes,
    records,
    select,
)
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

_LEAST_IMPORTANCE = 0.1
"""A parameter of less importance gets no axis."""
_WORST = 0.1
"""This share of the trials, the worst, has one colour: how bad would drown all else."""
_NEAR, _STEPS, _LEAST = 0.05, 60, 1
"""Contours are of means by a normal kernel of this share of the panel's width, in so many steps,
where at least so many trials count."""


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial a dot, coloured by its value, the better ones above; contours of local means."""
    of_search = {"search": search["search"]}
    trials = select(tables["search_trials"], **of_search, measured=True)
    trials = trials.sort_values("rank", ascending=False)
    constants = select(tables["search_constants"], **of_search)
    x, y = records(constants.sort_values("importance", ascending=False, kind="stable"))[:2]
    place = (trials[CONSTANT + each["constant"]] for each in (x, y))
    figure, axes = style.panel(2.6)
    figure.set_gid("colours")
    dots: Record = {"c": trials["value"], "cmap": style.SEQUENTIAL, "s": 14, "linewidths": 0}
    shown = axes.scatter(*place, **dots, rasterized=True)
    shown.set_clim(*extremes(trials["value"][int(_WORST * len(trials)) :]))
    style.ring(axes, x["best"], y["best"])
    style.search_axis(axes, x, "x")
    style.search_axis(axes, y, "y")
    _draw_contours(axes, shown)
    figure.colorbar(shown, ax=axes, label=style.OBJECTIVES[search["objective"]], pad=0.02)
    return figure


def _draw_contours(axes: Axes, dots: PathCollection) -> None:
    """Of local means, where trials are, in fractions of the panel: its axes may be logarithmic."""
    axes.autoscale(False)
    steps = np.linspace(0, 1, _STEPS)[:, np.newaxis]
    at = (axes.transData + axes.transAxes.inverted()).transform(np.asarray(dots.get_offsets())).T
    across, along = (np.exp(-(((steps - of_one) / _NEAR) ** 2) / 2) for of_one in at)
    weights = along @ across.T
    sums = (along * np.asarray(dots.get_array())) @ across.T
    means = np.where(weights >= _LEAST, sums / weights, np.nan)
    levels = np.linspace(*dots.get_clim(), 8)[1:-1]
    lines: Record = {"colors": style.INK, "linewidths": 0.7, "transform": axes.transAxes}
    axes.contour(steps.ravel(), steps.ravel(), means, levels, **lines)


def _where_two_matter(tables: Tables) -> pd.DataFrame:
    """Searches with two important parameters; fits ask another question."""
    constants, searches = tables["search_constants"], tables["searches"]
    important = constants[constants["importance"] >= _LEAST_IMPORTANCE]
    counts = important.groupby("search").size()
    are_fits = searches["objective"] == "misfit"
    return searches[searches["search"].isin(counts.index[counts > 1]) & ~are_fits]


subjects = each(_where_two_matter, "search")

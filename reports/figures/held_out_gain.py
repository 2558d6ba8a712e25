"""Does what tuning gains on the training network hold on others?"""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis import labels
from analysis.frames import Record, records
from analysis.held_out import PUBLISHED, TUNED, standings
from common.tables import Tables
from reports.figures import only, style

_SCORES = ["training", "held_out"]
_SIDES = ((5, 4), (5, -5), (-5, 5), (-5, -5), (0, 9), (0, -9), (5, 12), (5, -12))
"""Offsets of a name from its dot (points), the best place first."""


def draw(_: Record, tables: Tables) -> Figure:
    """Every setting by its two scores; an arrow leads from the best published one to the tuned."""
    settings, ranked = map(_in_per_cent, (tables["held_out_settings"], standings(tables)))
    published = settings[settings["origin"] == PUBLISHED]
    tuned = ranked[ranked["origin"] != PUBLISHED]
    figure = style.page(4.4)
    axes = figure.add_subplot()
    x, y = _SCORES
    circles = {"s": 11, "facecolor": "none", "edgecolor": style.QUIET, "linewidth": 0.6}
    sns.scatterplot(published, x=x, y=y, label="published rows", ax=axes, **circles)
    arrows = _arrows(settings.set_index("trial")[_SCORES], tables["held_out_gains"])
    for start, end in arrows:
        shape = {"arrowstyle": "-|>", "mutation_scale": 7, "linewidth": 0.7, "shrinkB": 2.5}
        axes.annotate("", end, start, arrowprops={**shape, "color": style.ALTERNATE})
    looks = style.looks(tables["inventory"])
    style.points(axes, tuned, x, y, "controller", looks, fillstyle="full", legend=False)
    for rows in (settings, tuned):
        style.tell(axes, rows[x], rows[y], map(_value, records(rows)))
    axes.set_xlabel("Power on the training network (% of the omniscient bound)")
    axes.set_ylabel("Power on held-out networks,\ngeometric mean (% of the bound)")
    axes.set(xlim=(0, 1.08 * settings[x].max()), ylim=(0, None))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    axes.legend(loc="upper left")
    named = tuned.assign(name=tuned["controller"].map(labels.sentence))
    along = np.linspace(arrows[:, 0], arrows[:, 1], 40).reshape(-1, 2)
    crowd = np.vstack([settings[_SCORES], along])
    style.name_points(axes, named, _SCORES, _SIDES, crowd, va="center", color=style.OURS)
    return figure


def _in_per_cent(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(**{score: 100 * rows[score] for score in _SCORES})


def _arrows(places: pd.DataFrame, gains: pd.DataFrame) -> np.ndarray:
    """Start and end of each arrow; of two settings that are the same, one has no place."""
    pairs = gains[["published_trial", "tuned_trial"]]
    pairs = pairs[pairs.isin(places.index).all(axis="columns")]
    return places.loc[pairs.to_numpy().ravel()].to_numpy().reshape(-1, 2, 2)


def _value(row: Record) -> str:
    origin = f"{row['table']} row {row['row'] + 1}" if row["origin"] == PUBLISHED else TUNED
    x, y = (row[score] for score in _SCORES)
    return f"{labels.sentence(row['controller'])}, {origin}: {x:.1f} % training, {y:.1f} % held out"


subjects = only("held_out_settings", "all")

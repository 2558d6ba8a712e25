"""Does what tuning gains on the training network hold on others?"""

import numpy as np
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
    settings, ranked = (
        rows.assign(
            **(100 * rows[_SCORES]),
            name=rows["controller"].map(labels.sentence),
            from_=[_found_in(row) for row in records(rows)],
        )
        for rows in (tables["held_out_settings"], standings(tables))
    )
    published = settings[settings["origin"] == PUBLISHED]
    tuned = ranked[ranked["origin"] != PUBLISHED]
    figure, axes = style.panel(4.4)
    circles = {"s": 11, "facecolor": "none", "edgecolor": style.QUIET, "linewidth": 0.6}
    x, y = _SCORES
    sns.scatterplot(published, x=x, y=y, label="published rows", ax=axes, **circles)
    pairs = tables["held_out_gains"][["published_trial", "tuned_trial"]]
    pairs = pairs[pairs.isin(settings["trial"].tolist()).all(axis="columns")]
    ends = settings.set_index("trial")[_SCORES].loc[pairs.to_numpy().ravel()]
    arrows = ends.to_numpy().reshape(-1, 2, 2)
    for start, end in arrows:
        shape = {"arrowstyle": "-|>", "mutation_scale": 7, "linewidth": 0.7, "shrinkB": 2.5}
        axes.annotate("", end, start, arrowprops={**shape, "color": style.ALTERNATE})
    looks = style.looks(tables["inventory"])
    full: Record = {"fillstyle": "full", "legend": False}
    style.points(axes, tuned, x, y, "controller", looks, **full)
    for rows in (settings, tuned):
        text = "{name}, {from_}: {training:.1f} % training, {held_out:.1f} % held out"
        style.tell(axes, rows, x, y, text)
    axes.set_xlabel("Power on the training network (% of the omniscient bound)")
    axes.set_ylabel("Power on held-out networks,\ngeometric mean (% of the bound)")
    axes.set(xlim=(0, 1.08 * settings["training"].max()), ylim=(0, None))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True, nbins=7))
    axes.legend(loc="upper left")
    along = np.linspace(arrows[:, 0], arrows[:, 1], 40).reshape(-1, 2)
    crowd = np.vstack([settings[_SCORES], along])
    style.name_points(axes, tuned, _SCORES, _SIDES, crowd, va="center", color=style.OURS)
    return figure


subjects = only("held_out_settings", "all")


def _found_in(setting: Record) -> str:
    if setting["origin"] != PUBLISHED:
        return TUNED
    has_row = isinstance(setting["table"], str)
    return f"{setting['table']} row {setting['row'] + 1:.0f}" if has_row else "defaults"

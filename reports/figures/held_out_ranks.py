"""Does the order of settings on the training network hold on others?"""

import pandas as pd
from matplotlib.figure import Figure

from analysis.frames import Record, records
from analysis.held_out import PUBLISHED, standings
from common.tables import Tables
from reports.figures import only, style


def draw(_: Record, tables: Tables) -> Figure:
    """A line a setting, from its rank on the training network to that on the held-out ones."""
    ranked = standings(tables)
    looks = style.looks(tables["inventory"])
    order = ranked["held_out"].rank(ascending=False, method="first") - 1  # one below the other
    left = ranked["label"] + "  " + ranked["training_rank"].astype(str)
    right = ranked["held_out_rank"].astype(str) + "  " + ranked["label"]
    before = ranked.assign(side=0, line=range(len(ranked)), text=left)
    after = ranked.assign(side=1, line=order.astype(int), text=right)
    ends = pd.concat([before, after], ignore_index=True)
    figure, axes = style.panel(0.6 + 0.19 * len(ranked))
    is_open = ends["origin"] == PUBLISHED
    for part, line in (
        (ends[is_open], {"linestyle": ":", "linewidth": 0.8, "markerfacecolor": "white"}),
        (ends[~is_open], {"linestyle": "-", "linewidth": 1.3}),
    ):
        look: Record = {**line, "units": "trial", "fillstyle": "full", "markersize": 3.6}
        style.points(axes, part, "side", "line", "controller", looks, legend=False, **look)
    for row in records(ends):
        beside = {"color": looks[row["controller"]][1], "annotation_clip": False}
        offset = -6 if row["side"] == 0 else 6, 0
        style.label(axes, row["text"], (row["side"], row["line"]), offset, **beside)
    axes.set(xlim=(-0.75, 1.75), ylim=(len(ranked) - 0.5, -0.8), xlabel="", ylabel="", yticks=[])
    axes.set_xticks([0, 1], ["training network", "held-out networks"])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return figure


subjects = only(standings, "all", lambda rows: rows if len(rows) > 2 else rows[:0])

"""Does the order of settings on the training network hold on others?"""

import pandas as pd
from matplotlib.figure import Figure

from analysis.frames import Record, records
from analysis.held_out import PUBLISHED, standings
from common.tables import Tables
from reports.figures import style


def draw(_: Record, tables: Tables) -> Figure:
    """A line a setting, from its rank on the training network to that on the held-out ones."""
    ranked = standings(tables)
    ends = _ends(ranked)
    looks = style.looks(tables["inventory"])
    figure = style.page(0.6 + 0.19 * len(ranked))
    axes = figure.add_subplot()
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


def _ends(ranked: pd.DataFrame) -> pd.DataFrame:
    """Each setting's places from above, left and right; ties stand one below the other."""
    order = ranked["held_out"].rank(ascending=False, method="first") - 1
    left = ranked["label"] + "  " + ranked["training_rank"].astype(str)
    right = ranked["held_out_rank"].astype(str) + "  " + ranked["label"]
    before = ranked.assign(side=0, line=range(len(ranked)), text=left)
    after = ranked.assign(side=1, line=order.astype(int), text=right)
    return pd.concat([before, after], ignore_index=True)


def subjects(tables: Tables) -> dict[str, Record]:
    """Two ranks need no figure."""
    return {"all": {}} if tables["held_out_settings"]["training_rank"].count() > 2 else {}

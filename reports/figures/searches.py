"""How soon did each search find its best, and how good is that beside the others?"""

import textwrap

import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kneepoint.analysis import labels
from kneepoint.analysis.frames import (
    Record,
    extremes,
    select,
)
from kneepoint.analysis.searches import ENUMERATING
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import only, style

_COLUMNS = 4
_MOST = 40
"""A page has room for this many panels."""


def draw(_: Record, tables: Tables) -> Figure:
    """A panel a search: every trial, the best so far; the same scale where unit and network are."""
    found = _adaptive(tables["searches"])
    shown = found[:_MOST].set_index("search", drop=False)
    units = shown["objective"].map(style.OBJECTIVES)
    scales = units + shown["network_titles"].map(str)  # those of other networks compare with none
    past = tables["search_trials"].merge(scales.rename("scale"), left_on="search", right_index=True)
    past["number"] = past["trial"] + 1
    limits = {scale: extremes(part["best_so_far"]) for scale, part in past.groupby("scale")}
    columns = min(_COLUMNS, len(shown))
    facets = {"col": "search", "col_order": shown.index, "col_wrap": columns}
    dots = {"s": 5, "color": "#c3c8ce", "linewidth": 0, "facet_kws": {"sharey": False}}
    grid = sns.relplot(past, x="number", y="value", **facets, **dots)
    before = ""
    for at, (name, axes) in enumerate(grid.axes_dict.items()):
        part = select(past, search=name)
        step: Record = {"marker": "", "drawstyle": "steps-post"}
        style.curve(axes, part, "number", "best_so_far", **step)
        better = part[part["improved"]]
        runs = style.runs_of(tables["settings_run"], study=better["search"], trial=better["trial"])
        style.tell(axes, better, "number", "best_so_far", "trial {number}: {best_so_far:.4g}", runs)
        stated = shown["best_value"][name]
        text = labels.number(float(f"{stated:.3g}"))
        place = part["number"].iloc[-1], stated
        if shown["fresh_runs"][name]:
            axes.plot(*place, "D", color=style.BEST, markersize=3, clip_on=False)
        style.label(axes, text, place, (1, 2), ha="right", fontsize=7, color=style.BEST)
        low, high = limits[scales[name]]
        low, high = min(0, low, stated), max(high, stated)
        axes.set(ylim=(low, high + 0.2 * ((high - low) or 1)), xlabel="", ylabel="")
        if at % columns == 0 or units[name] != before:
            axes.set_ylabel(textwrap.fill(units[name], 16), fontsize=7)
        before = units[name]
        title = textwrap.shorten(shown["title"][name], 60, placeholder="\N{HORIZONTAL ELLIPSIS}")
        axes.set_title(textwrap.fill(title, 29), fontsize=6.5, linespacing=1.05, pad=3)
        axes.tick_params(labelsize=7)
        axes.yaxis.set_major_locator(MaxNLocator(3))
    first = grid.axes.flat[0]
    first.set(xscale="log", xlim=(0.9, 1.15 * past["number"].max()))
    style.log_ticks(first, "x", (1,))
    figure = style.fit(grid, 0.3 + min(9, 1.2 * -(-len(shown) // columns)))
    rest = f"; the first {_MOST} of {len(found)} searches" if len(found) > _MOST else ""
    figure.supxlabel(f"Trial, logarithmic{rest}", fontsize=8.5)
    return figure


def _adaptive(rows: pd.DataFrame) -> pd.DataFrame:
    """Searches that adapt to what they found; fits ask another question."""
    return rows[~rows["sampler"].isin(ENUMERATING) & (rows["fit"].map(len) == 0)]


subjects = only("searches", "all", _adaptive)

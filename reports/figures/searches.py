"""How soon did each search find its best, and how good is that beside the others?"""

import textwrap

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis import labels
from analysis.frames import Record, extremes, records
from analysis.searches import ENUMERATING
from common.tables import Tables
from reports.figures import style
from reports.figures.search_bracket import objective_axis

_COLUMNS = 4
_MOST = 40
"""A page has room for this many panels."""


def draw(_: Record, tables: Tables) -> Figure:
    """A panel a search: every trial, the best so far; the same scale where the unit is the same."""
    found = _searches(tables)
    shown = records(found[:_MOST])
    past = tables["search_trials"]
    past = past.assign(number=past["trial"] + 1)
    past = past[past["search"].isin(found["search"][:_MOST])]
    unit = past["search"].map({row["search"]: objective_axis(row) for row in shown})
    limits = {name: extremes(part["best_so_far"]) for name, part in past.groupby(unit)}
    height_in = min(1.2, 9 / -(-len(shown) // _COLUMNS))
    figure, panels = style.multiples(len(shown), _COLUMNS, height_in, sharex=True)
    trials = dict(tuple(past.groupby("search")))
    for at, (axes, search) in enumerate(zip(panels, shown, strict=True)):
        low, high = limits[objective_axis(search)]
        axes.set_ylim(min(0, low), 1.2 * high or 1)
        _draw_search(axes, trials[search["search"]], tables["settings_run"])
        axes.set_title(_title(search), fontsize=6.5, linespacing=1.05, pad=3)
        if at % _COLUMNS == 0 or objective_axis(shown[at - 1]) != objective_axis(search):
            axes.set_ylabel(textwrap.fill(objective_axis(search), 16), fontsize=7)
        axes.tick_params(labelsize=7)
        axes.yaxis.set_major_locator(MaxNLocator(3))
    panels[0].set(xscale="log", xlim=(0.9, 1.15 * past["number"].max()))
    style.log_ticks(panels[0], "x", style.decades(1, past["number"].max(), (1,)))
    panels[0].minorticks_off()
    rest = f"; the first {_MOST} of {len(found)} searches" if len(found) > _MOST else ""
    figure.supxlabel(f"Trial, logarithmic{rest}", fontsize=8.5)
    return figure


def _draw_search(axes: Axes, past: pd.DataFrame, settings: pd.DataFrame) -> None:
    faint = {"s": 5, "color": "#c3c8ce", "linewidth": 0}
    sns.scatterplot(past, x="number", y="value", ax=axes, **faint)
    ours = {"drawstyle": "steps-post", "color": style.OURS, "errorbar": None}
    sns.lineplot(past, x="number", y="best_so_far", ax=axes, **ours)
    last = past.iloc[-1]
    axes.annotate(
        labels.number(float(f"{last['best_so_far']:.3g}")),
        (last["number"], last["best_so_far"]),
        (1, 2),
        textcoords="offset points",
        ha="right",
        fontsize=7,
        color=style.OURS,
    )
    axes.set(xlabel="", ylabel="")
    found = past[past["improved"]]
    texts = [f"trial {row['trial']}: {labels.number(row['best_so_far'])}" for row in records(found)]
    runs = style.runs_of(settings, study=found["search"], trial=found["trial"])
    style.tell(axes, found["number"], found["best_so_far"], texts, runs)


def _title(search: Record) -> str:
    """The controller, and below it the network, each in lines as wide as a panel."""
    networks = search["network_titles"]
    where = networks[0] if len(networks) == 1 else labels.count(len(networks), "network")
    names = (labels.sentence(search["controller"]), where)
    return "\n".join(
        textwrap.fill(name, 29, max_lines=2, placeholder="\N{HORIZONTAL ELLIPSIS}")
        for name in names
    )


def _searches(tables: Tables) -> pd.DataFrame:
    """Those that adapt to what they found; fits ask another question."""
    found = tables["searches"]
    if not len(found):
        return found
    return found[~found["sampler"].isin(ENUMERATING) & (found["fit"].map(len) == 0)]


def subjects(tables: Tables) -> dict[str, Record]:
    """One, where there are searches."""
    return {"all": {}} if len(_searches(tables)) else {}

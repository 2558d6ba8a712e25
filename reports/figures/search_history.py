"""How soon did a search find its best?"""

from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, select
from analysis.searches import ENUMERATING, ONE_PEAK
from common.tables import Tables
from reports.figures import each, style


def draw(search: Record, tables: Tables) -> Figure:
    """The value of each trial, and the best so far."""
    figure, axes = style.panel(2.2)
    past = select(tables["search_trials"], search=search["search"])
    fine = {"color": style.QUIET, "markersize": 2.0, "markeredgewidth": 0}
    style.plot(axes, past[~past["failed"]], "trial", "value", "o", **fine)
    style.best_so_far(axes, past, "trial", tables["settings_run"], marked=True)
    bottom = axes.get_ylim()[0]
    for rows, marker, colour in (
        (past[past["failed"]], "x", style.BEST),
        (past[past["stopped"] | past["beyond"]], "|", style.QUIET),
    ):
        axes.plot(rows["trial"], [bottom] * len(rows), marker, color=colour, clip_on=False)
    last = past.iloc[-1]
    text, place = f"best so far\n{labels.number(last['best_so_far'])}", last[_LAST]
    beside = {"color": style.OURS, "fontsize": None, "annotation_clip": False}
    style.label(axes, text, tuple(place), (6, 0), **beside)
    axes.set(xlim=(-0.01 * len(past), 1.01 * len(past)), xlabel="Trial")
    axes.set_ylabel(style.OBJECTIVES[search["objective"]])
    return figure


_LAST = ["trial", "best_so_far"]

subjects = each(
    "searches",
    "search",
    chosen=lambda rows: rows[~rows["sampler"].isin((*ONE_PEAK, *ENUMERATING))],
)

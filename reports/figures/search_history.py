"""How soon did a search find its best?"""

from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.searches import ENUMERATING, ONE_PEAK
from common.tables import Tables
from reports.figures import each, style
from reports.figures.search_bracket import objective_axis


def draw(search: Record, tables: Tables) -> Figure:
    """The value of each trial, and the best so far."""
    figure = style.page(2.2)
    axes = figure.add_subplot()
    past = select(tables["search_trials"], search=search["search"])
    fine, failed = past[~past["failed"]], past[past["failed"]]
    axes.plot(
        fine["trial"], fine["value"], "o", color=style.QUIET, markersize=2.0, markeredgewidth=0
    )
    axes.plot(past["trial"], past["best_so_far"], drawstyle="steps-post", color=style.OURS)
    found = past[past["improved"]]
    axes.plot(found["trial"], found["best_so_far"], "o", color=style.OURS, markersize=3.4)
    texts = [f"trial {row['trial']}: {labels.number(row['best_so_far'])}" for row in records(found)]
    runs = style.runs_of(tables["settings_run"], study=found["search"], trial=found["trial"])
    style.tell(axes, found["trial"], found["best_so_far"], texts, runs)
    bottom = axes.get_ylim()[0]
    axes.plot(failed["trial"], [bottom] * len(failed), "x", color=style.BEST, clip_on=False)
    aside = past[past["stopped"] | past["beyond"]]
    if len(aside):
        axes.plot(aside["trial"], [bottom] * len(aside), "|", color=style.QUIET, markersize=4)
    last = past.iloc[-1]
    axes.annotate(
        f"best so far\n{labels.number(last['best_so_far'])}",
        (last["trial"], last["best_so_far"]),
        (6, 0),
        textcoords="offset points",
        va="center",
        color=style.OURS,
        annotation_clip=False,
    )
    axes.set_xlim(-0.01 * len(past), 1.01 * len(past))
    axes.set_xlabel("Trial")
    axes.set_ylabel(objective_axis(search))
    return figure


subjects = each(
    "searches", "search", lambda search: search["sampler"] not in (*ONE_PEAK, *ENUMERATING)
)

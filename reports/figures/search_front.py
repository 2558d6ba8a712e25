"""How much throughput can a controller have at each delay, and where is the knee?"""

from matplotlib.figure import Figure

from kneepoint.analysis.frames import Record, select
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial, the front as a line, its knee ringed, and the omniscient point."""
    trials = select(tables["search_trials"], search=search["search"])
    place = SIGNAL_DELAY, THROUGHPUT
    figure, axes = style.panel(3.2)
    style.plot(axes, trials, *place, "o", color=style.QUIET, markersize=2.4, label="trials")
    best = trials[trials["on_front"]]
    style.plot(axes, best, *place, "o", color=style.OURS)
    style.front(axes, trials)
    style.tell(axes, best, *place, "trial {trial}: " + style.IN_PLANE)
    bound = search["omniscient_ms"], search["omniscient_mbps"]
    style.plane(axes, trials[SIGNAL_DELAY], bound)
    axes.legend(loc="lower left")
    return figure


subjects = each("searches", "search", chosen=lambda rows: rows[rows["objective"] == "front"])

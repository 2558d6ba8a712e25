"""How much throughput can a controller have at each delay, and where is the knee?"""

from matplotlib.figure import Figure

from analysis.frames import Record, records, select
from analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import each, style


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial, the front as a line, its knee ringed, and the omniscient point."""
    trials = select(tables["search_trials"], search=search["search"])
    place = SIGNAL_DELAY, THROUGHPUT
    figure, axes = style.panel(3.2)
    dots: Record = {"color": style.QUIET, "markersize": 2.4, "label": "trials"}
    style.plot(axes, trials, *place, "o", **dots)
    front = trials[trials["on_front"]].sort_values(SIGNAL_DELAY)
    line: Record = {"drawstyle": "steps-post", "color": style.OURS, "label": "Pareto front"}
    style.plot(axes, front, *place, "o-", **line)
    style.tell(
        *(axes, front, *place),
        "trial {trial}: {throughput_mbps:.2f} Mbit/s at {signal_delay_p95_ms:.0f} ms, "
        "power {power:.2f}",
    )
    for row in records(trials[trials["knee"]]):
        style.ring(axes, row[SIGNAL_DELAY], row[THROUGHPUT])
    style.omniscient(axes, search["omniscient_ms"], search["omniscient_mbps"])
    style.delay_axis(axes, [*trials[SIGNAL_DELAY].dropna(), search["omniscient_ms"]])
    axes.set(ylim=(0, None), ylabel="Throughput (Mbit/s)")
    axes.legend(loc="lower left")
    return figure


subjects = each("searches", "search", chosen=lambda rows: rows[rows["objective"] == "front"])

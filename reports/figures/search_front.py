"""How much throughput can a controller have at each delay, and where is the knee?"""

from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import each, style


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial, the front as a line, its knee ringed, and the omniscient point."""
    trials = select(tables["search_trials"], search=search["search"])
    figure = style.page(3.2)
    axes = figure.add_subplot()
    axes.plot(
        trials[SIGNAL_DELAY],
        trials[THROUGHPUT],
        "o",
        color=style.QUIET,
        markersize=2.4,
        label="trials",
    )
    front = trials[trials["on_front"]].sort_values(SIGNAL_DELAY)
    axes.plot(
        front[SIGNAL_DELAY],
        front[THROUGHPUT],
        "o-",
        drawstyle="steps-post",
        color=style.OURS,
        label="Pareto front",
    )
    for row in records(trials[trials["knee"]]):
        style.ring(axes, row[SIGNAL_DELAY], row[THROUGHPUT])
    bound = search["omniscient_ms"], search["omniscient_mbps"]
    axes.plot(*bound, "*", color=style.INK, markersize=9, label="omniscient")
    delays = [*trials[SIGNAL_DELAY], bound[0]]
    style.delay_axis(axes, [delay for delay in delays if delay == delay])
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Throughput (Mbit/s)")
    texts = [
        f"trial {row['trial']}: {row[THROUGHPUT]:.2f} Mbit/s at {row[SIGNAL_DELAY]:.0f} ms, power "
        f"{labels.number(round(row[POWER], 2))}"
        for row in records(front)
    ]
    style.tell(axes, front[SIGNAL_DELAY], front[THROUGHPUT], texts)
    axes.legend(loc="lower left")
    return figure


subjects = each("searches", "search", lambda search: search["objective"] == "front")

"""What does the network on which a controller does worst look like, and what does it do there?"""

from matplotlib.figure import Figure

from analysis.frames import Record, select
from analysis.link_log import end_s
from common.tables import Tables
from reports.figures import delay_over_time, each, rate_over_time, style


def draw(case: Record, tables: Tables) -> Figure:
    """Capacity and rates above, delays below, over the same time."""
    rates, signal, packets, base = (
        select(tables[f"worst_case_{name}"], search=case["search"])
        for name in ("rates", "signal", "packets", "base_delays")
    )
    figure = style.page(4.6)
    above, below = figure.subplots(2, 1, sharex=True)
    rate_over_time.onto(above, rates, case)
    above.set_xlabel("")
    if len(base) > 1:
        below.stairs(
            base["delay_ms"],
            [*base["start_s"], end_s(rates["start_s"])],
            baseline=None,
            color=style.QUIET,
            label="base delay, one way",
        )
    delay_over_time.onto(below, signal, packets, rates, case)
    return figure


subjects = each("worst_cases", "search", lambda case: not case["failed"])

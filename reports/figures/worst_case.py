"""What does the network on which a controller does worst look like, and what does it do there?"""

from matplotlib.figure import Figure

from analysis import over_time
from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import delay_over_time, each, rate_over_time, style


def draw(case: Record, tables: Tables) -> Figure:
    """Capacity and rates above, delays below, over the same time."""
    series = select(tables["series"], run=case["run"])
    base = over_time.of(series, over_time.BASE_DELAY)
    figure = style.page(4.6)
    above, below = figure.subplots(2, 1, sharex=True)
    rate_over_time.onto(above, series, case)
    above.set_xlabel("")
    if len(base) > 1:
        below.stairs(
            base["value"],
            [*base["time_s"], above.get_xlim()[1]],
            baseline=None,
            color=style.QUIET,
            label="base delay, one way",
        )
    delay_over_time.onto(below, series, case)
    return figure


subjects = each("worst_cases", "search", lambda case: not case["failed"])

"""How are the delays of packets, and of information over time, distributed?"""

import seaborn as sns
from matplotlib.figure import Figure

from analysis import over_time
from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import each, style

_LINES = {
    over_time.QUEUEING: ("queueing delay", style.OURS, "-"),
    over_time.SIGNAL: ("signal delay", style.ALTERNATE, "--"),
    over_time.RTT: ("RTT", style.INK, ":"),
}


def draw(run: Record, tables: Tables) -> Figure:
    """The empirical distributions of a run's delays, and where 95 % lie below."""
    series = select(tables["series"], run=run["run"])
    figure, axes = style.panel(2.6)
    axes.axhline(0.95, color=style.QUIET, linewidth=0.6, dashes=(5, 3))
    for quantity, (what, colour, dashes) in _LINES.items():
        delays_ms = select(series, quantity=quantity)["value"]
        if len(delays_ms):
            sns.ecdfplot(x=delays_ms, ax=axes, color=colour, linestyle=dashes, label=what)
    axes.set(xscale="log", ylim=(0, 1), xlabel="Delay (ms), logarithmic", ylabel="Cumulative share")
    style.log_ticks(axes, "x", (1, 3))
    axes.legend(loc="lower right")
    return figure


subjects = each("showcase", "run")

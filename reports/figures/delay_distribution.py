"""How are the delays of packets, and of information over time, distributed?"""

from matplotlib.figure import Figure

from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import each, style

_LINES = {"queueing delay": "-", "signal delay": "--", "RTT": ":"}


def draw(run: Record, tables: Tables) -> Figure:
    """The empirical distributions of a run's delays, and where 95 % lie below."""
    found = select(tables["showcase_distributions"], run=run["run"])
    figure = style.page(2.6)
    axes = figure.add_subplot()
    axes.axhline(0.95, color=style.QUIET, linewidth=0.6, dashes=(5, 3))
    colours = (style.OURS, style.ALTERNATE, style.INK)
    for (what, dashes), colour in zip(_LINES.items(), colours, strict=True):
        of = select(found, what=what)
        positive = of[of["delay_ms"] > 0]
        axes.plot(
            positive["delay_ms"],
            positive["share"],
            drawstyle="steps-post",
            linestyle=dashes,
            color=colour,
            label=what if len(of) else None,
        )
    axes.set(xscale="log", ylim=(0, 1), xlabel="Delay (ms), logarithmic", ylabel="Cumulative share")
    axes.minorticks_off()
    style.log_ticks(axes, "x", style.decades(*axes.get_xlim(), steps=(1, 3)))
    axes.legend(loc="lower right")
    return figure


subjects = each("showcase", "run")

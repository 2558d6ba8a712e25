"""Does tuning against worst cases make the next one milder, and what does it cost?"""

import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import each, style

TITLES = {"worst_case": "In the worst case", "own": "On its own networks"}


def draw(hardening: Record, tables: Tables) -> Figure:
    """Relative power by round: a line for each repeat, their median, in both places."""
    rounds = select(tables["hardening_rounds"], hardening=hardening["hardening"])
    rounds = rounds.assign(number=rounds["repeat"] + 1)
    figure = style.page(2.8)
    worst, own = panels = figure.subplots(1, 2)
    for axes, (column, title) in zip(panels, TITLES.items(), strict=True):
        each = {"x": "round", "y": column, "ax": axes, "marker": "o", "markeredgewidth": 0}
        single = {"units": "repeat", "estimator": None, "color": style.QUIET, "linewidth": 0.6}
        sns.lineplot(rounds, markersize=2.4, **each, **single)
        middle = {"estimator": "median", "errorbar": None, "label": "median", "legend": False}
        sns.lineplot(rounds, color=style.OURS, **each, **middle)
        axes.set(title=title, xlabel="Worst cases among the networks", ylabel="")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        text = f"repeat {{number}}, round {{round}}: {{{column}}}"
        style.tell(axes, rounds, "round", column, text)
    worst.set(yscale="log", ylabel="Relative power")
    style.log_ticks(worst, "y")
    own.set_ylim(bottom=0)
    worst.legend(loc="lower right")
    return figure


subjects = each("hardening_rounds", "hardening")

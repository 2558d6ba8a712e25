"""How does a swept parameter trade delay for throughput?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, select
from kneepoint.analysis.metrics import (
    POWER,
    SIGNAL_DELAY,
    THROUGHPUT,
)
from kneepoint.analysis.sweeps import published_points
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style


def draw(sweep: Record, tables: Tables) -> Figure:
    """Throughput against signal delay, delay inverted, so that up and to the right is better."""
    curve = select(tables["sweep_points"], sweep=sweep["sweep"]).assign(report="Kneepoint")
    place = SIGNAL_DELAY, THROUGHPUT
    published = select(published_points(tables), sweep=sweep["sweep"]).dropna(subset=[*place])
    figure, axes = style.panel(3.5)
    style.curve(axes, curve, *place, label="Kneepoint" if len(published) else "")
    style.points(axes, published, *place, by="report", looks=style.reports(published))
    style.ring(axes, sweep[SIGNAL_DELAY], sweep[THROUGHPUT])
    both = pd.concat([published, curve]).assign(name=labels.words(sweep["constant"]))
    style.plane(axes, both[SIGNAL_DELAY])
    axes.set_ylim(0, curve[THROUGHPUT].max() * 1.1)
    style.tell(axes, both, *place, "{report}, {name} {value:g}: " + style.IN_PLANE)
    style.legend_once(axes, [axes], loc="lower left")
    _draw_powers(axes, sweep[POWER])
    first = curve.sort_values("best", ascending=False, kind="stable")
    first["name"] = first["value"].map(labels.number)
    best, *_ = style.name_points(axes, first, [*place], [(5, 4)], always=False, fontsize=8.5)
    best.set(color=style.BEST, weight="bold")
    return figure


def _draw_powers(axes: Axes, greatest: float) -> None:
    """Lines of equal power: the best setting lies on the dashed one."""
    delay, throughput = np.geomspace(*axes.get_xlim(), 200), np.linspace(*axes.get_ylim(), 100)
    power = 1000 * throughput[:, None] / delay
    steps = MaxNLocator(7).tick_values(0, greatest)
    lesser = [level for level in steps if 0 < level < 0.92 * greatest]
    top = throughput[-1]
    for levels, colours, dashes, form, height in (
        (lesser, (style.FAINT, style.QUIET), "solid", "%g", 0.96 * top),
        ([greatest], (style.BEST, style.BEST), "dashed", "power %.2f", 0.9 * top),
    ):
        look: Record = {"colors": colours[0], "linestyles": dashes, "linewidths": 0.6, "zorder": 1}
        lines = axes.contour(delay, throughput, power, levels, **look)
        ends = [(1000 * height / level, height) for level in levels]
        axes.clabel(lines, fmt=form, fontsize=7.5, colors=colours[1], manual=ends)


subjects = each("sweeps", "sweep")

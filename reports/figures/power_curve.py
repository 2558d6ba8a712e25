"""At which value of a swept parameter does power peak, and which values tie with it?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kneepoint.analysis import labels
from kneepoint.analysis.frames import (
    Record,
    extremes,
    select,
)
from kneepoint.analysis.metrics import POWER
from kneepoint.analysis.sweeps import published_points
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

WIDE = 150
"""A sweep whose values differ by more than this factor has a logarithmic axis."""


def draw(sweep: Record, tables: Tables) -> Figure:
    """The whole curve, and beside it the neighbourhood of the best."""
    curve = select(tables["sweep_points"], sweep=sweep["sweep"]).assign(report="Kneepoint")
    published = select(published_points(tables), sweep=sweep["sweep"]).dropna(subset=[POWER])
    both = pd.concat([published, curve]).assign(name=labels.words(sweep["constant"]))
    figure = style.page(2.9)
    whole, near = figure.subplots(1, 2, width_ratios=[3, 2])
    for axes in (whole, near):
        style.curve(axes, curve, "value", POWER, label="Kneepoint" if len(published) else "")
        style.points(axes, published, "value", POWER, "report", style.reports(published))
        style.ring(axes, sweep["best_value"], sweep[POWER])
        style.tell(axes, both, "value", POWER, "{report}, {name} {value:g}: power {power:.2f}")
        axes.set(xlabel=labels.axis(sweep["constant"], sweep["unit"]), ylabel="")
    whole.set(title="All settings", ylabel="Power (Mbit/s per second of delay)")
    whole.set_ylim(0, 1.08 * sweep[POWER])
    low, high = extremes(curve["value"])
    if low > 0 and high / low > WIDE:
        whole.set_xscale("log")
        style.log_ticks(whole, "x")
    style.legend_once(whole, [whole, near], loc="upper right")
    _zoom(near, sweep, curve, both)
    return figure


def _zoom(axes: Axes, sweep: Record, curve: pd.DataFrame, both: pd.DataFrame) -> None:
    """The values within a tenth of the best power, with the band of what chance may explain.

    The next value on each side is shown, too.
    """
    good = curve.index[curve[POWER] >= 0.9 * sweep[POWER]]
    left, right = extremes(curve["value"][max(good.min() - 1, 0) : good.max() + 2])
    low, high = extremes(both[both["value"].between(left, right)][POWER])
    pad, room = 0.06 * (right - left), high - low
    axes.set(xlim=(left - pad, right + pad), ylim=(low - 0.08 * room, high + 0.26 * room))
    axes.set_title("Around the best")
    if sweep["margin"] == sweep["margin"]:
        floor = sweep[POWER] * (1 - sweep["margin"])
        axes.axhspan(floor, sweep[POWER], color=style.BEST, alpha=0.13, linewidth=0, zorder=0)
    best, place = f"{labels.number(sweep['best_value'])}: {sweep[POWER]:.2f}", sweep["best_value"]
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
    look = {"color": style.BEST, "weight": "bold", "fontsize": 9, "bbox": box, "zorder": 6}
    style.label(axes, best, (place, sweep[POWER]), (0, 11), **look)
    if not (curve["value"] % 1).any():
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


subjects = each("sweeps", "sweep")

"""Which value of a swept constant has the greatest power, and which cannot be told from it?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import extremes
from reports.metrics import POWER
from reports.subjects import Sweep

WIDE = 150
"""A sweep whose values differ by more than this factor has a logarithmic axis."""


def draw(sweep: Sweep) -> Figure:
    """The whole curve, and beside it the neighbourhood of the best."""
    figure = style.page(2.9)
    whole, near = figure.subplots(1, 2, width_ratios=[3, 2])
    for axes in (whole, near):
        _draw_curve(axes, sweep)
        axes.set_xlabel(labels.axis(sweep.constant, sweep.unit))
    whole.set_ylabel("Power (Mbit/s per second of delay)")
    whole.set_ylim(0, 1.08 * sweep.best.value)
    whole.set_title("All settings")
    values = sweep.curve["value"]
    if values.min() > 0 and values.max() / values.min() > WIDE:
        whole.set_xscale("log")
        whole.minorticks_off()
        style.log_ticks(whole, "x", style.decades(values.min(), values.max()))
    style.legend_once(whole, [whole], loc="upper right")
    _zoom(near, sweep)
    return figure


def _draw_curve(axes: Axes, sweep: Sweep) -> None:
    curve = sweep.curve.sort_values("value")
    axes.plot(curve["value"], curve[POWER], "o-", color=style.OURS, label="Kneepoint", zorder=3)
    for table in sweep.reports:
        rows = sweep.published[sweep.published["table"] == table].dropna(subset=[POWER])
        if len(rows):
            style.open_markers(axes, rows["value"], rows[POWER], table)
    style.ring(axes, sweep.best_value, sweep.best.value)


def _zoom(axes: Axes, sweep: Sweep) -> None:
    """The values within a tenth of the best power, with the band of what chance may explain.

    The next value on each side is shown, too.
    """
    curve = sweep.curve.sort_values("value", ignore_index=True)
    good = curve.index[curve[POWER] >= 0.9 * sweep.best.value]
    near = curve["value"][max(good.min() - 1, 0) : good.max() + 2]
    pad = (near.max() - near.min()) * 0.06
    axes.set_xlim(near.min() - pad, near.max() + pad)
    both = pd.concat([sweep.curve, sweep.published])
    low, high = extremes(both[both["value"].between(near.min(), near.max())][POWER])
    axes.set_ylim(low - 0.08 * (high - low), high + 0.26 * (high - low))
    axes.set_title("Around the best")
    if sweep.best.margin == sweep.best.margin:
        floor = sweep.best.value * (1 - sweep.best.margin)
        axes.axhspan(floor, sweep.best.value, color=style.BEST, alpha=0.13, linewidth=0, zorder=0)
    axes.annotate(
        f"{labels.number(sweep.best_value)}: {sweep.best.value:.2f}",
        (sweep.best_value, sweep.best.value),
        (0, 11),
        textcoords="offset points",
        ha="center",
        color=style.BEST,
        weight="bold",
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        zorder=6,
    )
    if not (sweep.curve["value"] % 1).any():
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def _caption(sweep: Sweep) -> str:
    name = labels.words(sweep.constant)
    text = (
        f"The greatest power, {sweep.best.value:.2f} Mbit/s/s, is at {name} "
        f"{labels.number(sweep.best_value)} (ringed)."
    )
    if sweep.best.margin != sweep.best.margin:
        return text + " No repeated runs say how far chance moves a single run."
    tied = [labels.number(value) for value in sweep.tied_values]
    band = f" The band is the {labels.chance(sweep.best.margin, sweep.best.runs)} (95 %): "
    if not tied:
        return text + band + "no other setting lies in it."
    return text + band + f"{labels.joined(tied)} cannot be told from the best."


FIGURE = FigureKind(
    name="power-curve",
    subject=Sweep,
    order=20,
    title=lambda sweep: f"Power against {labels.words(sweep.constant)}",
    caption=_caption,
    draw=draw,
)

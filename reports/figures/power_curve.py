"""At which value of a swept parameter does power peak, and which values tie with it?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from analysis import labels
from analysis.frames import Record, extremes, records, select
from analysis.metrics import POWER
from common.tables import Tables
from reports.figures import each, style

WIDE = 150
"""A sweep whose values differ by more than this factor has a logarithmic axis."""


def draw(sweep: Record, tables: Tables) -> Figure:
    """The whole curve, and beside it the neighbourhood of the best."""
    curve = select(tables["sweep_points"], sweep=sweep["sweep"])
    published = select(tables["sweep_published"], sweep=sweep["sweep"])
    figure = style.page(2.9)
    whole, near = figure.subplots(1, 2, width_ratios=[3, 2])
    for axes in (whole, near):
        _draw_curve(axes, sweep, curve, published)
        axes.set_xlabel(labels.axis(sweep["constant"], sweep["unit"]))
    whole.set_ylabel("Power (Mbit/s per second of delay)")
    whole.set_ylim(0, 1.08 * sweep[POWER])
    whole.set_title("All settings")
    values = curve["value"]
    if values.min() > 0 and values.max() / values.min() > WIDE:
        whole.set_xscale("log")
        whole.minorticks_off()
        style.log_ticks(whole, "x", style.decades(values.min(), values.max()))
    style.legend_once(whole, [whole], loc="upper right")
    _zoom(near, sweep, curve, published)
    return figure


def _draw_curve(axes: Axes, sweep: Record, curve: pd.DataFrame, published: pd.DataFrame) -> None:
    axes.plot(curve["value"], curve[POWER], "o-", color=style.OURS, label="Kneepoint", zorder=3)
    for report, mark, rows in style.by_report(published.dropna(subset=[POWER])):
        style.open_markers(axes, rows["value"], rows[POWER], report, mark)
    style.ring(axes, sweep["best_value"], sweep[POWER])
    known = published.dropna(subset=[POWER])
    for rows, whose in ((known, known["report"]), (curve, ["Kneepoint"] * len(curve))):
        texts = [
            f"{of}, {labels.words(sweep['constant'])} {labels.number(row['value'])}: power "
            f"{row[POWER]:.2f}"
            for of, row in zip(whose, records(rows), strict=True)
        ]
        style.tell(axes, rows["value"], rows[POWER], texts)


def _zoom(axes: Axes, sweep: Record, curve: pd.DataFrame, published: pd.DataFrame) -> None:
    """The values within a tenth of the best power, with the band of what chance may explain.

    The next value on each side is shown, too.
    """
    good = curve.index[curve[POWER] >= 0.9 * sweep[POWER]]
    near = curve["value"][max(good.min() - 1, 0) : good.max() + 2]
    pad = (near.max() - near.min()) * 0.06
    axes.set_xlim(near.min() - pad, near.max() + pad)
    both = pd.concat([curve, published])
    low, high = extremes(both[both["value"].between(near.min(), near.max())][POWER])
    axes.set_ylim(low - 0.08 * (high - low), high + 0.26 * (high - low))
    axes.set_title("Around the best")
    if sweep["margin"] == sweep["margin"]:
        floor = sweep[POWER] * (1 - sweep["margin"])
        axes.axhspan(floor, sweep[POWER], color=style.BEST, alpha=0.13, linewidth=0, zorder=0)
    axes.annotate(
        f"{labels.number(sweep['best_value'])}: {sweep[POWER]:.2f}",
        (sweep["best_value"], sweep[POWER]),
        (0, 11),
        textcoords="offset points",
        ha="center",
        color=style.BEST,
        weight="bold",
        bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
        zorder=6,
    )
    if not (curve["value"] % 1).any():
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


subjects = each("sweeps", "sweep")

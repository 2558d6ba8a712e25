"""Do our runs give the numbers that were published?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import extremes, records
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.subjects import Comparison

SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)
FAR = 0.1
NAMED = 4
"""How many rows a panel names at most: those farthest off, if farther than FAR."""


def draw(comparison: Comparison) -> Figure:
    """Ours against published with the identity line, and below it the difference in per cent."""
    figure = style.page(4.3)
    both = {
        metric: comparison.rows.dropna(subset=[f"published_{metric}", f"ours_{metric}"])
        for metric in SHOWN
    }
    both = {metric: rows for metric, rows in both.items() if len(rows)}
    panels = figure.subplots(2, len(both), sharex="col", height_ratios=[3, 2], squeeze=False)
    for column, (metric, rows) in enumerate(both.items()):
        _draw_identity(panels[0, column], rows, metric)
        _draw_difference(panels[1, column], rows, metric, comparison.noun)
        panels[0, column].tick_params(labelbottom=False)
    panels[0, 0].set_ylabel("Ours")
    panels[1, 0].set_ylabel("Difference (%)")
    style.legend_once(figure, list(panels[0]), loc="outside upper center", ncols=5)
    figure.draw_without_rendering()
    for column, metric in enumerate(both):
        _name_far_rows(panels[1, column], comparison.rows, metric)
    return figure


def _draw_identity(axes: Axes, rows: pd.DataFrame, metric: str) -> None:
    values = pd.concat([rows[f"published_{metric}"], rows[f"ours_{metric}"]])
    limits = values.min() * 0.85, values.max() * 1.18
    axes.plot(limits, limits, color=style.QUIET, linewidth=0.7, zorder=1)
    for mark, (table, part) in enumerate(rows.groupby("table")):
        x, y = part[f"published_{metric}"], part[f"ours_{metric}"]
        style.open_markers(axes, x, y, str(table), mark)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    ticks = style.decades(*limits)
    for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        style.log_ticks(axes, which, ticks)
        axis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.set_title(f"{METRICS[metric].title} ({METRICS[metric].unit})")


def _draw_difference(axes: Axes, rows: pd.DataFrame, metric: str, noun: str) -> None:
    rule = METRICS[metric]
    place = np.geomspace(*axes.get_xlim(), 200)
    tolerance = 100 * np.maximum(rule.relative, rule.absolute / place)
    axes.fill_between(place, -tolerance, tolerance, color=style.FAINT, linewidth=0, zorder=0)
    axes.axhline(0, color=style.QUIET, linewidth=0.7, zorder=1)
    for mark, (table, part) in enumerate(rows.groupby("table")):
        x, y = part[f"published_{metric}"], 100 * part[f"relative_{metric}"]
        style.open_markers(axes, x, y, str(table), mark)
    limit = max(1.25 * (100 * rows[f"relative_{metric}"].abs()).max(), 2 * rule.relative * 100)
    axes.set_ylim(-limit, limit)
    if limit > 100 * FAR:
        axes.set_yscale("symlog", linthresh=5, linscale=1.2)
        ticks = [tick for tick in (5, 20, 50, 200, 500) if tick <= limit]
        axes.set_yticks([-tick for tick in reversed(ticks)] + [0, *ticks])
        axes.minorticks_off()
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: labels.minus(f"{y:+g}")))
    axes.set_xlabel(noun)


def _name_far_rows(axes: Axes, rows: pd.DataFrame, metric: str) -> None:
    size = rows[f"relative_{metric}"].abs()
    far = rows.loc[size[size > FAR].sort_values(ascending=False).index[:NAMED]]
    low, high = axes.get_xlim()
    taken: list[tuple[bool, float]] = []
    for row in records(far):
        place = row[f"published_{metric}"], 100 * row[f"relative_{metric}"]
        right = bool(np.log(place[0] / low) > 0.5 * np.log(high / low))
        height = float(axes.transData.transform(place)[1])
        if any(right == side and abs(height - other) < 9 for side, other in taken):
            continue
        taken.append((right, height))
        axes.annotate(
            f"{row['table']} {row['row'] + 1}",
            place,
            (-5 if right else 5, 0),
            textcoords="offset points",
            ha="right" if right else "left",
            va="center",
            fontsize=7.0,
            color=style.INK,
        )


def _caption(comparison: Comparison) -> str:
    agreed, compared = int(comparison.rows["within"].sum()), comparison.agreement["compared"].sum()
    text = (
        "Every row that we replay: above, ours against published with the line of "
        "identity; below, the difference in per cent with the tolerance in grey. "
        f"{agreed} of {compared} rows lie within tolerance."
    )
    sizes = comparison.rows[[f"relative_{metric}" for metric in SHOWN]].abs()
    if extremes(sizes)[1] <= FAR:
        return text
    return text + (
        " Differences are linear within 5 % and logarithmic beyond; the rows farthest off are "
        "named by table and row."
    )


FIGURE = FigureKind(
    name="published-against-ours",
    subject=Comparison,
    order=10,
    title=lambda comparison: f"{comparison.noun} against ours",
    caption=_caption,
    draw=draw,
)

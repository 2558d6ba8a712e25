"""Do our runs give the numbers that were published?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import records
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.subjects import Comparison

SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)
NAMED = 4
"""How many rows a panel names: those farthest off, if farther than a tenth."""


def draw(comparison: Comparison) -> Figure:
    """Ours against published with the identity line, and below it the difference in per cent."""
    figure = style.page(4.3)
    panels = figure.subplots(2, len(SHOWN), sharex="col", height_ratios=[3, 2])
    reports = sorted(set(comparison.rows["table"].map(labels.report_of)))
    for column, metric in enumerate(SHOWN):
        rows = comparison.rows.dropna(subset=[f"published_{metric}", f"ours_{metric}"])
        if rows.empty:
            panels[0, column].set_visible(False)
            panels[1, column].set_visible(False)
            continue
        _draw_identity(panels[0, column], rows, metric, reports)
        _draw_difference(panels[1, column], rows, metric, reports)
        panels[0, column].tick_params(labelbottom=False)
    panels[0, 0].set_ylabel("Ours")
    panels[1, 0].set_ylabel("Difference (%)")
    figure.legend(
        *panels[0, -1].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=len(reports),
    )
    figure.draw_without_rendering()
    for column, metric in enumerate(SHOWN):
        _name_far_rows(panels[1, column], comparison.rows, metric)
    return figure


def _by_report(rows: pd.DataFrame, reports: list[str]) -> list[tuple[int, str, pd.DataFrame]]:
    names = rows["table"].map(labels.report_of)
    return [(i, report, rows[names == report]) for i, report in enumerate(reports)]


def _draw_identity(axes: Axes, rows: pd.DataFrame, metric: str, reports: list[str]) -> None:
    values = pd.concat([rows[f"published_{metric}"], rows[f"ours_{metric}"]])
    limits = values.min() * 0.85, values.max() * 1.18
    axes.plot(limits, limits, color=style.QUIET, linewidth=0.7, zorder=1)
    for i, report, part in _by_report(rows, reports):
        style.open_markers(axes, part[f"published_{metric}"], part[f"ours_{metric}"], i, report)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    ticks = style.decades(*limits)
    for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        style.log_ticks(axes, which, ticks)
        axis.set_minor_formatter(NullFormatter())
    axes.minorticks_off()
    axes.set_title(f"{METRICS[metric].title} ({METRICS[metric].unit})")


def _draw_difference(axes: Axes, rows: pd.DataFrame, metric: str, reports: list[str]) -> None:
    tolerance = 100 * METRICS[metric].relative
    axes.axhspan(-tolerance, tolerance, color=style.FAINT, linewidth=0, zorder=0)
    axes.axhline(0, color=style.QUIET, linewidth=0.7, zorder=1)
    for i, report, part in _by_report(rows, reports):
        style.open_markers(
            axes, part[f"published_{metric}"], 100 * part[f"relative_{metric}"], i, report
        )
    limit = max(1.25 * (100 * rows[f"relative_{metric}"].abs()).max(), 2 * tolerance)
    axes.set_ylim(-limit, limit)
    if limit > 10:
        axes.set_yscale("symlog", linthresh=5, linscale=1.2)
        ticks = [tick for tick in (5, 20, 50, 200, 500) if tick <= limit]
        axes.set_yticks([-tick for tick in reversed(ticks)] + [0, *ticks])
        axes.minorticks_off()
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: labels.minus(f"{y:+g}")))
    axes.set_xlabel("Published")


def _name_far_rows(axes: Axes, rows: pd.DataFrame, metric: str) -> None:
    size = rows[f"relative_{metric}"].abs()
    far = rows.loc[size[size > 0.1].sort_values(ascending=False).index[:NAMED]]
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
    return (
        "Every published row that we replay: above, ours against published with the line of "
        "identity; below, the difference in per cent, linear within 5 % and logarithmic beyond, "
        f"with the tolerance in grey. {agreed} of {compared} rows lie within tolerance. The rows "
        "farthest off are named by table and row."
    )


FIGURE = FigureKind(
    name="published-against-ours",
    subject=Comparison,
    order=10,
    title=lambda _: "Published against ours",
    caption=_caption,
    draw=draw,
)

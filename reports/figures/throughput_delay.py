"""How does a swept parameter trade delay for throughput?"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import each, style


def draw(sweep: Record, tables: Tables) -> Figure:
    """Throughput against signal delay, delay inverted, so that up and to the right is better."""
    curve = select(tables["sweep_points"], sweep=sweep["sweep"])
    published = select(tables["sweep_published"], sweep=sweep["sweep"])
    figure = style.page(3.5)
    axes = figure.add_subplot()
    axes.plot(
        curve[SIGNAL_DELAY], curve[THROUGHPUT], "o-", color=style.OURS, label="Kneepoint", zorder=3
    )
    both = published.dropna(subset=[SIGNAL_DELAY, THROUGHPUT])
    for report, mark, rows in style.by_report(both):
        style.open_markers(axes, rows[SIGNAL_DELAY], rows[THROUGHPUT], report, mark)
    style.ring(axes, sweep[SIGNAL_DELAY], sweep[THROUGHPUT])
    _set_axes(axes, curve, published)
    for rows, whose in ((both, both["report"]), (curve, ["Kneepoint"] * len(curve))):
        style.tell(axes, rows[SIGNAL_DELAY], rows[THROUGHPUT], _values(rows, whose, sweep))
    _draw_powers(axes, curve)
    figure.draw_without_rendering()
    _label_points(axes, curve)
    axes.legend(loc="lower left")
    return figure


def _values(rows: pd.DataFrame, whose: Iterable[str], sweep: Record) -> list[str]:
    name = labels.words(sweep["constant"])
    return [
        f"{of}, {name} {labels.number(row['value'])}: {row[THROUGHPUT]:.2f} Mbit/s at "
        f"{row[SIGNAL_DELAY]:.0f} ms, power {row[POWER]:.2f}"
        for of, row in zip(whose, records(rows), strict=True)
    ]


def _set_axes(axes: Axes, curve: pd.DataFrame, published: pd.DataFrame) -> None:
    delays = pd.concat([curve[SIGNAL_DELAY], published[SIGNAL_DELAY]]).dropna()
    delays = delays[delays > 0]
    style.delay_axis(axes, delays)
    axes.set_ylim(0, curve[THROUGHPUT].max() * 1.1)
    axes.set_ylabel("Throughput (Mbit/s)")


def _draw_powers(axes: Axes, curve: pd.DataFrame) -> None:
    """Lines of equal power: the best setting lies on the highest that the curve touches."""
    most_ms, least_ms = axes.get_xlim()
    top = axes.get_ylim()[1]
    delay_ms = np.geomspace(least_ms, most_ms, 200)
    greatest = float(curve[POWER].max())
    step = style.decades(greatest / 7, 10 * greatest)[0]
    lines = [(float(power), style.FAINT, style.QUIET) for power in np.arange(step, greatest, step)]
    for power, color, text_color in [*lines, (greatest, style.BEST, style.BEST)]:
        throughput = power * delay_ms / 1000
        axes.plot(
            delay_ms,
            throughput,
            color=color,
            linewidth=0.6,
            zorder=1,
            dashes=(5, 3) if color == style.BEST else (None, None),
        )
        top_ms = 1000 * top / power
        if top_ms > 0.97 * most_ms or 0.92 * greatest < power < greatest:
            continue
        axes.annotate(
            f"power {power:.2f}" if power == greatest else f"{power:g}",
            (top_ms, top),
            (3, -2),
            textcoords="offset points",
            va="top",
            fontsize=7.5,
            color=text_color,
        )


def _label_points(axes: Axes, curve: pd.DataFrame, apart_points: float = 13.0) -> None:
    """Labels points that do not crowd each other, the best one first."""
    order = curve.sort_values("best", ascending=False, kind="stable")
    scale = 72 / axes.figure.dpi
    taken: list[np.ndarray] = []
    for row in records(order):
        place = axes.transData.transform((row[SIGNAL_DELAY], row[THROUGHPUT])) * scale
        if all(np.hypot(*(place - other)) >= apart_points for other in taken):
            taken.append(place)
            chosen = row["best"]
            axes.annotate(
                labels.number(row["value"]),
                (row[SIGNAL_DELAY], row[THROUGHPUT]),
                (5, 4),
                textcoords="offset points",
                color=style.BEST if chosen else style.INK,
                weight="bold" if chosen else "normal",
                fontsize=8.5,
            )


subjects = each("sweeps", "sweep")

"""Where does each value of a swept constant put the controller between throughput and delay?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import record
from reports.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from reports.subjects import Sweep


def draw(sweep: Sweep) -> Figure:
    """Throughput against signal delay, delay inverted, so that up and to the right is better."""
    figure = style.page(3.5)
    axes = figure.add_subplot()
    curve = sweep.curve.sort_values("value")
    axes.plot(
        curve[SIGNAL_DELAY], curve[THROUGHPUT], "o-", color=style.OURS, label="Kneepoint", zorder=3
    )
    for table in _printing_both(sweep.published):
        rows = sweep.published[sweep.published["table"] == table]
        style.open_markers(axes, rows[SIGNAL_DELAY], rows[THROUGHPUT], table)
    best = record(sweep.curve, sweep.best.label)
    style.ring(axes, best[SIGNAL_DELAY], best[THROUGHPUT])
    _set_axes(axes, sweep)
    _draw_powers(axes, sweep)
    figure.draw_without_rendering()
    _label_points(axes, sweep)
    axes.legend(loc="lower left")
    return figure


def _printing_both(published: pd.DataFrame) -> list[str]:
    both = published.dropna(subset=[SIGNAL_DELAY, THROUGHPUT])
    return list(dict.fromkeys(both["table"]))


def _set_axes(axes: Axes, sweep: Sweep) -> None:
    delays = pd.concat([sweep.curve[SIGNAL_DELAY], sweep.published[SIGNAL_DELAY]]).dropna()
    delays = delays[delays > 0]
    axes.set_xscale("log")
    axes.set_xlim(delays.max() * 1.12, delays.min() * 0.82)
    axes.set_ylim(0, sweep.curve[THROUGHPUT].max() * 1.1)
    axes.minorticks_off()
    least, most = delays.min() * 0.82, delays.max() * 1.12
    steps = (1, 2, 5) if most / least > 20 else (1, 1.5, 2, 3, 5, 7)
    style.log_ticks(axes, "x", style.decades(least, most, steps))
    axes.set_xlabel("95th-percentile signal delay (ms), logarithmic, less to the right")
    axes.set_ylabel("Throughput (Mbit/s)")


def _draw_powers(axes: Axes, sweep: Sweep) -> None:
    """Lines of equal power: the best setting lies on the highest that the curve touches."""
    most_ms, least_ms = axes.get_xlim()
    top = axes.get_ylim()[1]
    delay_ms = np.geomspace(least_ms, most_ms, 200)
    greatest = float(sweep.curve[POWER].max())
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


def _label_points(axes: Axes, sweep: Sweep, apart_points: float = 13.0) -> None:
    """Labels as many points as stand apart, the best one first."""
    order = [sweep.best.label, *(i for i in sweep.curve.index if i != sweep.best.label)]
    scale = 72 / axes.figure.dpi
    taken: list[np.ndarray] = []
    for label in order:
        row = record(sweep.curve, label)
        place = axes.transData.transform((row[SIGNAL_DELAY], row[THROUGHPUT])) * scale
        if all(np.hypot(*(place - other)) >= apart_points for other in taken):
            taken.append(place)
            chosen = label == sweep.best.label
            axes.annotate(
                labels.number(row["value"]),
                (row[SIGNAL_DELAY], row[THROUGHPUT]),
                (5, 4),
                textcoords="offset points",
                color=style.BEST if chosen else style.INK,
                weight="bold" if chosen else "normal",
                fontsize=8.5,
            )


def _caption(sweep: Sweep) -> str:
    return (
        "As usual for this rig the delay axis is inverted, so that up and to the right is better; "
        "it is logarithmic. Labels give the "
        f"{labels.words(sweep.constant)}{f' in {sweep.unit}' if sweep.unit else ''}; grey lines "
        "join points of equal power (its value above), and the dashed one is the highest that the "
        f"curve touches, at the ringed point, {labels.words(sweep.constant)} "
        f"{labels.number(sweep.best_value)}."
    )


FIGURE = FigureKind(
    name="throughput-delay",
    subject=Sweep,
    order=10,
    title=lambda sweep: f"Throughput against delay, {labels.words(sweep.controller)}",
    caption=_caption,
    draw=draw,
)

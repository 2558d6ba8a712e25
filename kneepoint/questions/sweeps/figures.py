"""Figures of power over one or two parameters."""

import textwrap
from itertools import repeat

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, extremes, select
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT, printed
from kneepoint.common.tables import Tables
from kneepoint.questions.sweeps.tables import published_points
from kneepoint.reports.figures import Drawn, each, style


def _draw_throughput_delay(sweep: Record, tables: Tables) -> Figure:
    """Draws throughput over inverted signal delay, so that up and to the right is better."""
    curve = select(tables["sweep_points"], sweep=sweep["sweep"]).assign(report="Kneepoint")
    place = SIGNAL_DELAY, THROUGHPUT
    published = select(published_points(tables), sweep=sweep["sweep"]).dropna(subset=[*place])
    figure, axes = style.panel(3.5)
    style.curve(axes, curve, *place, label="Kneepoint" if len(published) else "")
    style.points(axes, published, *place, by="report", looks=style.reports(published))
    style.ring(axes, sweep[SIGNAL_DELAY], sweep[THROUGHPUT])
    both = pd.concat([published, curve]).assign(name=labels.words(sweep["parameter"]))
    style.plane(axes, both[SIGNAL_DELAY])
    axes.set_ylim(0, curve[THROUGHPUT].max() * 1.1)
    style.add_tooltips(axes, both, *place, "{report}, {name} {value:g}: " + style.PLANE_TOOLTIP)
    style.legend_once(axes, [axes], loc="lower left")
    _draw_powers(axes, sweep[POWER])
    first = curve.sort_values("best", ascending=False, kind="stable")
    first["name"] = first["value"].map(labels.number)
    best, *_ = style.name_points(axes, first, [*place], [(5, 4)], always=False, fontsize=8.5)
    best.set(color=style.BEST, weight="bold")
    return figure


def _draw_powers(axes: Axes, greatest: float) -> None:
    """Draws lines of equal power; the best setting lies on the dashed line."""
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


_throughput_delay_subjects = each("sweeps", "sweep")


WIDE = 150
"""The factor between a sweep's values from which the axis is logarithmic."""


def _draw_power_curve(sweep: Record, tables: Tables) -> Figure:
    """Draws the whole curve, and beside it the neighbourhood of the best value."""
    curve = select(tables["sweep_points"], sweep=sweep["sweep"]).assign(report="Kneepoint")
    published = select(published_points(tables), sweep=sweep["sweep"]).dropna(subset=[POWER])
    both = pd.concat([published, curve]).assign(name=labels.words(sweep["parameter"]))
    figure = style.page(2.9)
    whole, near = figure.subplots(1, 2, width_ratios=[3, 2])
    for axes in (whole, near):
        style.curve(axes, curve, "value", POWER, label="Kneepoint" if len(published) else "")
        style.points(axes, published, "value", POWER, "report", style.reports(published))
        style.ring(axes, sweep["best_value"], sweep[POWER])
        style.add_tooltips(
            axes, both, "value", POWER, "{report}, {name} {value:g}: power {power:.2f}"
        )
        axes.set(xlabel=labels.axis(sweep["parameter"], sweep["unit"]), ylabel="")
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
    """Draws the values within a tenth of the best power, with the band that chance may explain.

    The next value on each side is drawn, too.
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


_power_curve_subjects = each("sweeps", "sweep")


NARROW, WIDE = 26, 80
"""The number of letters on a line of one of three panels, and of a panel as wide as the page."""


def _draw_heat_map(grid: Record, tables: Tables) -> Figure:
    """Draws our grid and, if a grid was published, the published grid and the difference (%)."""
    cells = select(tables["grid_cells"], grid=grid["grid"])
    cells["off"] = 100 * cells["relative"]
    scale = extremes(cells[["ours", "published"]]), style.SEQUENTIAL
    texts = cells[["y", "x"]].assign(
        ours=cells["ours"].map(METRICS[POWER].text),
        published=list(map(printed, cells["published"], cells["step"], repeat(POWER))),
        off=cells["off"].map("{:+.1f}".format).map(labels.minus),
    )
    if grid["table"] is None:
        panels, letters = {"ours": ("Power, ours (Mbit/s/s)", *scale)}, WIDE
    else:
        source, letters = textwrap.fill(f"Power, {grid['report']}", NARROW), NARROW
        limit = 1.6 * max(5.0, extremes(cells["off"].abs())[1])
        panels = {"ours": ("Power, ours", *scale), "published": (source, *scale)}
        panels["off"] = "Difference (%)", (-limit, limit), style.DIVERGING
    below = textwrap.fill(labels.axis(grid["x_name"], grid["x_unit"]), letters)
    beside = textwrap.fill(labels.axis(grid["y_name"], grid["y_unit"]), NARROW)
    lines = below.count("\n") + max(title.count("\n") for title, *_ in panels.values())
    cells_in = max(0.27 * cells["y"].nunique(), 0.065 * max(map(len, beside.splitlines())))
    figure = style.page(0.95 + cells_in + 0.14 * lines)
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (whose, panel) in zip(all_axes, panels.items(), strict=True):
        title, limits, colours = panel
        shown = (each.pivot(index="y", columns="x", values=whose) for each in (cells, texts))
        values, written = shown
        values = values.rename(index=labels.number, columns=labels.number)
        style.heat_map(axes, values, written, limits, colours, 8.0)
        axes.tick_params(labelrotation=0, labelsize="small")
        axes.set(title=title, xlabel=below)
    all_axes[0].set_ylabel(beside)
    return figure


_heat_map_subjects = each("grid_cells", "grid")


FIGURES = {
    "throughput-delay": Drawn(
        "How does a swept parameter trade delay for throughput?",
        _throughput_delay_subjects,
        _draw_throughput_delay,
    ),
    "power-curve": Drawn(
        "At which value of a swept parameter does power peak, and which values tie with it?",
        _power_curve_subjects,
        _draw_power_curve,
    ),
    "heat-map": Drawn(
        "How does power depend on two parameters, and does it agree with the published grid?",
        _heat_map_subjects,
        _draw_heat_map,
    ),
}

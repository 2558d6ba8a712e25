"""Do our runs reproduce the published numbers?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.audit import SHOWN
from analysis.frames import Record, extremes, records, select
from analysis.metrics import METRICS
from common.tables import Tables
from experiments.exchanged import REPORTS
from reports.figures import each, style

_SIDES = [(across, 4) for across in (0, 11, -11, 22, -22)]
"""Where a letter may stand above its cross (points)."""


def draw(comparison: Record, tables: Tables) -> Figure:
    """Ours against published with the identity line, and below it the difference in per cent."""
    rows = select(tables["audit"], comparison=comparison["comparison"])
    runs = style.runs_of(tables["settings_run"], table=rows["table"], row=rows["row"])
    crossed = [_crossed(row) for row in records(rows)]
    rows = rows.assign(run=runs, crossed=crossed, letter=_letters(rows["wrong"] != ""))
    parts = {metric: _of_metric(rows, metric) for metric in SHOWN}
    parts = {metric: part for metric, part in parts.items() if part["ours"].notna().any()}
    named = rows[rows["letter"] != ""]
    figure = style.page(4.6 if len(named) else 4.3)
    panels = figure.subplots(2, len(parts), sharex="col", height_ratios=[3, 2], squeeze=False)
    for (above, below), (metric, part) in zip(panels.T, parts.items(), strict=True):
        _draw_identity(above, part, metric)
        _draw_difference(below, part, metric)
        below.set_xlabel("Published" if comparison["comparison"] == REPORTS else "Measured")
    panels[0, 0].set_ylabel("Ours")
    panels[1, 0].set_ylabel("Difference (%)")
    style.legend_once(figure, panels.flat, loc="outside upper center", ncols=5)
    if len(named):
        handles = [Line2D([], [], linestyle="none") for _ in named["letter"]]
        close = {"handlelength": 0, "handletextpad": 0}
        texts = named["letter"] + "  " + named["name"]
        figure.legend(handles, texts, loc="outside lower center", ncols=3, **close)
    for both, part in zip(panels.T, parts.values(), strict=True):
        crosses = part[part["crossed"]].assign(name=part["letter"])
        for axes, y in zip(both, ("ours", "off"), strict=True):
            shown = crosses.dropna(subset=y)
            if len(shown):
                style.name_points(axes, shown, ["published", y], _SIDES, ha="center", fontsize=8.5)
    return figure


def _crossed(row: Record) -> str:
    """The number at which a row has its cross: the wrong one, or else one that is drawn."""
    printed = [m for m in SHOWN if row[f"published_{m}"] == row[f"published_{m}"]]
    drawn = [m for m in printed if row[f"ours_{m}"] == row[f"ours_{m}"]] or printed
    if not row["wrong"] or not drawn:
        return ""
    return str(row["wrong"]) if row["wrong"] in drawn else drawn[0]


def _letters(wrong: "pd.Series[bool]") -> "pd.Series[str]":
    """A letter for each contradicted row, in order; nothing for the others."""
    number = wrong.cumsum()
    return number.map(lambda n: chr(ord("a") + n - 1) if n <= 26 else str(n)).where(wrong, "")


def _of_metric(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows that printed a metric and ran, or are crossed; differences in per cent."""
    names = {f"{what}_{metric}": what for what in ("published", "ours", "least", "greatest")}
    part = rows.rename(columns=names).assign(crossed=rows["crossed"] == metric)
    part = part[part["published"].notna() & (part["ours"].notna() | part["crossed"])]
    off = part[["ours", "least", "greatest"]].div(part["published"], axis="index").sub(1).mul(100)
    return part.assign(off=off["ours"], low=off["least"], high=off["greatest"])


def _draw_identity(axes: Axes, part: pd.DataFrame, metric: str) -> None:
    low, high = extremes(part[["published", "ours"]])
    limits = low * 0.85, high * 1.18
    part["ours"] = part["ours"].fillna(limits[0])  # what did not run is crossed on the edge
    axes.plot(limits, limits, color=style.QUIET, linewidth=0.7, zorder=1)
    _draw_points(axes, part, "ours", metric)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits, xlabel="", ylabel="")
    for which in "xy":
        style.log_ticks(axes, which)
    axes.set_title(f"{METRICS[metric].title} ({METRICS[metric].unit})")
    axes.tick_params(labelbottom=False)


def _draw_difference(axes: Axes, part: pd.DataFrame, metric: str) -> None:
    rule = METRICS[metric]
    place = np.geomspace(*axes.get_xlim(), 200)
    tolerance = 100 * np.maximum(rule.relative, rule.absolute / place)
    axes.fill_between(place, -tolerance, tolerance, color=style.FAINT, linewidth=0, zorder=0)
    axes.axhline(0, color=style.QUIET, linewidth=0.7, zorder=1)
    ends = part["published"], part["low"], part["high"]
    axes.vlines(*ends, color=style.QUIET, linewidth=0.6, zorder=2)
    _draw_points(axes, part, "off", metric)
    farthest = max(1.15 * part["off"].abs().max(), 200 * rule.relative)
    style.difference_axis(axes, "y", farthest, (5, 50, 500))
    axes.set(ylim=(-1.3 * farthest, 1.3 * farthest), ylabel="")


def _draw_points(axes: Axes, part: pd.DataFrame, y: str, metric: str) -> None:
    """The rows that ran as their reports' markers, and crosses over the contradicted ones."""
    ran = part[part["off"].notna()]
    style.points(axes, ran, "published", y, "report", style.reports(part))
    rule = METRICS[metric]
    text = f"{{name}}: published {{published:.{rule.decimals}f}}, ours {{ours:.{rule.decimals}f}} "
    style.tell(axes, ran, "published", y, f"{text}{rule.unit}, {{verdict}}", ran["run"])
    crosses = part[part["crossed"]]
    if len(crosses):
        cross: Record = {"marker": "x", "color": style.INK, "s": 34, "linewidth": 1.0, "zorder": 5}
        cross |= {"label": "contradicted", "clip_on": False}
        axes.scatter(crosses["published"], crosses[y], **cross)


subjects = each("audit", "comparison")

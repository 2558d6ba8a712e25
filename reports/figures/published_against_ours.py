"""Do our runs reproduce the published numbers?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kneepoint.analysis.audit import SHOWN
from kneepoint.analysis.frames import (
    Record,
    extremes,
    records,
    select,
)
from kneepoint.analysis.metrics import METRICS
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style
from kneepoint.runs.exchanged import REPORTS

_SIDES = [(across, 4) for across in (0, 11, -11, 22, -22)]
"""Where a letter may stand above its cross (points)."""


def draw(comparison: Record, tables: Tables) -> Figure:
    """The difference of every row in per cent, against what was published: a panel a metric."""
    rows = select(tables["audit"], comparison=comparison["comparison"])
    runs = style.runs_of(tables["settings_run"], table=rows["table"], row=rows["row"])
    rows = rows.assign(run=runs, crossed=[_crossed(row) for row in records(rows)])
    rows["letter"] = _letters(rows["crossed"] != "")
    parts = {metric: _of_metric(rows, metric) for metric in SHOWN}
    parts = {metric: part for metric, part in parts.items() if len(part)}
    texts = (rows["letter"] + "  " + rows["name"])[rows["letter"] != ""]
    across = min([3, *(110 // texts.str.len())]) or 1
    figure = style.page(2.95 + 0.17 * -(-len(texts) // across))
    panels = figure.subplots(1, len(parts), squeeze=False)[0]
    source = "Published" if comparison["comparison"] == REPORTS else "Measured"
    for axes, (metric, part) in zip(panels, parts.items(), strict=True):
        _draw_rows(axes, part, metric)
        axes.set(xlabel=f"{source} ({METRICS[metric].unit})", ylabel="")
    panels[0].set_ylabel(f"Ours minus {source.lower()} (%)")
    style.legend_once(figure, panels, loc="outside upper center", ncols=5)
    if len(texts):
        handles = [Line2D([], [], linestyle="none")] * len(texts)
        close = {"handlelength": 0, "handletextpad": 0}
        figure.legend(handles, texts, loc="outside lower center", ncols=across, **close)
    for axes, part in zip(panels, parts.values(), strict=True):
        crosses = part[part["crossed"] & (part["letter"] != "")]
        if len(crosses):
            named = crosses.assign(name=crosses["letter"])
            style.name_points(axes, named, ["published", "off"], _SIDES, ha="center", fontsize=8.5)
    return figure


def _crossed(row: Record) -> str:
    """The number at which a row has its cross: the wrong one, or else one that is drawn."""
    drawn = [m for m in SHOWN if row[f"relative_{m}"] == row[f"relative_{m}"]]
    if not row["wrong"] or not drawn:
        return ""
    return str(row["wrong"]) if row["wrong"] in drawn else drawn[0]


def _letters(wrong: "pd.Series[bool]") -> "pd.Series[str]":
    """A letter for each contradicted row, in order, if there are enough; nothing for the others."""
    letters = wrong.cumsum().map(lambda n: chr(ord("a") + n - 1))
    return letters.where(wrong & (wrong.sum() <= 26), "")


def _of_metric(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """The rows that printed a metric and ran; differences in per cent."""
    names = {f"{what}_{metric}": what for what in ("published", "ours", "least", "greatest")}
    part = rows.rename(columns=names).assign(crossed=rows["crossed"] == metric)
    part = part.dropna(subset=["published", "ours"])
    off = part[["ours", "least", "greatest"]].div(part["published"], axis="index").sub(1).mul(100)
    return part.assign(off=off["ours"], low=off["least"], high=off["greatest"])


def _draw_rows(axes: Axes, part: pd.DataFrame, metric: str) -> None:
    """Rows as their reports' markers over the tolerance, crosses over the contradicted ones."""
    rule, (low, high) = METRICS[metric], extremes(part["published"])
    place = np.geomspace(low * 0.85, high * 1.18, 200)
    tolerance = 100 * np.maximum(rule.relative, rule.absolute / place)
    axes.fill_between(place, -tolerance, tolerance, color=style.FAINT, linewidth=0, zorder=0)
    axes.axhline(0, color=style.QUIET, linewidth=0.7, zorder=1)
    ends = part["published"], part["low"], part["high"]
    axes.vlines(*ends, color=style.QUIET, linewidth=0.6, zorder=2)
    style.points(axes, part, "published", "off", "report", style.reports(part))
    text = f"{{name}}: published {{published:.{rule.decimals}f}}, ours {{ours:.{rule.decimals}f}} "
    style.tell(axes, part, "published", "off", f"{text}{rule.unit}, {{verdict}}", part["run"])
    crosses = part[part["crossed"]]
    if len(crosses):
        cross: Record = {"marker": "x", "color": style.INK, "s": 34, "linewidth": 1.0, "zorder": 5}
        axes.scatter(crosses["published"], crosses["off"], label="contradicted", **cross)
    farthest = max(1.15 * part["off"].abs().max(), 200 * rule.relative)
    axes.set(xscale="log", xlim=(place[0], place[-1]), ylim=(-1.3 * farthest, 1.3 * farthest))
    style.log_ticks(axes, "x", (1, 2, 5) if high / low < 100 else (1,))
    style.difference_axis(axes, "y", farthest, (5, 50, 500))
    axes.set_title(rule.title)


subjects = each("audit", "comparison")

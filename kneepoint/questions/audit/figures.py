"""Figures of the differences between published rows and our runs: at a glance, and by metric."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kneepoint.analysis.frames import Record, extremes, records, select
from kneepoint.analysis.metrics import METRICS, POWER, SHOWN, THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.questions.audit.beside import WITHIN_SPREAD
from kneepoint.questions.audit.tables import NO_EVIDENCE
from kneepoint.reports.figures import Drawn, each, only, style
from kneepoint.runs.audit_table import AGREEING, CONTRADICTED, REPORTS

_KINDS = {
    "consistent": ((*AGREEING, WITHIN_SPREAD), "o", style.OURS, 3.2),
    "unexplained": (("unexplained",), "s", style.ALTERNATE, 3.2),
    "contradicted": ((CONTRADICTED,), "x", style.BEST, 4.5),
}
"""The verdicts, marker, colour and size of each kind."""


def _draw_glance(_: Record, tables: Tables) -> Figure:
    """Draws every published row by its difference from our runs."""
    rows = _compared(tables["audit"])
    figure, axes = style.panel(0.75 + 0.24 * rows["report"].nunique())
    _draw_rows(axes, rows, tables["settings_run"])
    style.legend_once(figure, [axes], loc="outside upper right")
    return figure


def _compared(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows of reports with a difference (%): wrong number, power or throughput."""
    if not len(rows):
        return rows
    rows = select(rows[rows["verdict"] != NO_EVIDENCE], comparison=REPORTS)
    off = rows[f"relative_{POWER}"].fillna(rows[f"relative_{THROUGHPUT}"])
    for metric in METRICS:
        off = rows[f"relative_{metric}"].where(rows["wrong"] == metric).fillna(off)
    return rows.assign(off=100 * off).dropna(subset=["off"])


def _draw_rows(axes: Axes, rows: pd.DataFrame, settings: pd.DataFrame) -> None:
    line, reports = pd.factorize(rows["report"])
    apart = 0.62 * ((0.618 * rows.groupby("report").cumcount()) % 1 - 0.5)
    rows = rows.assign(height=line + apart)
    for kind, (verdicts, marker, colour, size) in _KINDS.items():
        part = rows[rows["verdict"].isin(verdicts)]
        look: Record = {"color": colour, "markersize": size, "zorder": 4}
        look |= {"markeredgewidth": 0.9 if marker == "x" else 0}
        if len(part):
            look["label"] = f"{kind} ({len(part)})"
            style.plot(axes, part, "off", "height", marker, **look)
    runs = style.runs_of(settings, table=rows["table"], row=rows["row"])
    style.add_tooltips(axes, rows, "off", "height", "{name}: {off:+.1f} %, {verdict}", runs)
    tolerance = 100 * METRICS[POWER].relative
    axes.axvspan(-tolerance, tolerance, color=style.FAINT, zorder=0)
    style.difference_axis(axes, "x", rows["off"].abs().max())
    axes.set_yticks(range(len(reports)), reports)
    axes.set(xlabel="Ours minus published (%)", ylabel="")
    axes.set_ylim(len(reports) - 0.45, -0.55)


_SIDES = [(across, 4) for across in (0, 11, -11, 22, -22)]
"""Possible places of a letter above its cross (points)."""


def _draw_comparison(comparison: Record, tables: Tables) -> Figure:
    """Draws the difference (%) of every row over the published number: a panel for each metric."""
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
        _draw_panel(axes, part, metric)
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
    """Returns the metric in whose panel a row has its cross: the wrong number if it is drawn."""
    drawn = [m for m in SHOWN if row[f"relative_{m}"] == row[f"relative_{m}"]]
    if not row["wrong"] or not drawn:
        return ""
    return str(row["wrong"]) if row["wrong"] in drawn else drawn[0]


def _letters(wrong: "pd.Series[bool]") -> "pd.Series[str]":
    """Returns a letter for each contradicted row, "" for others; no letters for over 26 rows."""
    letters = wrong.cumsum().map(lambda n: chr(ord("a") + n - 1))
    return letters.where(wrong & (wrong.sum() <= 26), "")


def _of_metric(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Returns the rows with a printed and a measured metric, and their differences (%)."""
    names = {f"{what}_{metric}": what for what in ("published", "ours", "least", "greatest")}
    part = rows.rename(columns=names).assign(crossed=rows["crossed"] == metric)
    part = part.dropna(subset=["published", "ours"])
    off = part[["ours", "least", "greatest"]].div(part["published"], axis="index").sub(1).mul(100)
    return part.assign(off=off["ours"], low=off["least"], high=off["greatest"])


def _draw_panel(axes: Axes, part: pd.DataFrame, metric: str) -> None:
    """Draws the tolerance, rows with their reports' markers, and crosses on contradicted rows."""
    rule, (low, high) = METRICS[metric], extremes(part["published"])
    place = np.geomspace(low * 0.85, high * 1.18, 200)
    tolerance = 100 * np.maximum(rule.relative, rule.absolute / place)
    axes.fill_between(place, -tolerance, tolerance, color=style.FAINT, linewidth=0, zorder=0)
    axes.axhline(0, color=style.QUIET, linewidth=0.7, zorder=1)
    ends = part["published"], part["low"], part["high"]
    axes.vlines(*ends, color=style.QUIET, linewidth=0.6, zorder=2)
    style.points(axes, part, "published", "off", "report", style.reports(part))
    text = f"{{name}}: published {{published:.{rule.decimals}f}}, ours {{ours:.{rule.decimals}f}} "
    style.add_tooltips(
        axes, part, "published", "off", f"{text}{rule.unit}, {{verdict}}", part["run"]
    )
    crosses = part[part["crossed"]]
    if len(crosses):
        cross: Record = {"marker": "x", "color": style.INK, "s": 34, "linewidth": 1.0, "zorder": 5}
        axes.scatter(crosses["published"], crosses["off"], label="contradicted", **cross)
    farthest = max(1.15 * part["off"].abs().max(), 200 * rule.relative)
    axes.set(xscale="log", xlim=(place[0], place[-1]), ylim=(-1.3 * farthest, 1.3 * farthest))
    style.log_ticks(axes, "x", (1, 2, 5) if high / low < 100 else (1,))
    style.difference_axis(axes, "y", farthest, (5, 50, 500))
    axes.set_title(rule.title)


FIGURES = {
    "at-a-glance": Drawn(
        "What was reproduced, and what was contradicted?",
        only("audit", "all", _compared),
        _draw_glance,
    ),
    "published-against-ours": Drawn(
        "Do our runs reproduce the published numbers?",
        each("audit", "comparison"),
        _draw_comparison,
    ),
}

"""Do our runs reproduce the published numbers?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, NullFormatter

from analysis import labels
from analysis.audit import SHOWN
from analysis.frames import Record, records, select
from analysis.metrics import METRICS
from common.tables import Tables
from experiments.exchanged import REPORTS
from reports.figures import each, style

FAR = 0.1
"""Beyond this difference the lower panels are logarithmic."""
_LETTER_PT = 6.0
"""Crosses nearer than this have their letters side by side."""


def draw(comparison: Record, tables: Tables) -> Figure:
    """Ours against published with the identity line, and below it the difference in per cent."""
    rows = select(tables["audit"], comparison=comparison["comparison"])
    runs = style.runs_of(tables["settings_run"], table=rows["table"], row=rows["row"])
    rows = rows.assign(
        run=runs, letter=_letters(rows), crossed=[_crossed(row) for row in records(rows)]
    )
    noun = "Published" if comparison["comparison"] == REPORTS else "Measured"
    figure = style.page(4.6 if (rows["letter"] != "").any() else 4.3)
    both = {
        metric: rows.dropna(subset=[f"published_{metric}", f"ours_{metric}"]) for metric in SHOWN
    }
    both = {metric: shown for metric, shown in both.items() if len(shown)}
    alone = rows[rows["runs"] == 0]
    panels = figure.subplots(2, len(both), sharex="col", height_ratios=[3, 2], squeeze=False)
    for column, (metric, shown) in enumerate(both.items()):
        _draw_identity(panels[0, column], shown, alone, metric)
        _draw_difference(panels[1, column], shown, metric, noun)
        panels[0, column].tick_params(labelbottom=False)
    panels[0, 0].set_ylabel("Ours")
    panels[1, 0].set_ylabel("Difference (%)")
    style.legend_once(figure, list(panels[0]), loc="outside upper center", ncols=5)
    _name_contradicted(figure, rows[rows["letter"] != ""])
    figure.draw_without_rendering()
    for column, (metric, shown) in enumerate(both.items()):
        _letter(panels[0, column], shown, shown[f"ours_{metric}"], metric)
        _letter(panels[1, column], shown, 100 * shown[f"relative_{metric}"], metric)
        _letter(panels[0, column], alone, _edge(panels[0, column], alone), metric)
    return figure


def _crossed(row: Record) -> str:
    """The number at which a row has its cross: the wrong one, or else one that is drawn."""
    printed = [m for m in SHOWN if row[f"published_{m}"] == row[f"published_{m}"]]
    drawn = [m for m in printed if row[f"ours_{m}"] == row[f"ours_{m}"]] or printed
    if not row["wrong"] or not drawn:
        return ""
    return str(row["wrong"]) if row["wrong"] in drawn else drawn[0]


def _letters(rows: pd.DataFrame) -> "pd.Series[str]":
    """A letter for each contradicted row, in order; nothing for the others."""
    wrong = rows["wrong"] != ""
    number = wrong.cumsum()
    return number.map(lambda n: chr(ord("a") + n - 1) if n <= 26 else str(n)).where(wrong, "")


def _name_contradicted(figure: Figure, rows: pd.DataFrame) -> None:
    """The rows that the letters stand for, below the panels."""
    if len(rows):
        texts = [f"{row['letter']}  {row['name']}" for row in records(rows)]
        empty = [Line2D([], [], linestyle="none") for _ in texts]
        figure.legend(
            empty, texts, loc="outside lower center", ncols=3, handlelength=0, handletextpad=0
        )


def _edge(axes: Axes, rows: pd.DataFrame) -> "pd.Series[float]":
    """The lower edge of a panel, the place of rows that did not run."""
    return pd.Series(axes.get_ylim()[0], index=rows.index)


def _draw_identity(axes: Axes, rows: pd.DataFrame, alone: pd.DataFrame, metric: str) -> None:
    crossed = alone[alone["crossed"] == metric]
    values = pd.concat(
        [
            *(rows[f"{whose}_{metric}"] for whose in ("published", "ours")),
            crossed[f"published_{metric}"],
        ]
    )
    limits = values.min() * 0.85, values.max() * 1.18
    axes.plot(limits, limits, color=style.QUIET, linewidth=0.7, zorder=1)
    for report, mark, part in style.by_report(rows):
        x, y = part[f"published_{metric}"], part[f"ours_{metric}"]
        style.open_markers(axes, x, y, report, mark)
    x, y = rows[f"published_{metric}"], rows[f"ours_{metric}"]
    style.tell(axes, x, y, _values(rows, metric), rows["run"].tolist())
    _cross_out(axes, rows, rows[f"ours_{metric}"], metric)
    axes.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
    _cross_out(axes, alone, _edge(axes, alone), metric)
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
    for report, mark, part in style.by_report(rows):
        x, y = part[f"published_{metric}"], 100 * part[f"relative_{metric}"]
        style.open_markers(axes, x, y, report, mark)
    least, greatest = (
        100 * (rows[f"{end}_{metric}"] / rows[f"published_{metric}"] - 1)
        for end in ("least", "greatest")
    )
    axes.vlines(
        rows[f"published_{metric}"], least, greatest, color=style.QUIET, linewidth=0.6, zorder=2
    )
    x, y = rows[f"published_{metric}"], 100 * rows[f"relative_{metric}"]
    style.tell(axes, x, y, _values(rows, metric), rows["run"].tolist())
    _cross_out(axes, rows, 100 * rows[f"relative_{metric}"], metric)
    limit = max(1.25 * (100 * rows[f"relative_{metric}"].abs()).max(), 2 * rule.relative * 100)
    if limit > 100 * FAR:
        limit *= 1.6  # a logarithmic axis has room to spare
        axes.set_yscale("symlog", linthresh=5, linscale=1.2)
        ticks = [tick for tick in ((5, 20) if limit < 50 else (5, 50, 500)) if tick <= limit]
        axes.set_yticks([-tick for tick in reversed(ticks)] + [0, *ticks])
        axes.minorticks_off()
    axes.set_ylim(-limit, limit)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: labels.minus(f"{y:+g}")))
    axes.set_xlabel(noun)


def _values(rows: pd.DataFrame, metric: str) -> list[str]:
    text = METRICS[metric].text
    return [
        f"{row['name']}: published {text(row[f'published_{metric}'])}, ours "
        f"{text(row[f'ours_{metric}'])} {METRICS[metric].unit}, {row['verdict']}"
        for row in records(rows)
    ]


def _cross_out(axes: Axes, rows: pd.DataFrame, y: "pd.Series[float]", metric: str) -> None:
    """Crosses the rows that are contradicted by this metric."""
    wrong = rows["crossed"] == metric
    if wrong.any():
        axes.plot(
            rows[f"published_{metric}"][wrong],
            y[wrong],
            "x",
            color=style.INK,
            markersize=6.0,
            markeredgewidth=1.0,
            label="contradicted",
            clip_on=False,
            zorder=5,
        )


def _letter(axes: Axes, rows: pd.DataFrame, y: "pd.Series[float]", metric: str) -> None:
    """Sets its letter above each cross; beside another letter where they would meet."""
    wrong = rows[rows["crossed"] == metric]
    places = list(zip(wrong[f"published_{metric}"], y[wrong.index], strict=True))
    taken: list[np.ndarray] = []
    for letter, place in zip(wrong["letter"], places, strict=True):
        at = axes.transData.transform(place) * 72 / axes.figure.dpi
        shift = sum(bool(np.all(np.abs(at - other) < _LETTER_PT)) for other in taken)
        taken.append(at)
        axes.annotate(
            letter,
            place,
            (shift * _LETTER_PT, 4.0),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=8.5,
            zorder=6,
        )


subjects = each("audit_summary", "comparison")

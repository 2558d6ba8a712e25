"""What was reproduced, and what was contradicted?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis.frames import Record, select
from kneepoint.analysis.metrics import (
    METRICS,
    POWER,
    THROUGHPUT,
)
from kneepoint.analysis.schema import NO_EVIDENCE, WITHIN_SPREAD
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import only, style
from kneepoint.runs.exchanged import REPORTS

_KINDS = {
    "consistent": (("reproduced", "close", "fitted", WITHIN_SPREAD), "o", style.OURS, 3.2),
    "unexplained": (("unexplained",), "s", style.ALTERNATE, 3.2),
    "contradicted": (("contradicted",), "x", style.BEST, 4.5),
}
"""Verdicts, marker, colour and size."""


def draw(_: Record, tables: Tables) -> Figure:
    """Every published row by how far it is from ours."""
    rows = _compared(tables["audit"])
    figure, axes = style.panel(0.75 + 0.24 * rows["report"].nunique())
    _draw_rows(axes, rows, tables["settings_run"])
    style.legend_once(figure, [axes], loc="outside upper right")
    return figure


def _compared(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of reports with a difference (%): of the wrong number, or power, or throughput."""
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
    style.tell(axes, rows, "off", "height", "{name}: {off:+.1f} %, {verdict}", runs)
    tolerance = 100 * METRICS[POWER].relative
    axes.axvspan(-tolerance, tolerance, color=style.FAINT, zorder=0)
    style.difference_axis(axes, "x", rows["off"].abs().max())
    axes.set_yticks(range(len(reports)), reports)
    axes.set(xlabel="Ours minus published (%)", ylabel="")
    axes.set_ylim(len(reports) - 0.45, -0.55)


subjects = only("audit", "all", _compared)

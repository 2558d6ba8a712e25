"""What was reproduced, what was contradicted, and what did tuning find?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.frames import Record, select
from analysis.metrics import METRICS, POWER, THROUGHPUT
from analysis.schema import NO_EVIDENCE, WITHIN_SPREAD
from common.tables import Tables
from experiments.exchanged import REPORTS
from reports.figures import style
from reports.figures.held_out_gain import draw_gains, gained

_KINDS = {
    "consistent": (("reproduced", "close", "fitted", WITHIN_SPREAD), "o", style.OURS, 3.2),
    "unexplained": (("unexplained",), "s", style.ALTERNATE, 3.2),
    "contradicted": (("contradicted",), "x", style.BEST, 4.5),
}
"""Verdicts, marker, colour and size."""


def draw(_: Record, tables: Tables) -> Figure:
    """Left, every published row by how far it is from ours; right, what tuning gained."""
    rows, gains = _compared(tables["audit"]), gained(tables)
    height = max(rows["report"].nunique() if len(rows) else 0, len(gains), 8)
    figure = style.page(0.6 + 0.135 * height)
    panels = figure.subplots(1, bool(len(rows)) + bool(len(gains)), squeeze=False)[0]
    if len(rows):
        _draw_rows(panels[0], rows, tables["settings_run"])
        style.legend_once(figure, panels[:1], loc="outside lower left")
    if len(gains):
        draw_gains(panels[-1], gains, "held_out", style.looks(tables["inventory"]))
        panels[-1].set_title("Best published (open) and tuned")
        panels[-1].set_xlabel("Held-out power (% of the bound)")
    return figure


def _compared(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of reports with a difference, in power or else in throughput (%)."""
    if not len(rows):
        return rows
    rows = select(rows[rows["verdict"] != NO_EVIDENCE], comparison=REPORTS)
    off = rows[f"relative_{POWER}"].fillna(rows[f"relative_{THROUGHPUT}"])
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
    axes.set(xlabel="Ours minus published, power (%)", ylabel="", title="Published rows")
    axes.set_ylim(len(reports) - 0.45, -0.55)


def subjects(tables: Tables) -> dict[str, Record]:
    """One, where there is anything to show."""
    audited = tables["audit"]
    is_audited = len(audited) and (audited["comparison"] == REPORTS).any()
    return {"all": {}} if is_audited or len(tables["held_out_gains"]) else {}

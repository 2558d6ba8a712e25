"""What was reproduced, what was contradicted, and what did tuning find?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from analysis import labels
from analysis.frames import Record, records, select
from analysis.metrics import METRICS, POWER, THROUGHPUT
from analysis.schema import WITHIN_SPREAD
from common.tables import Tables
from experiments.exchanged import REPORTS
from reports.figures import style

_NEAR = 5.0
"""Up to this many per cent, the axis of differences is linear."""
_KINDS = {
    "consistent": (("reproduced", "close", "fitted", WITHIN_SPREAD), "o", style.OURS),
    "unexplained": (("unexplained",), "s", style.ALTERNATE),
    "contradicted": (("contradicted",), "x", style.BEST),
}


def draw(_: Record, tables: Tables) -> Figure:
    """Left, every published row by how far it is from ours; right, what tuning gained."""
    rows = _compared(tables)
    gains = _gained(tables)
    count = bool(len(rows)) + bool(gains)
    height = max(rows["report"].nunique() if len(rows) else 0, len(gains))
    figure = style.page(0.6 + 0.135 * max(height, 8))
    panels = list(np.atleast_1d(figure.subplots(1, count)))
    if len(rows):
        _draw_rows(panels[0], rows, tables["settings_run"])
        figure.legend(*panels.pop(0).get_legend_handles_labels(), loc="outside lower left", ncols=3)
    if gains:
        _draw_gains(panels.pop(0), gains, tables)
    return figure


def _compared(tables: Tables) -> pd.DataFrame:
    """The rows of reports with a difference, in power or else in throughput (%)."""
    rows = tables["audit"]
    if not len(rows):
        return rows
    rows = select(rows, comparison=REPORTS)
    off = rows[f"relative_{POWER}"].fillna(rows[f"relative_{THROUGHPUT}"])
    return rows.assign(off=100 * off).dropna(subset=["off"])


def _draw_rows(axes: Axes, rows: pd.DataFrame, settings: pd.DataFrame) -> None:
    reports = list(dict.fromkeys(rows["report"]))
    line = rows["report"].map({report: at for at, report in enumerate(reports)})
    apart = rows.groupby("report").cumcount()
    height = line + 0.62 * ((0.618 * apart) % 1 - 0.5)
    axes.axvspan(-100 * METRICS[POWER].relative, 100 * METRICS[POWER].relative, color=style.FAINT)
    for label, (verdicts, marker, colour) in _KINDS.items():
        chosen = rows["verdict"].isin(verdicts)
        if chosen.any():
            axes.plot(
                rows["off"][chosen],
                height[chosen],
                marker,
                color=colour,
                markersize=4.5 if marker == "x" else 2.8,
                label=f"{label} ({chosen.sum()})",
            )
    texts = [
        f"{row['name']}: {labels.minus(format(row['off'], '+.1f'))} %, {row['verdict']}"
        for row in records(rows)
    ]
    runs = style.runs_of(settings, table=rows["table"], row=rows["row"])
    style.tell(axes, rows["off"], height, texts, runs)
    far = rows["off"].abs().max()
    axes.set_xscale("symlog", linthresh=_NEAR, linscale=0.7)
    ticks = [tick for tick in (5, 20, 100, 500) if tick <= max(far, _NEAR)]
    axes.set_xticks([-tick for tick in reversed(ticks) if tick < 100] + [0, *ticks])
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: labels.minus(f"{x:+g}")))
    axes.set_yticks(range(len(reports)), reports)
    axes.set_ylim(len(reports) - 0.45, -0.55)
    axes.set_xlabel("Ours minus published, power (%)")
    axes.set_title("Published rows")


def _gained(tables: Tables) -> list[Record]:
    """Held-out power of each controller's settings (%), the best last."""
    if not len(tables["held_out_gains"]):
        return []
    held = tables["held_out_settings"].set_index("trial")["held_out"]
    gains = []
    for row in records(tables["held_out_gains"]):
        published = held.get(row["published_trial"], np.nan)
        tuned = held.get(row["tuned_trial"], published)  # a setting that is both has one row
        is_same = published != published and not pd.isna(row["published_trial"])
        gains.append(
            {
                "controller": row["controller"],
                "published": 100 * (tuned if is_same else published),
                "tuned": 100 * tuned,
            }
        )
    return sorted(gains, key=lambda gain: float(gain["tuned"]), reverse=True)


def _draw_gains(axes: Axes, gains: list[Record], tables: Tables) -> None:
    looks = style.looks(tables["inventory"])
    for line, gain in enumerate(gains):
        marker, colour = looks[gain["controller"]]
        axes.hlines(line, gain["published"], gain["tuned"], color=colour, linewidth=1.2)
        axes.plot(gain["published"], line, marker, color=colour, markerfacecolor="white")
        axes.plot(gain["tuned"], line, marker, color=colour, markersize=4.6)
    names = [labels.sentence(gain["controller"]) for gain in gains]
    for whose in ("published", "tuned"):
        texts = [
            f"{name}, {whose}: {gain[whose]:.1f} %" for name, gain in zip(names, gains, strict=True)
        ]
        style.tell(axes, [gain[whose] for gain in gains], range(len(gains)), texts)
    axes.set_yticks(range(len(gains)), names)
    axes.set_ylim(len(gains) - 0.4, -0.6)
    axes.set_xlim(0, 1.04 * np.nanmax([[gain["tuned"], gain["published"]] for gain in gains]))
    axes.set_xlabel("Held-out power (% of the bound)")
    axes.set_title("Best published (open) and tuned")


def subjects(tables: Tables) -> dict[str, Record]:
    """One, where there is anything to show."""
    audited = tables["audit_summary"]
    is_audited = len(audited) and (audited["comparison"] == REPORTS).any()
    return {"all": {}} if is_audited or len(tables["held_out_gains"]) else {}

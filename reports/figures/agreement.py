"""Does real mahimahi do what the emulator predicts, setting by setting?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.agreement import CALIBRATION
from analysis.frames import Record, records, select
from analysis.metrics import METRICS, SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import only, style

_SHOWN = (THROUGHPUT, SIGNAL_DELAY)
_LINE_IN = 0.15
_WIDEST = 4.0
"""The axis shows at most this many times the third quartile of the bars' reach."""


def draw(_: Record, tables: Tables) -> Figure:
    """A line a setting, under its controller's name: the predicted range, and the real mean."""
    settings = records(tables["agreement_settings"])
    lines, headings = _lines(settings)
    height = max([*lines.values(), *headings.values()]) + 1
    figure = style.page(0.75 + _LINE_IN * height)
    panels = figure.subplots(1, len(_SHOWN), sharey=True)
    for axes, metric in zip(panels, _SHOWN, strict=True):
        of_metric = select(tables["agreement"], metric=metric)
        rows = {row["trial"]: row for row in records(of_metric)}
        for setting in settings:
            _draw_setting(axes, lines[setting["trial"]], rows[setting["trial"]], setting)
        axes.axvline(0, color=style.QUIET, linewidth=0.6, zorder=1)
        reach = _reach(of_metric)
        axes.set_xlim(-reach, reach)
        axes.set_title(METRICS[metric].title)
        axes.set_xlabel("Relative to the real mean (%)")
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x")
    _name_lines(panels[0], settings, lines, headings)
    panels[0].set_ylim(height - 0.4, -0.6)
    style.legend_once(figure, panels, loc="outside lower center", ncols=4)
    return figure


def _lines(settings: list[Record]) -> tuple[dict[int, int], dict[str, int]]:
    """Where each setting stands, and each controller's name above its first."""
    lines: dict[int, int] = {}
    headings: dict[str, int] = {}
    for setting in settings:
        headings.setdefault(setting["controller"], len(lines) + len(headings))
        lines[setting["trial"]] = len(lines) + len(headings)
    return lines, headings


def _draw_setting(axes: Axes, line: int, row: Record, setting: Record) -> None:
    real = row["real_mean"]
    if real != real:
        return
    fitted, outside = CALIBRATION in setting["origins"], row["inside"] is False
    colour = style.BEST if outside else style.QUIET if fitted else style.OURS
    what = "emulator, outside" if outside else "emulator, fitted" if fitted else "emulator"
    low, high = (100 * (row[f"expected_{side}"] / real - 1) for side in ("low", "high"))
    axes.hlines(line, low, high, color=colour, linewidth=4.2, alpha=0.45, label=what, zorder=2)
    middle = 100 * row["relative"]
    axes.plot(middle, line, "|", color=colour, markersize=6, markeredgewidth=1.3, zorder=3)
    least, most = (100 * (row[f"real_{side}"] / real - 1) for side in ("low", "high"))
    axes.hlines(line, least, most, color=style.INK, linewidth=0.8, zorder=4)
    axes.plot(0, line, "o", color=style.INK, markersize=2.6, label="real mahimahi", zorder=5)


def _reach(rows: pd.DataFrame) -> float:
    """How far the axis reaches (%): to the end of the widest bar, unless it dwarfs the others."""
    ends = [f"{name}_{side}" for name in ("expected", "real") for side in ("low", "high")]
    relative = rows[ends].div(rows["real_mean"], axis="index").sub(1).abs().max(axis="columns")
    known = relative.dropna()
    if known.empty:
        return 1.0
    return 110 * float(min(known.max(), _WIDEST * np.quantile(known, 0.75))) or 1.0


def _name_lines(
    axes: Axes, settings: list[Record], lines: dict[int, int], headings: dict[str, int]
) -> None:
    places = {lines[setting["trial"]]: str(setting["name"]) for setting in settings}
    places |= {line: labels.sentence(controller) for controller, line in headings.items()}
    axes.set_yticks(list(places), list(places.values()), fontsize=7)
    for place, text in zip(places, axes.get_yticklabels(), strict=True):
        if place in headings.values():
            text.set_fontweight("bold")


subjects = only("agreement_accuracy", "real", lambda row: row["is_compared"])

"""Does real mahimahi do what the emulator predicts, setting by setting?"""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.agreement import CALIBRATION
from analysis.frames import Record, select
from analysis.metrics import METRICS, SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import style

_SHOWN = (THROUGHPUT, SIGNAL_DELAY)
_WIDEST = 4.0
"""The axis shows at most this many times the third quartile of the bars' reach."""
_FITTED, _REAL = {CALIBRATION}, "real mahimahi"
_COLOURS = {
    "emulator": style.OURS,
    "emulator, fitted": style.QUIET,
    "emulator, outside": style.BEST,
    _REAL: style.INK,
}


def draw(_: Record, tables: Tables) -> Figure:
    """A line a setting, under its controller's name: the predicted range, and the real mean."""
    settings = tables["agreement_settings"]
    settings = pd.concat([part for _, part in settings.groupby("controller", sort=False)])
    names = _lines(settings)
    lines = settings[["trial", "origins"]].assign(line=names.index[names["setting"]])
    ranges = _ranges(tables["agreement"].merge(lines, on="trial"))
    figure = style.page(0.75 + 0.15 * len(names))
    panels = figure.subplots(1, len(_SHOWN), sharey=True)
    for axes, metric in zip(panels, _SHOWN, strict=True):
        part = select(ranges, metric=metric)
        axes.axvline(0, color=style.QUIET, linewidth=0.6, zorder=1)
        bars = {"linewidth": 4.2, "alpha": 0.45}
        predicted = part[part["what"] != _REAL]
        _draw_ranges(axes, predicted, bars, marker="|", markersize=6, markeredgewidth=1.3)
        _draw_ranges(axes, select(part, what=_REAL), {"linewidth": 0.8}, markersize=2.6)
        axes.set(title=METRICS[metric].title, xlabel="Relative to the real mean (%)", ylabel="")
        reach = _reach(part)
        axes.set_xlim(-reach, reach)
        axes.spines["left"].set_visible(False)
        axes.tick_params("y", length=0)
        axes.grid(axis="x")
    panels[0].set_yticks(names.index, names["name"], fontsize=7)
    for text, is_setting in zip(panels[0].get_yticklabels(), names["setting"], strict=True):
        text.set_fontweight("normal" if is_setting else "bold")
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    style.legend_once(figure, panels, loc="outside lower center", ncols=4)
    return figure


def _lines(settings: pd.DataFrame) -> pd.DataFrame:
    """What stands beside each line: settings, and above its first one a controller's name."""
    found = []
    for controller, part in settings.groupby("controller", sort=False):
        found.append((labels.sentence(str(controller)), False))
        found += [(name, True) for name in part["name"]]
    return pd.DataFrame(found, columns=["name", "setting"])


def _ranges(rows: pd.DataFrame) -> pd.DataFrame:
    """Middle, low and high of predictions and of real means, in per cent of the real mean."""
    rows = rows.dropna(subset="real_mean")
    is_outside = rows["inside"].eq(False)
    is_fitted = rows["origins"].map(_FITTED.issubset).astype(bool)
    what = np.select([is_outside, is_fitted], ["emulator, outside", "emulator, fitted"], "emulator")
    found = []
    for mean, ends, name in (("emulated", "expected", what), ("real", "real", np.array(_REAL))):
        columns = [f"{mean}_mean", f"{ends}_low", f"{ends}_high"]
        ratios = rows[columns].div(rows["real_mean"], axis="index")
        ratios = ratios.set_axis(["middle", "low", "high"], axis="columns")
        found.append(rows[["metric", "line"]].join(100 * (ratios - 1)).assign(what=name))
    return pd.concat(found)


def _draw_ranges(axes: Axes, ranges: pd.DataFrame, err_kws: Record, **look: object) -> None:
    place = {"x": "middle", "y": "line", "orient": "y", "native_scale": True}
    look |= {"hue": "what", "palette": _COLOURS, "linestyle": "none", "err_kws": err_kws}
    long = style.with_ends(ranges, "middle", "low", "high")
    sns.pointplot(long, ax=axes, **place, **look, **style.ENDS)


def _reach(ranges: pd.DataFrame) -> float:
    """How far the axis reaches (%): to the end of the widest bar, unless it dwarfs the others."""
    known = ranges[["low", "high"]].abs().max(axis="columns").groupby(ranges["line"]).max().dropna()
    if known.empty:
        return 1.0
    return 1.1 * float(min(known.max(), _WIDEST * known.quantile(0.75))) or 1.0


def subjects(tables: Tables) -> dict[str, Record]:
    """One, where the emulator ran the settings, too."""
    return {"real": {}} if tables["agreement"]["relative"].notna().any() else {}

"""The figure of the emulator's predictions and real means."""

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis.frames import Record, select
from kneepoint.analysis.metrics import METRICS, SIGNAL_DELAY, THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import Drawn, only, style
from kneepoint.runs.confirmed import CALIBRATION

_WIDEST = 4.0
"""The axis limit as a multiple of the third quartile of the bars' ends."""
_REAL = "real mahimahi"
_COLOURS = {
    "emulator": style.OURS,
    "emulator, fitted": style.QUIET,
    "emulator, outside": style.BEST,
    _REAL: style.INK,
}


def _draw(_: Record, tables: Tables) -> Figure:
    """Draws the predicted range and the real mean, with a line for each setting."""
    rows = tables["agreement"]
    rows = rows.assign(line=pd.factorize(rows["trial"])[0])
    names = rows.drop_duplicates("trial")["label"].map(style.capital)
    ranges = _ranges(rows)
    figure = style.page(0.75 + 0.15 * len(names))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, metric in zip(panels, (THROUGHPUT, SIGNAL_DELAY), strict=True):
        _draw_ranges(axes, select(ranges, metric=metric))
        axes.set(title=METRICS[metric].title, xlabel="Relative to the real mean (%)", ylabel="")
        sns.despine(ax=axes, left=True)
        axes.tick_params("y", length=0)
        axes.grid(axis="x")
    panels[0].set_yticks(range(len(names)), names, fontsize=7)
    panels[0].set_ylim(len(names) - 0.4, -0.6)
    style.legend_once(figure, panels, loc="outside lower center", ncols=4)
    return figure


def _ranges(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns middle, low and high of predictions and of real means (% of the real mean)."""
    rows = rows.dropna(subset="real_mean")
    is_fitted = rows["origins"].map(lambda origins: CALIBRATION in origins).astype(bool)
    outside_or_fitted = [rows["inside"].eq(False), is_fitted]
    what = np.select(outside_or_fitted, ["emulator, outside", "emulator, fitted"], "emulator")
    found = []
    for mean, ends, name in (("emulated", "expected", what), ("real", "real", np.array(_REAL))):
        columns = [f"{mean}_mean", f"{ends}_low", f"{ends}_high"]
        ratios = rows[columns].div(rows["real_mean"], axis="index")
        ratios = ratios.set_axis(["middle", "low", "high"], axis="columns")
        found.append(rows[["metric", "line"]].join(100 * (ratios - 1)).assign(what=name))
    return pd.concat(found)


def _draw_ranges(axes: Axes, ranges: pd.DataFrame) -> None:
    """Draws predictions as wide bars with a tick, and real means as dots.

    The axis reaches the ends of most bars.
    """
    axes.axvline(0, color=style.QUIET, linewidth=0.6, zorder=1)
    ends = style.with_ends(ranges, "middle", "low", "high")
    look: Record = {"orient": "y", "native_scale": True, "linestyle": "none", **style.ENDS}
    look |= {"x": "middle", "y": "line", "hue": "what", "palette": _COLOURS, "ax": axes}
    tick = {"marker": "|", "markersize": 6, "markeredgewidth": 1.3}
    bar = {"linewidth": 4.2, "alpha": 0.45}
    sns.pointplot(ends[ends["what"] != _REAL], err_kws=bar, **tick, **look)
    sns.pointplot(select(ends, what=_REAL), err_kws={"linewidth": 0.8}, markersize=2.6, **look)
    reach = ranges[["low", "high"]].abs().max(axis="columns").groupby(ranges["line"]).max().dropna()
    if len(reach):
        widest = 1.1 * float(min(reach.max(), _WIDEST * reach.quantile(0.75))) or 1.0
        axes.set_xlim(-widest, widest)


FIGURES = {
    "agreement": Drawn(
        "Does real mahimahi do what the emulator predicts, setting by setting?",
        only("agreement", "real", lambda rows: rows.dropna(subset=["relative"])),
        _draw,
    )
}

"""What do buffers do to others' delays and downloads: published, in virtual time, on the kernel?"""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis.comparisons import compared_figures
from kneepoint.analysis.frames import Record, select
from kneepoint.common.tables import Tables
from kneepoint.engines.limits import (
    EMULATOR,
    KERNEL,
    LIMITS,
)
from kneepoint.reports.figures import each, style

_COLUMNS = 3
_LOGARITHMIC = 4
"""An axis whose ends differ by this factor is logarithmic."""
_LOOKS = {EMULATOR.title: ("o", style.OURS), KERNEL.title: ("s", style.ALTERNATE)}
_LINE = ["network", "trial", "traffic"]


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each figure, a line for each network and setting: mean and range of the runs."""
    found = _drawn(select(compared_figures(tables), comparison=subject["comparison"]))
    lines = found.assign(at=pd.factorize(found["network"])[0]).drop_duplicates(_LINE)
    lines = lines.sort_values(["at", "trial"]).assign(line=range(len(lines)))
    published = select(tables["comparison_published"], comparison=subject["comparison"])
    found, published = (
        style.with_panels(rows.merge(lines[[*_LINE, "line"]], on=_LINE))
        for rows in (found, published)
    )
    found["engine"] = found["engine"].map(lambda engine: LIMITS[engine].title)
    looks = {name: look for name, look in _LOOKS.items() if name in set(found["engine"])}
    ends = style.with_ends(found, "mean", "least", "greatest")
    place = {"x": "mean", "y": "line", "orient": "y", "native_scale": True, "sharex": False}
    panels = found["panel"].unique()
    facets = {"col": "panel", "col_wrap": min(_COLUMNS, len(panels)), "legend_out": False}
    markers, palette = ([look[which] for look in looks.values()] for which in (0, 1))
    look: Record = {"hue": "engine", "hue_order": list(looks), "dodge": 0.34 * (len(looks) - 1)}
    look |= {"markers": markers, "palette": palette, "markersize": 3.2, "linestyle": "none"}
    look["err_kws"] = {"linewidth": 1.4, "alpha": 0.6}
    grid = sns.catplot(ends, kind="point", **place, **facets, **look, **style.ENDS)
    for panel, axes in grid.axes_dict.items():
        part = select(found, panel=panel)
        text = "{network_title}, {label}: {mean:.{decimals}f} {unit} ({least:.{decimals}f} to "
        text += "{greatest:.{decimals}f}), n = {n}, {engine}"
        style.tell(axes, part, "mean", "line", text)
        _draw_published(axes, select(published, panel=panel))
        low, high = axes.get_xlim()
        if low > 0 and high / low > _LOGARITHMIC:
            axes.set_xscale("log")
            style.log_ticks(axes, "x", (1, 2, 5) if high / low < 100 else (1,))
        axes.set_xlabel(part["unit"].iloc[0])
        axes.grid(axis="x")
    names = lines["network_title"] + ", " + lines["label"].map(style.capital)
    grid.set_titles("{col_name}", size=8.5).set(ylabel="", ylim=(len(lines) - 0.4, -0.6))
    for axes in grid.axes.flat[::_COLUMNS]:
        axes.set_yticks(lines["line"], names, fontsize=7.5)
    rows = -(-len(panels) // _COLUMNS)
    figure = style.fit(grid, 0.5 + rows * (0.55 + 0.17 * len(lines)))
    style.legend_once(figure, grid.axes.flat, loc="outside lower center", ncols=4)
    return figure


def _draw_published(axes: Axes, rows: pd.DataFrame) -> None:
    """Diamonds, or crosses for what the source contradicts; a line joins the ends of a range."""
    low, high = rows["published"], rows["published_high"]
    axes.hlines(rows["line"], low, high, color=style.BEST, linewidth=0.8)
    ends = pd.concat([rows.assign(end=low), rows.assign(end=high)]).dropna(subset="end")
    for is_wrong, part in ends.groupby(ends["verdict"] == "contradicted"):
        said, marker = ("published, wrong", "x") if is_wrong else ("published", "D")
        looks, part = {said: (marker, style.BEST)}, part.assign(said=said)
        style.points(axes, part, "end", "line", "said", looks, markersize=4.4)


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """Without throughput, which hardly differs: a long-lived flow takes what the link has."""
    return rows[rows["shown"] & (rows["metric"] != "throughput_mbps")]


subjects = each(compared_figures, "comparison", chosen=_drawn)

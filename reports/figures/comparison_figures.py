"""What do buffers do to others' delays and downloads: published, in virtual time, on the kernel?"""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.comparisons import compared_figures
from analysis.frames import Record, records, select
from analysis.metrics import FIGURES
from common.tables import Tables
from reports.figures import style

_COLUMNS = 3
_LOGARITHMIC = 4
"""An axis whose ends differ by this factor is logarithmic."""
_OF_LINK = "throughput_mbps"
"""Hardly differs between settings: a long-lived flow takes what the link has."""
_ENGINES = {"emulator": "virtual time", "kernel": "the kernel's TCP"}
_LOOKS = {"virtual time": ("o", style.OURS), "the kernel's TCP": ("s", style.ALTERNATE)}
_LINE = ["network", "trial", "traffic"]
_PANEL = ["source", "metric"]


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each figure, a line for each network and setting: mean and range of the runs."""
    found = select(compared_figures(tables), comparison=subject["comparison"], shown=True)
    found = found[found["metric"] != _OF_LINK]
    lines = found.assign(at=pd.factorize(found["network"])[0]).drop_duplicates(_LINE)
    lines = lines.sort_values(["at", "trial"]).assign(line=range(len(lines)))
    panels = found[_PANEL].drop_duplicates().assign(panel=lambda rows: rows.agg(_title, axis=1))
    published = select(tables["comparison_published"], comparison=subject["comparison"])
    found, published = (
        rows.merge(lines[[*_LINE, "line"]], on=_LINE).merge(panels, on=_PANEL)
        for rows in (found, published)
    )
    found["engine"] = found["engine"].map(_ENGINES)
    engines = [name for name in _LOOKS if name in set(found["engine"])]
    ends = style.with_ends(found, "mean", "least", "greatest")
    place = {"x": "mean", "y": "line", "orient": "y", "native_scale": True, "sharex": False}
    facets = {"col": "panel", "col_wrap": min(_COLUMNS, len(panels)), "legend_out": False}
    markers, palette = map(list, zip(*(_LOOKS[name] for name in engines), strict=True))
    look: Record = {"hue": "engine", "hue_order": engines, "markers": markers, "palette": palette}
    look |= {"markersize": 3.2, "linestyle": "none", "err_kws": {"linewidth": 1.4, "alpha": 0.6}}
    look["dodge"] = 0.34 * (len(engines) - 1)
    grid = sns.catplot(ends, kind="point", **place, **facets, **look, **style.ENDS)
    for panel, axes in grid.axes_dict.items():
        part = select(found, panel=panel)
        style.tell(axes, part["mean"], part["line"], map(_value, records(part)))
        _draw_published(axes, select(published, panel=panel))
        _set_axis(axes, FIGURES[part["metric"].iloc[0]].unit)
    names = lines["network_title"] + ", " + lines["label"]
    grid.set_titles("{col_name}", size=8.5).set(ylabel="", ylim=(len(lines) - 0.4, -0.6))
    for axes in grid.axes.flat[::_COLUMNS]:
        axes.set_yticks(lines["line"], names, fontsize=7.5)
    rows = -(-len(panels) // _COLUMNS)
    figure = style.fit(grid, 0.5 + rows * (0.55 + 0.17 * len(lines)))
    style.legend_once(figure, grid.axes.flat, loc="outside lower center", ncols=4)
    return figure


def _title(panel: "pd.Series[str]") -> str:
    title = labels.lower_first(FIGURES[panel["metric"]].title)
    return f"{labels.sentence(panel['source'])}: {title}"


def _value(row: Record) -> str:
    metric = FIGURES[row["metric"]]
    mean, least, most = (f"{row[end]:.{metric.decimals}f}" for end in ("mean", "least", "greatest"))
    where = f"{row['network_title']}, {row['label']}"
    return f"{where}: {mean} {metric.unit} ({least} to {most}), n = {row['n']}, {row['engine']}"


def _draw_published(axes: Axes, rows: pd.DataFrame) -> None:
    """Diamonds, or crosses for what the source contradicts; a line joins the ends of a range."""
    low, high = rows["published"], rows["published_high"]
    axes.hlines(rows["line"], low, high, color=style.BEST, linewidth=0.8)
    ends = pd.concat([rows.assign(end=low), rows.assign(end=high)]).dropna(subset="end")
    for is_wrong, part in ends.groupby(ends["verdict"] == "contradicted"):
        said, marker = ("published, wrong", "x") if is_wrong else ("published", "D")
        looks, part = {said: (marker, style.BEST)}, part.assign(said=said)
        style.points(axes, part, "end", "line", "said", looks, markersize=4.4)


def _set_axis(axes: Axes, unit: str) -> None:
    low, high = axes.get_xlim()
    if low > 0 and high / low > _LOGARITHMIC:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        steps = (1, 2, 5) if high / low < 100 else (1,)
        style.log_ticks(axes, "x", style.decades(low, high, steps))
    axes.set_xlabel(unit)
    axes.grid(axis="x")


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for each comparison with probes or downloads."""
    found = compared_figures(tables)
    if not len(found):
        return {}
    shown = found[found["shown"] & (found["metric"] != _OF_LINK)]
    return {row["comparison"]: row for row in records(shown.drop_duplicates("comparison"))}

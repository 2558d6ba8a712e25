"""What do buffers do to others' delays and downloads: published, in virtual time, on the kernel?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.metrics import FIGURES
from common.tables import Tables
from reports.figures import style

_LINE_IN = 0.17
_LOGARITHMIC = 4
"""An axis whose ends differ by this factor is logarithmic."""
_OF_LINK = "throughput_mbps"
"""Hardly differs between settings: a long-lived flow takes what the link has."""
_ENGINES = {
    "emulator": ("o", style.OURS, -0.17, "virtual time"),
    "kernel": ("s", style.ALTERNATE, 0.17, "the kernel's TCP"),
}


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each figure, a line for each network and setting: mean and range of the runs."""
    found = select(tables["comparison_figures"], comparison=subject["comparison"], shown=True)
    found = found[found["metric"] != _OF_LINK]
    panels_of = found[["source", "metric"]].drop_duplicates()
    places = found.drop_duplicates(["network", "trial", "traffic"])
    order = {network: n for n, network in enumerate(found["network"].drop_duplicates())}
    places = places.assign(place=places["network"].map(order)).sort_values(["place", "trial"])
    keys = ["network", "trial", "traffic"]
    lines = {key: n for n, key in enumerate(places[keys].itertuples(index=False, name=None))}
    published = select(tables["comparison_published"], comparison=subject["comparison"])
    columns = min(3, len(panels_of))
    rows = -(-len(panels_of) // columns)
    figure = style.page(0.5 + rows * (0.55 + _LINE_IN * len(lines)))
    panels = figure.subplots(rows, columns, squeeze=False, sharey=True)
    for axes, panel in zip(panels.flat, records(panels_of), strict=False):
        _panel(axes, select(found, **panel), select(published, **panel), lines, keys)
        metric = FIGURES[panel["metric"]]
        title = labels.lower_first(metric.title)
        axes.set_title(f"{labels.sentence(panel['source'])}: {title}", fontsize=8.5)
        axes.set_xlabel(metric.unit)
    for axes in list(panels.flat)[len(panels_of) :]:
        axes.set_visible(False)
    names = [f"{row['network_title']}, {row['label']}" for row in records(places)]
    for axes in panels[:, 0]:
        axes.set_yticks(list(lines.values()), names, fontsize=7.5)
    panels[0][0].set_ylim(len(lines) - 0.4, -0.6)
    style.legend_once(figure, list(panels.flat), loc="outside lower center", ncols=4)
    return figure


def _panel(
    axes: Axes,
    found: pd.DataFrame,
    published: pd.DataFrame,
    lines: "dict[tuple[object, ...], int]",
    keys: list[str],
) -> None:
    for row in records(found):
        marker, colour, shift, label = _ENGINES[row["engine"]]
        y = lines[tuple(row[key] for key in keys)] + shift
        axes.hlines(y, row["least"], row["greatest"], colors=colour, linewidth=1.4, alpha=0.6)
        axes.plot(row["mean"], y, marker, color=colour, markersize=3.2, label=label)
        metric = FIGURES[row["metric"]]
        ends = [f"{row[end]:.{metric.decimals}f}" for end in ("mean", "least", "greatest")]
        told = f"{ends[0]} {metric.unit} ({ends[1]} to {ends[2]}), n = {row['n']}, {label}"
        style.tell(axes, [row["mean"]], [y], [f"{row['network_title']}, {row['label']}: {told}"])
    for row in records(published):
        y = lines[tuple(row[key] for key in keys)]
        is_wrong = row["verdict"] == "contradicted"
        high = (
            row["published"]
            if row["published_high"] != row["published_high"]
            else row["published_high"]
        )
        axes.hlines(y, row["published"], high, colors=style.BEST, linewidth=0.8)
        for value in {row["published"], high}:
            axes.plot(
                value,
                y,
                "x" if is_wrong else "D",
                markersize=4.4,
                markerfacecolor="none",
                markeredgecolor=style.BEST,
                markeredgewidth=0.9,
                label="published, wrong" if is_wrong else "published",
                zorder=4,
            )
    low, high = axes.get_xlim()
    if low > 0 and high / low > _LOGARITHMIC:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        steps = (1, 2, 5) if high / low < 100 else (1,)
        style.log_ticks(axes, "x", style.decades(low, high, steps))
        axes.minorticks_off()
    axes.grid(axis="x")


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for each comparison with probes or downloads."""
    found = tables["comparison_figures"]
    if not len(found):
        return {}
    shown = found[found["shown"] & (found["metric"] != _OF_LINK)]
    return {row["comparison"]: row for row in records(shown.drop_duplicates("comparison"))}

"""How much buffer is too much? The effect of a network parameter on the traffic."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.metrics import FIGURES
from common.tables import Tables
from reports.figures import style

_LOOKS = (("o", style.OURS), ("s", style.BEST), ("^", style.ALTERNATE), ("D", style.QUIET))


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each figure, a line for each study of the same parameter, network and traffic."""
    sweeps = select(tables["network_sweeps"], **{name: subject[name] for name in _ALIKE})
    points = tables["network_sweep_points"]
    points = points[points["study"].isin(sweeps["study"]) & points["shown"]]
    shown = points[["source", "metric"]].drop_duplicates()
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure = style.page(0.45 + 1.75 * rows)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=True)
    for axes, panel in zip(panels.flat, records(shown), strict=False):
        for study, look in zip(records(sweeps), _LOOKS, strict=False):
            _line(axes, select(points, study=study["study"], **panel), study["label"], look)
        metric = FIGURES[panel["metric"]]
        title = labels.lower_first(metric.title)
        axes.set_title(f"{labels.sentence(panel['source'])}: {title}", fontsize=8.5)
        axes.set_ylabel(metric.unit)
        axes.set_ylim(bottom=0)
        if subject["bdp_packets"] == subject["bdp_packets"] and "packets" in subject["parameter"]:
            axes.axvline(
                subject["bdp_packets"], color=style.QUIET, linewidth=0.8, dashes=(4, 3), label="BDP"
            )
    for axes in list(panels.flat)[len(shown) :]:
        axes.set_visible(False)
    for axes in panels.flat:
        axes.set_xscale("log")
        low, high = axes.get_xlim()
        style.log_ticks(axes, "x", style.decades(low, high, (1, 3)))
        axes.minorticks_off()
    for axes in list(panels.flat)[max(0, len(shown) - columns) : len(shown)]:
        axes.set_xlabel(labels.axis(subject["parameter"]))
        axes.tick_params(labelbottom=True)
    style.legend_once(figure, list(panels.flat), loc="outside lower center", ncols=5)
    return figure


_ALIKE = ("parameter", "network_title", "traffic_title")


def _line(axes: Axes, points: pd.DataFrame, label: str, look: tuple[str, str]) -> None:
    marker, colour = look
    points = points.sort_values("value")
    axes.fill_between(
        points["value"],
        points["least"],
        points["greatest"],
        color=colour,
        alpha=0.18,
        linewidth=0,
    )
    axes.plot(
        points["value"],
        points["mean"],
        marker=marker,
        color=colour,
        markersize=3,
        label=label,
    )
    texts = [
        f"{label} at {labels.number(row['value'])}: "
        f"{row['mean']:.{FIGURES[row['metric']].decimals}f} {FIGURES[row['metric']].unit}, "
        f"n = {row['n']}"
        for row in records(points)
    ]
    style.tell(axes, points["value"], points["mean"], texts)


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for the studies of each parameter, network and traffic, named after the first."""
    found = tables["network_sweeps"]
    first = found.drop_duplicates(list(_ALIKE)) if len(found) else found
    return {row["study"]: row for row in records(first)}

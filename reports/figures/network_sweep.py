"""How much buffer is too much? The effect of a network parameter on the traffic."""

import textwrap

import seaborn as sns
from matplotlib.figure import Figure

from analysis import labels
from analysis.comparisons import network_sweep_points, network_sweeps
from analysis.frames import Record, records, select
from analysis.metrics import FIGURES
from common.tables import Tables
from reports.figures import style

_ALIKE = ("parameter", "network_title", "traffic_title")
_COLUMNS = 3


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each figure, a line for each study: means, and the range of the runs."""
    sweeps = select(network_sweeps(tables), **{name: subject[name] for name in _ALIKE})
    several = sweeps["label"].duplicated(keep=False)
    sweeps["label"] += (" (" + sweeps["study"] + ")").where(several, "")
    points = select(network_sweep_points(tables), shown=True)
    points = points.merge(sweeps[["study", "label"]], on="study")
    points["panel"] = [_title(row) for row in records(points)]
    facets = {"col": "panel", "col_wrap": _COLUMNS, "facet_kws": {"sharey": False}}
    look = {"hue": "label", "style": "label", "markers": True, "dashes": False}
    look |= {"markeredgewidth": 0, "err_kws": {"alpha": 0.18, "linewidth": 0}}
    ends = style.with_ends(points, "mean", "least", "greatest")
    grid = sns.relplot(ends, kind="line", x="value", y="mean", **facets, **look, **style.ENDS)
    for panel, axes in grid.axes_dict.items():
        part = select(points, panel=panel)
        style.tell(axes, part["value"], part["mean"], map(_value, records(part)))
        axes.set(ylabel=FIGURES[part["metric"].iloc[0]].unit, ylim=(0, None))
        if subject["bdp_packets"] == subject["bdp_packets"] and "packets" in subject["parameter"]:
            dashed = {"color": style.QUIET, "linewidth": 0.8, "dashes": (4, 3)}
            axes.axvline(subject["bdp_packets"], label="BDP", **dashed)
    first = grid.axes.flat[0]
    first.set_xscale("log")
    low, high = first.get_xlim()
    style.log_ticks(first, "x", style.decades(low, high, (1, 3)))
    grid.set_titles("{col_name}", size=8.5).set_xlabels(labels.axis(subject["parameter"]))
    grid.legend.remove()
    figure = style.fit(grid, 0.3 + 1.75 * -(-len(grid.axes) // _COLUMNS))
    style.legend_once(figure, grid.axes.flat, loc="outside lower center")
    return figure


def _title(row: Record) -> str:
    title = labels.lower_first(FIGURES[row["metric"]].title)
    return textwrap.fill(f"{labels.sentence(row['source'])}: {title}", 34)


def _value(row: Record) -> str:
    metric = FIGURES[row["metric"]]
    mean = f"{row['mean']:.{metric.decimals}f} {metric.unit}"
    return f"{row['label']} at {labels.number(row['value'])}: {mean}, n = {row['n']}"


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for the studies of each parameter, network and traffic, named after the first."""
    found = network_sweeps(tables)
    first = found.drop_duplicates(list(_ALIKE)) if len(found) else found
    return {row["study"]: row for row in records(first)}

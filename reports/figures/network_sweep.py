"""How much buffer is too much? The effect of a network parameter on the traffic."""

import textwrap

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.metrics import FIGURES
from common.tables import Tables
from reports.figures import style


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each figure, a line for each study of the same parameter, network and traffic."""
    sweeps = select(tables["network_sweeps"], **{name: subject[name] for name in _ALIKE})
    points = tables["network_sweep_points"].merge(sweeps[["study", "label"]], on="study")
    points = points[points["shown"]]
    shown = records(points[["source", "metric"]].drop_duplicates())
    figure, panels = style.multiples(len(shown), 3, 1.75, sharex=True)
    for axes, panel in zip(panels, shown, strict=True):
        metric = FIGURES[panel["metric"]]
        title = f"{labels.sentence(panel['source'])}: {labels.lower_first(metric.title)}"
        _draw_lines(axes, select(points, **panel))
        axes.set_title(textwrap.fill(title, 34), fontsize=8.5)
        axes.set(ylabel=metric.unit, ylim=(0, None))
        if subject["bdp_packets"] == subject["bdp_packets"] and "packets" in subject["parameter"]:
            look: Record = {"color": style.QUIET, "linewidth": 0.8, "dashes": (4, 3)}
            axes.axvline(subject["bdp_packets"], label="BDP", **look)
    panels[0].set_xscale("log")
    style.log_ticks(panels[0], "x", style.decades(*panels[0].get_xlim(), (1, 3)))
    panels[0].minorticks_off()
    for axes in panels[-3:]:
        axes.set_xlabel(labels.axis(subject["parameter"]))
    style.legend_once(figure, panels, loc="outside lower center")
    return figure


_ALIKE = ("parameter", "network_title", "traffic_title")


def _draw_lines(axes: Axes, points: pd.DataFrame) -> None:
    """The mean of each study, and the range of its runs."""
    look = {"hue": "study", "style": "study", "markers": True, "dashes": False, "ax": axes}
    sns.lineplot(
        points, x="value", y="mean", errorbar=None, markeredgewidth=0, legend=False, **look
    )
    for line, (_, study) in zip(axes.lines, points.groupby("study", sort=False), strict=True):
        study, label = study.sort_values("value"), study["label"].iloc[0]
        line.set_label(label)
        place = study["value"], study["least"], study["greatest"]
        axes.fill_between(*place, color=line.get_color(), alpha=0.18, linewidth=0)
        texts = [
            f"{label} at {labels.number(row['value'])}: "
            f"{row['mean']:.{FIGURES[row['metric']].decimals}f} {FIGURES[row['metric']].unit}, "
            f"n = {row['n']}"
            for row in records(study)
        ]
        style.tell(axes, study["value"], study["mean"], texts)
    axes.set_xlabel("")


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for the studies of each parameter, network and traffic, named after the first."""
    found = tables["network_sweeps"]
    first = found.drop_duplicates(list(_ALIKE)) if len(found) else found
    return {row["study"]: row for row in records(first)}

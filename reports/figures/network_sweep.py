"""How much buffer is too much? The effect of a network parameter on the traffic."""

import seaborn as sns
from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.comparisons import network_sweep_points, network_sweeps
from kneepoint.analysis.frames import Record, select
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

_ALIKE = ["parameter", "network_title", "traffic_title"]
_COLUMNS = 3


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each figure, a line for each study: means, and the range of the runs."""
    sweeps = select(network_sweeps(tables), **{name: subject[name] for name in _ALIKE})
    sweeps["label"] = sweeps["label"].map(style.capital)
    several = sweeps["label"].duplicated(keep=False)
    sweeps["label"] += (" (" + sweeps["study"] + ")").where(several, "")
    points = select(network_sweep_points(tables), shown=True)
    points = style.with_panels(points.merge(sweeps[["study", "label"]], on="study"))
    facets = {"col": "panel", "col_wrap": _COLUMNS, "facet_kws": {"sharey": False}}
    look = {"hue": "label", "style": "label", "markers": True, "dashes": False}
    look |= {"markeredgewidth": 0, "err_kws": {"alpha": 0.18, "linewidth": 0}}
    ends = style.with_ends(points, "mean", "least", "greatest")
    grid = sns.relplot(ends, kind="line", x="value", y="mean", **facets, **look, **style.ENDS)
    for panel, axes in grid.axes_dict.items():
        part = select(points, panel=panel)
        text = "{label} at {value:g}: {mean:.{decimals}f} {unit}, n = {n}"
        style.tell(axes, part, "value", "mean", text)
        axes.set(ylabel=part["unit"].iloc[0], ylim=(0, None))
        if subject["bdp_packets"] == subject["bdp_packets"] and "packets" in subject["parameter"]:
            dashed = {"color": style.QUIET, "linewidth": 0.8, "dashes": (4, 3)}
            axes.axvline(subject["bdp_packets"], label="BDP", **dashed)
    grid.axes.flat[0].set_xscale("log")
    style.log_ticks(grid.axes.flat[0], "x", (1, 3))
    grid.set_titles("{col_name}", size=8.5).set_xlabels(labels.axis(subject["parameter"]))
    grid.legend.remove()
    figure = style.fit(grid, 0.3 + 1.75 * -(-len(grid.axes) // _COLUMNS))
    style.legend_once(figure, grid.axes.flat, loc="outside lower center")
    return figure


subjects = each(network_sweeps, "study", chosen=lambda rows: rows.drop_duplicates(_ALIKE))

"""Does a further parameter matter while the two of a grid are held constant?"""

import seaborn as sns
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, select
from common.tables import Tables
from reports.figures import each, style


def draw(grid: Record, tables: Tables) -> Figure:
    """Power against each further parameter, relative to its cell's mean; one line per cell."""
    effects = select(tables["grid_effects"], grid=grid["grid"])
    effects = effects.assign(relative=100 * effects["relative"], mean=100 * effects["mean"])
    cells = {"units": "group", "estimator": None, "color": style.QUIET, "linewidth": 0.6}
    place = {"x": "value", "y": "relative", "col": "constant", "facet_kws": {"sharex": False}}
    panels = sns.relplot(effects, kind="line", **place, **cells)
    for constant, axes in panels.axes_dict.items():
        means = select(effects, constant=constant).drop_duplicates("value").sort_values("value")
        style.curve(axes, means, "value", "mean")
        axes.set_xticks(means["value"], [labels.number(value) for value in means["value"]])
        axes.set_xlabel(labels.axis(constant, means["unit"].iloc[0]))
    panels.set_titles("").set_ylabels("Power, relative to\nthe mean of its cell (%)")
    return style.fit(panels, 2.3)


subjects = each("grid_effects", "grid")

"""Does a further parameter matter while the two of a grid are held constant?"""

import seaborn as sns
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from common.tables import Tables
from reports.figures import style


def draw(grid: Record, tables: Tables) -> Figure:
    """Power against each further parameter, relative to its cell's mean; one line per cell."""
    effects = select(tables["grid_effects"], grid=grid["grid"])
    names = list(dict.fromkeys(effects["constant"]))
    figure = style.page(2.3)
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axes, name in zip(panels, names, strict=True):
        effect = select(effects, constant=name)
        percent = effect.assign(relative=100 * effect["relative"])
        cells = {"units": "group", "estimator": None, "color": style.QUIET, "linewidth": 0.6}
        sns.lineplot(percent, x="value", y="relative", ax=axes, **cells)
        mean = effect.drop_duplicates("value").sort_values("value")
        axes.plot(mean["value"], 100 * mean["mean"], "o-", color=style.OURS)
        axes.set_xticks(mean["value"], [labels.number(float(value)) for value in mean["value"]])
        axes.set_xlabel(labels.axis(name, effect["unit"].iloc[0]))
    panels[0].set_ylabel("Power, relative to\nthe mean of its cell (%)")
    return figure


def subjects(tables: Tables) -> dict[str, Record]:
    """The grids that vary a further parameter."""
    further = set(tables["grid_effects"]["grid"])
    return {grid["grid"]: grid for grid in records(tables["grids"]) if grid["grid"] in further}

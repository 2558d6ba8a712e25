"""How does power depend on two constants, and does it agree with the published grid?"""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, extremes, select
from analysis.tables import Tables
from reports.figures import FigureKind, each, style


def draw(grid: Record, tables: Tables) -> Figure:
    """Ours; and with a published grid, that and the difference in per cent."""
    cells = select(tables["grid_cells"], grid=grid["grid"])
    ours, published, relative = (
        cells.pivot(index="y", columns="x", values=whose)
        for whose in ("ours", "published", "relative")
    )
    rows = len(ours)
    figure = style.page(0.95 + 0.27 * rows)
    scale = _scale(cells[["ours", "published"]])
    if grid["table"] is None:
        _panel(figure.add_subplot(), grid, ours, "Power, ours (Mbit/s/s)", scale)
        return figure
    panels = figure.subplots(1, 3, sharey=True)
    _panel(panels[0], grid, ours, "Power, ours", scale)
    source = labels.report_of(grid["table"])
    _panel(panels[1], grid, published, f"Power, {source}", scale)
    limit = max(5.0, 100 * extremes(relative.abs())[1])
    scale = {"cmap": style.DIVERGING, "vmin": -1.6 * limit, "vmax": 1.6 * limit, "fmt": "+.1f"}
    _panel(panels[2], grid, 100 * relative, "Difference (%)", scale)
    for axes in panels[1:]:
        axes.set_ylabel("")
        axes.tick_params(left=False)
    return figure


def _scale(both: pd.DataFrame) -> dict[str, object]:
    least, greatest = extremes(both)
    return {"cmap": style.SEQUENTIAL, "vmin": least, "vmax": greatest, "fmt": ".2f"}


def _panel(
    axes: Axes, grid: Record, values: pd.DataFrame, title: str, options: dict[str, object]
) -> None:
    sns.heatmap(
        values,
        ax=axes,
        annot=True,
        cbar=False,
        linewidths=0.8,
        linecolor="white",
        annot_kws={"fontsize": 8.0},
        **options,
    )
    for text in axes.texts:
        text.set_text(text.get_text().replace("-", labels.MINUS))
    axes.set_xticklabels([labels.number(float(x)) for x in values.columns])
    axes.set_yticklabels([labels.number(y) for y in values.index], rotation=0)
    axes.set_title(title)
    axes.set_xlabel(labels.axis(grid["x"]))
    axes.set_ylabel(labels.axis(grid["y"]))
    axes.tick_params(length=0)


FIGURE = FigureKind("heat-map", each("grids", "grid"), draw)

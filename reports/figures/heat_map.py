"""How does power depend on two parameters, and does it agree with the published grid?"""

import textwrap

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, extremes, select
from common.tables import Tables
from reports.figures import each, style

NARROW, WIDE = 26, 80
"""Letters to a line above or below one of three panels, and of one as wide as the page."""


def draw(grid: Record, tables: Tables) -> Figure:
    """Ours and, if a grid was published, that grid and the difference in per cent."""
    cells = select(tables["grid_cells"], grid=grid["grid"])
    ours, published, relative = (
        cells.pivot(index="y", columns="x", values=whose)
        for whose in ("ours", "published", "relative")
    )
    scale = extremes(cells[["ours", "published"]])
    if grid["table"] is None:
        figure = _page(grid, len(ours), WIDE, 1)
        _panel(figure.add_subplot(), grid, ours, "Power, ours (Mbit/s/s)", scale)
        return figure
    source = textwrap.fill(f"Power, {grid['report']}", NARROW)
    figure = _page(grid, len(ours), NARROW, source.count("\n") + 1)
    panels = figure.subplots(1, 3, sharey=True)
    _panel(panels[0], grid, ours, "Power, ours", scale)
    _panel(panels[1], grid, published, source, scale)
    limit = 1.6 * max(5.0, 100 * extremes(relative.abs())[1])
    difference = {"colours": style.DIVERGING, "digits": "+.1f"}
    _panel(panels[2], grid, 100 * relative, "Difference (%)", (-limit, limit), **difference)
    for axes in panels[1:]:
        axes.set_ylabel("")
        axes.tick_params(left=False)
    return figure


def _page(grid: Record, rows: int, letters: int, title_lines: int) -> Figure:
    """A page with room for the cells, the title, and the label beside them."""
    beside = max(map(len, _label(grid, "y", NARROW).splitlines()))
    cells_in = max(0.27 * rows, 0.065 * beside)
    below_in = 0.14 * _label(grid, "x", letters).count("\n")
    return style.page(0.95 + cells_in + below_in + 0.14 * (title_lines - 1))


def _label(grid: Record, which: str, letters: int) -> str:
    """The label of an axis, in lines of this many letters."""
    return textwrap.fill(labels.axis(grid[which], grid[f"{which}_unit"]), letters)


def _panel(
    axes: Axes,
    grid: Record,
    values: pd.DataFrame,
    title: str,
    limits: tuple[float, float],
    colours: str = style.SEQUENTIAL,
    digits: str = ".2f",
) -> None:
    texts = values.map(lambda value: format(value, digits).replace("-", labels.MINUS))
    numbers = values.set_axis([labels.number(float(x)) for x in values.columns], axis="columns")
    numbers.index = pd.Index([labels.number(float(y)) for y in values.index])
    style.heat_map(axes, numbers, texts, limits, colours, 8.0)
    axes.tick_params(labelrotation=0)
    axes.set_title(title)
    axes.set_xlabel(_label(grid, "x", WIDE if grid["table"] is None else NARROW))
    axes.set_ylabel(_label(grid, "y", NARROW))


subjects = each("grids", "grid")

"""How does power depend on two parameters, and does it agree with the published grid?"""

import textwrap
from itertools import repeat

from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.frames import (
    Record,
    extremes,
    select,
)
from kneepoint.analysis.metrics import (
    METRICS,
    POWER,
    printed,
)
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

NARROW, WIDE = 26, 80
"""Letters to a line above or below one of three panels, and of one as wide as the page."""


def draw(grid: Record, tables: Tables) -> Figure:
    """Ours and, if a grid was published, that grid and the difference in per cent."""
    cells = select(tables["grid_cells"], grid=grid["grid"])
    cells["off"] = 100 * cells["relative"]
    scale = extremes(cells[["ours", "published"]]), style.SEQUENTIAL
    texts = cells[["y", "x"]].assign(
        ours=cells["ours"].map(METRICS[POWER].text),
        published=list(map(printed, cells["published"], cells["step"], repeat(POWER))),
        off=cells["off"].map("{:+.1f}".format).map(labels.minus),
    )
    if grid["table"] is None:
        panels, letters = {"ours": ("Power, ours (Mbit/s/s)", *scale)}, WIDE
    else:
        source, letters = textwrap.fill(f"Power, {grid['report']}", NARROW), NARROW
        limit = 1.6 * max(5.0, extremes(cells["off"].abs())[1])
        panels = {"ours": ("Power, ours", *scale), "published": (source, *scale)}
        panels["off"] = "Difference (%)", (-limit, limit), style.DIVERGING
    below = textwrap.fill(labels.axis(grid["x_name"], grid["x_unit"]), letters)
    beside = textwrap.fill(labels.axis(grid["y_name"], grid["y_unit"]), NARROW)
    lines = below.count("\n") + max(title.count("\n") for title, *_ in panels.values())
    cells_in = max(0.27 * cells["y"].nunique(), 0.065 * max(map(len, beside.splitlines())))
    figure = style.page(0.95 + cells_in + 0.14 * lines)
    all_axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, (whose, panel) in zip(all_axes, panels.items(), strict=True):
        title, limits, colours = panel
        shown = (each.pivot(index="y", columns="x", values=whose) for each in (cells, texts))
        values, written = shown
        values = values.rename(index=labels.number, columns=labels.number)
        style.heat_map(axes, values, written, limits, colours, 8.0)
        axes.tick_params(labelrotation=0, labelsize="small")
        axes.set(title=title, xlabel=below)
    all_axes[0].set_ylabel(beside)
    return figure


subjects = each("grid_cells", "grid")

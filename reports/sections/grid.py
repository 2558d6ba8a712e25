"""Two constants on a grid: where power is greatest, and which cells disagree with the report."""

from collections.abc import Iterator

import pandas as pd

from reports import labels
from reports.content import Block, Paragraph, Section, literal
from reports.discover import grids
from reports.metrics import METRICS, POWER
from reports.sections import Context
from reports.subjects import Grid

ORDER = 30


def compose(context: Context) -> Iterator[Section]:
    """One section for each grid."""
    for grid in grids(context.results):
        text = (
            f"We ran {labels.words(grid.controller)} on {literal(context.network(grid.network))} "
            f"over {grid.ours.shape[0]} values of {labels.words(grid.y)} and "
            f"{grid.ours.shape[1]} of {labels.words(grid.x)}; {{heat-map-{grid.key}}} shows the "
            f"power of each pair. Ours is greatest at {_place(grid, grid.ours)}."
        )
        blocks: list[Block] = [Paragraph(text), *context.draw(grid)]
        if grid.relative is not None and grid.published is not None:
            blocks.insert(1, Paragraph(_agreement(grid, grid.published, grid.relative)))
        yield Section(f"grid-{grid.key}", literal(grid.title), tuple(blocks))


def _place(grid: Grid, values: pd.DataFrame) -> str:
    cells = values.stack()
    y, x = cells.index[int(cells.to_numpy().argmax())]
    place = labels.constants({grid.y: float(y), grid.x: float(x)})
    return f"{place}: {cells.to_numpy().max():.2f} Mbit/s/s"


def _agreement(grid: Grid, published: pd.DataFrame, relative: pd.DataFrame) -> str:
    tolerance = METRICS[POWER].relative
    off = [
        f"{labels.constants({grid.y: float(y), grid.x: float(x)})} "
        f"({labels.percent(float(size), signed=True)})"
        for y, line in zip(relative.index, relative.to_numpy(), strict=True)
        for x, size in zip(relative.columns, line, strict=True)
        if abs(size) > tolerance
    ]
    text = (
        f"{labels.report_of(grid.table)} has its greatest at {_place(grid, published)}. "
        f"**{relative.size - len(off)} of {relative.size} cells agree within "
        f"{labels.percent(tolerance, 0)}**"
    )
    if not off:
        return text + "."
    return text + f"; the {'other is' if len(off) == 1 else 'others are'} {labels.joined(off)}."

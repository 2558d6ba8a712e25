"""How does power depend on two constants, and does it agree with the published grid?"""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import extremes
from reports.subjects import Grid


def draw(grid: Grid) -> Figure:
    """Ours; and with a published grid, that and the difference in per cent."""
    rows = len(grid.ours)
    figure = style.page(0.95 + 0.27 * rows)
    if grid.published is None or grid.relative is None:
        _panel(figure.add_subplot(), grid, grid.ours, "Power, ours (Mbit/s/s)", _scale(grid))
        return figure
    panels = figure.subplots(1, 3, sharey=True)
    _panel(panels[0], grid, grid.ours, "Power, ours", _scale(grid))
    source = labels.report_of(grid.table)
    _panel(panels[1], grid, grid.published, f"Power, {source}", _scale(grid))
    limit = max(5.0, 100 * extremes(grid.relative.abs())[1])
    scale = {"cmap": style.DIVERGING, "vmin": -1.6 * limit, "vmax": 1.6 * limit, "fmt": "+.1f"}
    _panel(panels[2], grid, 100 * grid.relative, "Difference (%)", scale)
    for axes in panels[1:]:
        axes.set_ylabel("")
        axes.tick_params(left=False)
    return figure


def _scale(grid: Grid) -> dict[str, object]:
    both = pd.concat([grid.ours, *([] if grid.published is None else [grid.published])])
    least, greatest = extremes(both)
    return {"cmap": style.SEQUENTIAL, "vmin": least, "vmax": greatest, "fmt": ".2f"}


def _panel(
    axes: Axes, grid: Grid, values: pd.DataFrame, title: str, options: dict[str, object]
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
    axes.set_xlabel(labels.axis(grid.x))
    axes.set_ylabel(labels.axis(grid.y))
    axes.tick_params(length=0)


def _caption(grid: Grid) -> str:
    text = (
        f"Over {labels.words(grid.y)} and {labels.words(grid.x)}; each cell is the mean of its "
        "runs."
    )
    if grid.others:
        names = labels.joined([labels.words(name) for name in grid.others])
        text += f" Ours is the mean over {names}."
    if grid.relative is None:
        return text
    size = pd.Series(grid.relative.abs().to_numpy().ravel())
    return text + (
        f" The difference is ours less published; its median size is "
        f"{labels.percent(float(size.median()))}, its greatest {labels.percent(float(size.max()))}."
    )


FIGURE = FigureKind(
    name="heat-map",
    subject=Grid,
    order=10,
    title=lambda grid: (
        f"Power of {labels.words(grid.controller)}, ours and published"
        if grid.published is not None
        else f"Power of {labels.words(grid.controller)}"
    ),
    caption=_caption,
    draw=draw,
)

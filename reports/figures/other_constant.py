"""Does a further constant matter, while the two of a grid are held?"""

from matplotlib.figure import Figure

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import extremes
from reports.subjects import Grid


def draw(grid: Grid) -> Figure:
    """Power over each further constant, relative to its cell's mean; one line a cell."""
    figure = style.page(2.3)
    panels = figure.subplots(1, len(grid.others), sharey=True, squeeze=False)[0]
    for axes, (name, effect) in zip(panels, grid.others.items(), strict=True):
        for _, cell in effect.groupby("group"):
            axes.plot(cell["value"], 100 * cell["relative"], color=style.QUIET, linewidth=0.6)
        mean = effect.groupby("value")["relative"].mean()
        axes.plot(mean.index, 100 * mean, "o-", color=style.OURS)
        axes.set_xticks(mean.index, [labels.number(float(value)) for value in mean.index])
        axes.set_xlabel(labels.axis(name))
    panels[0].set_ylabel("Power, relative to\nthe mean of its cell (%)")
    return figure


def _caption(grid: Grid) -> str:
    parts = []
    for name, effect in grid.others.items():
        low, high = extremes(effect["relative"])
        parts.append(
            f"{labels.words(name)} moves power by {labels.percent(low, signed=True)} to "
            f"{labels.percent(high, signed=True)}"
        )
    return (
        "A grey line is one cell of the grid, the dark one their mean: "
        f"{labels.joined(parts)} about the mean of the cell."
    )


FIGURE = FigureKind(
    name="other-constant",
    subject=Grid,
    order=20,
    title=lambda grid: f"The effect of {labels.joined([labels.words(n) for n in grid.others])}",
    caption=_caption,
    draw=draw,
    applies=lambda grid: bool(grid.others),
)

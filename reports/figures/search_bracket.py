"""How did a search of one constant close in on the peak?"""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from reports import labels
from reports.figures import FigureKind, style
from reports.subjects import ONE_PEAK, Search

OBJECTIVES = {
    "misfit": "Misfit",
    "mean": "Power (Mbit/s/s)",
    "worst": "Worst power (Mbit/s/s)",
    "mean_log": "Mean of log power",
}


def draw(search: Search) -> Figure:
    """The evaluated points in order, and the bracket around the peak step by step."""
    figure = style.page(2.9)
    points, steps = figure.subplots(1, 2, width_ratios=[1, 1], sharex=True)
    _draw_points(points, search)
    _draw_steps(steps, search)
    for axes in (points, steps):
        style.search_axis(axes, search.searched[0])
    return figure


def _draw_points(axes: Axes, search: Search) -> None:
    sign = -1 if search.minimised else 1
    steps = search.brackets.sort_values("value")
    axes.plot(steps["value"], sign * steps["power"], "-", color=style.FAINT, zorder=1)
    axes.plot(steps["value"], sign * steps["power"], "o", color=style.OURS, zorder=3)
    taken: list[tuple[float, float]] = []
    width = steps["value"].max() - steps["value"].min() or 1.0
    height = steps["power"].max() - steps["power"].min() or 1.0
    for _, row in search.brackets.iterrows():
        place = row["value"] / width, row["power"] / height
        if all(abs(place[0] - x) > 0.05 or abs(place[1] - y) > 0.07 for x, y in taken):
            taken.append(place)
            axes.annotate(
                f"{row['step']:.0f}",
                (row["value"], sign * row["power"]),
                (4, 4),
                textcoords="offset points",
                fontsize=7.5,
                color=style.QUIET,
            )
    best = search.best_constants[search.searched[0].name]
    style.ring(axes, best, sign * search.best.value)
    axes.set_title("Evaluated, numbered in order")
    if search.minimised and steps["power"].max() < 0:
        axes.set_yscale("log")
    axes.set_ylabel(objective_axis(search))
    axes.margins(y=0.12)


def _draw_steps(axes: Axes, search: Search) -> None:
    for _, row in search.brackets.iterrows():
        axes.hlines(
            row["step"], row["low"], row["high"], color=style.OURS, linewidth=3.2, alpha=0.3
        )
        axes.plot(row["value"], row["step"], "o", color=style.OURS)
    axes.axvline(
        search.best_constants[search.searched[0].name],
        color=style.BEST,
        linewidth=0.7,
        dashes=(5, 3),
    )
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_title("Where the best can be, by step")
    axes.set_ylabel("Evaluation")


def objective_axis(search: Search) -> str:
    """What the search optimised, as an axis' label."""
    return OBJECTIVES[search.objective]


def _caption(search: Search) -> str:
    name = labels.words(search.searched[0].name)
    value = labels.number(search.best_constants[search.searched[0].name])
    return (
        f"{labels.count(len(search.brackets), 'evaluation')}: left, what each gave; right, a dot "
        f"for what was evaluated and a bar for where the {'least' if search.minimised else 'peak'} "
        f"must then lie if there is only one. It ends at {name} {value}."
    )


FIGURE = FigureKind(
    name="search-bracket",
    subject=Search,
    order=10,
    title=lambda search: (
        f"{search.sampler.capitalize()} search of {labels.words(search.searched[0].name)}"
        f"{', in real mahimahi' if search.is_real else ''}"
    ),
    caption=_caption,
    draw=draw,
    applies=lambda search: len(search.searched) == 1 and search.sampler in ONE_PEAK,
)

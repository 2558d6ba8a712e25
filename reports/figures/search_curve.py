"""How did the objective depend on the one constant that was searched?"""

from matplotlib.figure import Figure

from reports import labels
from reports.figures import FigureKind, style
from reports.figures.search_bracket import objective_axis
from reports.statistics import CONSTANT
from reports.subjects import ONE_PEAK, Search


def draw(search: Search) -> Figure:
    """Every trial's value against the constant, the best ringed."""
    figure = style.page(2.5)
    axes = figure.add_subplot()
    column = CONSTANT + search.searched[0].name
    trials = search.trials.dropna(subset=["value"]).sort_values(column)
    axes.plot(trials[column], trials["value"], "o-", color=style.OURS)
    best = search.best_trial
    style.ring(axes, best[column], best["value"])
    axes.annotate(
        labels.number(best[column]),
        (best[column], best["value"]),
        (0, 10),
        textcoords="offset points",
        ha="center",
        color=style.BEST,
        weight="bold",
    )
    style.search_axis(axes, search.searched[0])
    axes.set_ylim(bottom=0 if trials["value"].min() >= 0 else None)
    axes.set_ylabel(objective_axis(search))
    return figure


FIGURE = FigureKind(
    name="search-curve",
    subject=Search,
    order=10,
    title=lambda search: (
        f"{'Misfit' if search.minimised else 'Score'} against "
        f"{labels.words(search.searched[0].name)}"
    ),
    caption=lambda search: f"Each dot is a trial of {len(search.trials)}; the best is ringed.",
    draw=draw,
    applies=lambda search: len(search.searched) == 1 and search.sampler not in ONE_PEAK,
)

"""How did the objective depend on the one parameter searched?"""

from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import CONSTANT, Record, records, select
from analysis.searches import ONE_PEAK
from common.tables import Tables
from reports.figures import each, style
from reports.figures.search_bracket import objective_axis


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial's value against the parameter, the best ringed."""
    (only,) = records(select(tables["search_constants"], search=search["search"]))
    figure = style.page(2.5)
    axes = figure.add_subplot()
    column = CONSTANT + only["constant"]
    trials = select(tables["search_trials"], search=search["search"])
    trials = trials.dropna(subset=["value"]).sort_values(column)
    axes.plot(trials[column], trials["value"], "o-", color=style.OURS)
    name = labels.words(only["constant"])
    texts = [
        f"{name} {labels.number(row[column])}: {labels.number(row['value'])}"
        for row in records(trials)
    ]
    style.tell(axes, trials[column], trials["value"], texts)
    best = only["best"], search["best_value"]
    style.ring(axes, *best)
    axes.annotate(
        labels.number(only["best"]),
        best,
        (0, 10),
        textcoords="offset points",
        ha="center",
        color=style.BEST,
        weight="bold",
    )
    style.search_axis(axes, only)
    axes.set_ylim(bottom=0 if trials["value"].min() >= 0 else None)
    axes.set_ylabel(objective_axis(search))
    return figure


subjects = each(
    "searches",
    "search",
    lambda search: search["searched"] == 1 and search["sampler"] not in ONE_PEAK,
)

"""How did the objective depend on the one parameter searched?"""

from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import CONSTANT, Record, records, select
from analysis.searches import ONE_PEAK
from common.tables import Tables
from reports.figures import each, style


def draw(search: Record, tables: Tables) -> Figure:
    """Every trial's value against the parameter, the best ringed."""
    (only,) = records(select(tables["search_constants"], search=search["search"]))
    figure, axes = style.panel(2.5)
    column = CONSTANT + only["constant"]
    trials = select(tables["search_trials"], search=search["search"]).dropna(subset=["value"])
    style.curve(axes, trials.sort_values(column), column, "value")
    name = labels.words(only["constant"])
    style.tell(axes, trials.assign(name=name), column, "value", f"{{name}} {{{column}}}: {{value}}")
    best = only["best"], search["best_value"]
    style.ring(axes, *best)
    bold = {"color": style.BEST, "weight": "bold", "fontsize": None}
    style.label(axes, labels.number(only["best"]), best, (0, 10), **bold)
    style.search_axis(axes, only)
    axes.set_ylim(bottom=0 if trials["value"].min() >= 0 else None)
    axes.set_ylabel(style.OBJECTIVES[search["objective"]])
    return figure


subjects = each(
    "searches",
    "search",
    chosen=lambda rows: rows[(rows["searched"] == 1) & ~rows["sampler"].isin(ONE_PEAK)],
)

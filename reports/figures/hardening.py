"""Does tuning against worst cases make the next one milder, and what does it cost?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from analysis import labels
from analysis.frames import Record, records, select
from common.tables import Tables
from reports.figures import each, style

TITLES = {"worst_case": "In the worst case", "own": "On its own networks"}


def draw(hardening: Record, tables: Tables) -> Figure:
    """Relative power by round: a line for each repeat, their median, in both places."""
    rounds = select(tables["hardening_rounds"], hardening=hardening["hardening"])
    figure = style.page(2.8)
    for axes, (column, title) in zip(figure.subplots(1, 2), TITLES.items(), strict=True):
        _draw(axes, rounds.pivot(index="round", columns="repeat", values=column))
        axes.set_title(title)
        style.tell(
            axes,
            rounds["round"],
            rounds[column],
            [
                f"repeat {row['repeat'] + 1}, round {row['round']}: {labels.number(row[column])}"
                for row in records(rounds)
            ],
        )
    figure.axes[0].set_yscale("log")
    figure.axes[0].yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    figure.axes[0].set_ylabel("Relative power")
    figure.axes[1].set_ylim(bottom=0)
    figure.axes[0].legend(loc="lower right")
    return figure


def _draw(axes: Axes, values: pd.DataFrame) -> None:
    axes.plot(values.index, values, "o-", color=style.QUIET, markersize=2.4, linewidth=0.6)
    axes.plot(values.index, values.median(axis=1), "o-", color=style.OURS, label="median")
    axes.set_xlabel("Worst cases among the networks")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


subjects = each("hardenings", "hardening")

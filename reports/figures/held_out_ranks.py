"""Does the order of settings on the training network hold on others?"""

import pandas as pd
from matplotlib.figure import Figure

from analysis.frames import Record, records
from analysis.held_out import PUBLISHED
from common.tables import Tables
from reports.figures import style


def draw(_: Record, tables: Tables) -> Figure:
    """A line a setting, from its rank on the training network to that on the held-out ones."""
    standings = tables["held_out_standings"]
    rows = records(standings.assign(line=_lines(standings)))
    looks = style.looks(tables["inventory"])
    figure = style.page(0.6 + 0.19 * len(rows))
    axes = figure.add_subplot()
    for start, row in enumerate(rows):
        published = row["origin"] == PUBLISHED
        marker, colour = looks[row["controller"]]
        axes.plot(
            [0, 1],
            [start, row["line"]],
            marker=marker,
            color=colour,
            linestyle=":" if published else "-",
            linewidth=0.8 if published else 1.3,
            markerfacecolor="white" if published else colour,
            label=row["label"],
        )
        for x, y, side, rank in (
            (0, start, "right", row["training_rank"]),
            (1, row["line"], "left", row["held_out_rank"]),
        ):
            text = f"{row['label']}  {rank}" if x == 0 else f"{rank}  {row['label']}"
            axes.annotate(
                text,
                (x, y),
                (-6 if x == 0 else 6, 0),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=7.5,
                color=colour,
                annotation_clip=False,
            )
    axes.set_xlim(-0.75, 1.75)
    axes.set_ylim(len(rows) - 0.5, -0.8)
    axes.set_xticks([0, 1], ["training network", "held-out networks"])
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_visible(False)
    return figure


def _lines(standings: pd.DataFrame) -> list[int]:
    """Each setting's place from above at the right; ties stand one below the other."""
    order = standings["held_out"].rank(ascending=False, method="first")
    return [int(place) - 1 for place in order]


def subjects(tables: Tables) -> dict[str, Record]:
    """Two ranks need no figure."""
    return {"all": {}} if len(tables["held_out_standings"]) > 2 else {}

"""How do window and queue move from one loss to the next?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import over_time
from analysis.comparisons import epochs
from analysis.frames import Record, records, select
from common.tables import Tables
from reports.figures import style

_EPOCHS = 8
"""A panel shows this many losses, the last ones."""


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each network and setting: the window of the flow, and the queue that it fills."""
    of_subject = {name: subject[name] for name in ("comparison", "engine")}
    places = select(tables["comparison_runs"], flows=1, **of_subject)
    columns, lines = places["label"].drop_duplicates(), places["network_title"].drop_duplicates()
    losses = epochs(tables)
    figure = style.page(0.6 + 1.75 * len(lines))
    panels = figure.subplots(len(lines), len(columns), squeeze=False, sharey="row")
    for run in records(places):
        row = lines.tolist().index(run["network_title"])
        axes = panels[row][columns.tolist().index(run["label"])]
        _panel(axes, *(select(rows, run=run["run"]) for rows in (tables["series"], losses)))
        axes.set_title(f"{run['label']}: {run['network_title']}", fontsize=8.5)
    for axes in panels[-1]:
        axes.set_xlabel("Time (s)")
    for axes in panels[:, 0]:
        axes.set_ylabel("Packets")
    style.legend_once(figure, list(panels.flat), loc="outside lower center", ncols=5)
    return figure


def _panel(axes: Axes, series: pd.DataFrame, losses: pd.DataFrame) -> None:
    queue, window = (select(series, quantity=name) for name in (over_time.QUEUE, over_time.WINDOW))
    shown = losses[losses["epoch"] > 0].tail(_EPOCHS)
    if len(shown):
        begin, end = shown["start_s"].iloc[0], shown["end_s"].iloc[-1]
        axes.set_xlim(begin, end)
        axes.set_ylim(0, 1.1 * shown["top_packets"].max())
        window = window[window["time_s"].between(begin, end)]
        queue = queue[queue["time_s"].between(begin, end)]
    axes.fill_between(
        queue["time_s"],
        queue["value"],
        color=style.FAINT,
        linewidth=0,
        step="pre",
        label="queue" if len(queue) else None,
        rasterized=True,
    )
    axes.plot(window["time_s"], window["value"], color=style.OURS, linewidth=1.0, label="window")
    for epoch in records(shown):
        begin, end, plateau = epoch["start_s"], epoch["end_s"], epoch["plateau_packets"]
        axes.plot(end, epoch["top_packets"], "o", color=style.INK, markersize=2.6, label="loss")
        if plateau != plateau:
            continue
        axes.hlines(
            plateau,
            begin,
            end,
            colors=style.ALTERNATE,
            linestyles="dashed",
            linewidth=0.8,
            label="plateau (W max)",
        )
        convex = window[window["time_s"].between(epoch["convex_from_s"], end)]
        axes.plot(
            convex["time_s"],
            convex["value"],
            color=style.BEST,
            linewidth=1.6,
            label="convex region",
        )


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for each comparison and engine with runs of one flow over time."""
    return told(select(tables["comparison_runs"], flows=1))


def told(runs: pd.DataFrame) -> "dict[str, Record]":
    """A subject for each comparison and engine of some runs."""
    found = records(runs.drop_duplicates(["comparison", "engine"]))
    return {f"{row['comparison']}-{row['engine']}": row for row in found}

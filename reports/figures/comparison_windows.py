"""How do window and queue move from one loss to the next?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.frames import Record, records, select
from common.tables import Tables
from reports.figures import style

_EPOCHS = 8
"""A panel shows this many losses, the last ones."""


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each network and setting: the window of the flow, and the queue that it fills."""
    places = select(
        _single(tables), comparison=subject["comparison"], engine=subject["engine"]
    ).drop_duplicates("run")
    columns, lines = places["label"].drop_duplicates(), places["network_title"].drop_duplicates()
    figure = style.page(0.6 + 1.75 * len(lines))
    panels = figure.subplots(len(lines), len(columns), squeeze=False, sharey="row")
    for run in records(places):
        row = lines.tolist().index(run["network_title"])
        axes = panels[row][columns.tolist().index(run["label"])]
        _panel(axes, *(select(tables[name], run=run["run"]) for name in _READ))
        axes.set_title(f"{run['label']}: {run['network_title']}", fontsize=8.5)
    for axes in panels[-1]:
        axes.set_xlabel("Time (s)")
    for axes in panels[:, 0]:
        axes.set_ylabel("Packets")
    style.legend_once(figure, list(panels.flat), loc="outside lower center", ncols=5)
    return figure


_READ = ("comparison_series", "comparison_queues", "comparison_epochs")


def _panel(axes: Axes, series: pd.DataFrame, queue: pd.DataFrame, epochs: pd.DataFrame) -> None:
    shown = epochs[epochs["epoch"] > 0].tail(_EPOCHS)
    if len(shown):
        begin, end = shown["start_s"].iloc[0], shown["end_s"].iloc[-1]
        axes.set_xlim(begin, end)
        axes.set_ylim(0, 1.1 * shown["top_packets"].max())
        series = series[series["time_s"].between(begin, end)]
        queue = queue[queue["time_s"].between(begin, end)]
    axes.fill_between(
        queue["time_s"],
        queue["queue_packets"],
        color=style.FAINT,
        linewidth=0,
        step="pre",
        label="queue" if len(queue) else None,
        rasterized=True,
    )
    axes.plot(
        series["time_s"], series["window_packets"], color=style.OURS, linewidth=1.0, label="window"
    )
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
        convex = series[series["time_s"].between(epoch["convex_from_s"], end)]
        axes.plot(
            convex["time_s"],
            convex["window_packets"],
            color=style.BEST,
            linewidth=1.6,
            label="convex region",
        )


def _single(tables: Tables) -> pd.DataFrame:
    """The series of runs with one flow."""
    series = tables["comparison_series"]
    return (
        series[series.groupby("run")["flow"].transform("nunique") == 1] if len(series) else series
    )


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for each comparison and engine with runs of one flow over time."""
    found = _single(tables).drop_duplicates(["comparison", "engine"])
    return {f"{row['comparison']}-{row['engine']}": row for row in records(found)}

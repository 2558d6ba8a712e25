"""How do window and queue move from one loss to the next?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis import over_time
from kneepoint.analysis.comparisons import epochs
from kneepoint.analysis.frames import (
    Record,
    records,
    select,
)
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

_EPOCHS = 8
"""A panel shows this many losses, the last ones."""


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each network and setting: the window of the flow, and the queue that it fills."""
    of_subject = {name: subject[name] for name in ("comparison", "engine")}
    places = select(tables["comparison_runs"], flows=1, **of_subject)
    column, labels = pd.factorize(places["label"])
    line, titles = pd.factorize(places["network_title"])
    losses = epochs(tables)
    figure = style.page(0.6 + 1.75 * len(titles))
    panels = figure.subplots(len(titles), len(labels), squeeze=False, sharey="row")
    for axes, run in zip(panels[line, column], records(places), strict=True):
        _panel(axes, *(select(rows, run=run["run"]) for rows in (tables["series"], losses)))
        axes.set_title(f"{style.capital(run['label'])}: {run['network_title']}", fontsize=8.5)
    for axes in panels[-1]:
        axes.set_xlabel("Time (s)")
    for axes in panels[:, 0]:
        axes.set_ylabel("Packets")
    style.legend_once(figure, list(panels.flat), loc="outside lower center", ncols=5)
    return figure


def _panel(axes: Axes, series: pd.DataFrame, losses: pd.DataFrame) -> None:
    shown = losses[losses["epoch"] > 0].tail(_EPOCHS)
    if len(shown):
        begin, end = shown["start_s"].iloc[0], shown["end_s"].iloc[-1]
        axes.set(xlim=(begin, end), ylim=(0, 1.1 * shown["top_packets"].max()))
        series = series[series["time_s"].between(begin, end)]
    queue, window = (select(series, quantity=name) for name in (over_time.QUEUE, over_time.WINDOW))
    filled: Record = {"color": style.FAINT, "linewidth": 0, "step": "pre", "rasterized": True}
    what = "queue" if len(queue) else None
    axes.fill_between(queue["time_s"], queue["value"], label=what, **filled)
    style.plot(axes, window, "time_s", "value", color=style.OURS, linewidth=1.0, label="window")
    place = "end_s", "top_packets"
    style.plot(axes, shown, *place, "o", color=style.INK, markersize=2.6, label="loss")
    for epoch in records(shown.dropna(subset="plateau_packets")):
        begin, end = epoch["start_s"], epoch["end_s"]
        dashed: Record = {"color": style.ALTERNATE, "linestyle": "dashed", "linewidth": 0.8}
        axes.hlines(epoch["plateau_packets"], begin, end, label="plateau (W max)", **dashed)
        convex = window[window["time_s"].between(epoch["convex_from_s"], end)]
        thick: Record = {"color": style.BEST, "linewidth": 1.6, "label": "convex region"}
        style.plot(axes, convex, "time_s", "value", **thick)


subjects = each(
    "comparison_runs", "comparison", "engine", chosen=lambda rows: rows[rows["flows"] == 1]
)

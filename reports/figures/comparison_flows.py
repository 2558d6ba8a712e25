"""How do several flows share a link, moment by moment?"""

from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.metrics import THROUGHPUT
from common.tables import Tables
from reports.figures import style
from reports.figures.comparison_windows import told


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each setting and network: the throughput of each flow."""
    of_subject = {name: subject[name] for name in ("comparison", "engine")}
    places = select(tables["comparison_runs"], **of_subject)
    series = select(tables["series"], quantity=THROUGHPUT)
    series = series[series["run"].isin(places["run"])]
    figure = style.page(0.5 + 1.6 * len(places))
    panels = figure.subplots(len(places), 1, squeeze=False, sharex=True, sharey=True)
    for axes, place in zip(panels[:, 0], records(places), strict=True):
        of_run = select(series, run=place["run"])
        for number, (flow, part) in enumerate(of_run.groupby("flow", sort=False)):
            axes.plot(
                part["time_s"],
                part["value"].rolling(_SMOOTHED, min_periods=1).mean(),
                color=_COLOURS[number % len(_COLOURS)],
                linestyle=_LINES[number % len(_LINES)],
                linewidth=1.0,
                label=f"{labels.words(str(flow))} flow",
            )
        axes.set_title(f"{place['label']}: {place['network_title']}", fontsize=8.5)
        axes.set_ylabel("Throughput\n(Mbit/s)")
        axes.set_ylim(bottom=0)
    panels[-1][0].set_xlabel("Time (s)")
    panels[-1][0].set_xlim(0, series["time_s"].max())
    figure.legend(*panels[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


_SMOOTHED = 6
"""The intervals that a line averages."""
_COLOURS = (style.OURS, style.BEST, style.ALTERNATE, *style.PUBLISHED)
_LINES = ("solid", "dashed", "dashdot", "dotted")


def subjects(tables: Tables) -> "dict[str, Record]":
    """A figure for each comparison and engine with several flows over time."""
    runs = tables["comparison_runs"]
    return told(runs[runs["flows"] > 1])

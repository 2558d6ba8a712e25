"""How do several flows share a link, moment by moment?"""

import seaborn as sns
from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, select
from kneepoint.analysis.metrics import THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

_SMOOTHED = 6
"""The intervals that a line averages."""


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each setting and network: the throughput of each flow."""
    of_subject = {name: subject[name] for name in ("comparison", "engine")}
    places = select(tables["comparison_runs"], **of_subject).set_index("run")
    series = select(tables["series"], quantity=THROUGHPUT)
    series = series[series["run"].isin(places.index)]
    smooth = series.groupby(["run", "flow"], sort=False)["value"]
    rate = smooth.transform(lambda values: values.rolling(_SMOOTHED, 1).mean())
    series = series.assign(rate=rate, flow=series["flow"].map(labels.words) + " flow")
    look: Record = {"hue": "flow", "style": "flow", "palette": _COLOURS, "linewidth": 1.0}
    facets: Record = {"row": "run", "row_order": places.index, "facet_kws": {"legend_out": False}}
    grid = sns.relplot(series, kind="line", x="time_s", y="rate", estimator=None, **facets, **look)
    for run, axes in grid.axes_dict.items():
        place = places.loc[run]
        axes.set_title(f"{style.capital(place['label'])}: {place['network_title']}", fontsize=8.5)
    grid.set(xlim=(0, series["time_s"].max()), ylim=(0, None))
    grid.set_axis_labels("Time (s)", "Throughput\n(Mbit/s)")
    sns.move_legend(grid, "outside lower center", ncols=6, title=None)
    return style.fit(grid, 0.5 + 1.6 * len(places))


_COLOURS = (style.OURS, style.BEST, style.ALTERNATE, *style.PUBLISHED)

subjects = each(
    "comparison_runs", "comparison", "engine", chosen=lambda rows: rows[rows["flows"] > 1]
)

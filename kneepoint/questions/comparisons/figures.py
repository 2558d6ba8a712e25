"""Figures of comparisons (all flows, values over time, shares) and of sweeps of a network."""

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis import labels, over_time
from kneepoint.analysis.frames import Record, records, select
from kneepoint.analysis.metrics import THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.engines.limits import EMULATOR, KERNEL, LIMITS
from kneepoint.questions.comparisons.tables import (
    compared_figures,
    epochs,
    network_sweep_points,
    network_sweeps,
)
from kneepoint.reports.figures import Drawn, each, rows_with, style

_COLUMNS = 3
_LOGARITHMIC = 4
"""The factor between an axis's ends from which the axis is logarithmic."""
_LOOKS = {EMULATOR.title: ("o", style.OURS), KERNEL.title: ("s", style.ALTERNATE)}
_LINE = ["network", "trial", "traffic"]
_ALIKE = ["parameter", "network_title", "traffic_title"]
_COLOURS = (style.OURS, style.BEST, style.ALTERNATE, *style.PUBLISHED)
_SMOOTHED = 6
"""The number of intervals over which a line averages."""
_FEWEST = 3
"""The minimum number of settings of a map."""
_EPOCHS = 8
"""The number of losses that a panel shows, counted from the last one."""


def _draw_figures(subject: Record, tables: Tables) -> Figure:
    """Draws mean and range: a panel for each figure, a line for each network and setting."""
    found = _drawn(select(compared_figures(tables), comparison=subject["comparison"]))
    lines = found.assign(at=pd.factorize(found["network"])[0]).drop_duplicates(_LINE)
    lines = lines.sort_values(["at", "trial"]).assign(line=range(len(lines)))
    published = select(tables["comparison_published"], comparison=subject["comparison"])
    found, published = (
        style.with_panels(rows.merge(lines[[*_LINE, "line"]], on=_LINE))
        for rows in (found, published)
    )
    found["engine"] = found["engine"].map(lambda engine: LIMITS[engine].title)
    looks = {name: look for name, look in _LOOKS.items() if name in set(found["engine"])}
    ends = style.with_ends(found, "mean", "least", "greatest")
    place = {"x": "mean", "y": "line", "orient": "y", "native_scale": True, "sharex": False}
    panels = found["panel"].unique()
    facets = {"col": "panel", "col_wrap": min(_COLUMNS, len(panels)), "legend_out": False}
    markers, palette = ([look[which] for look in looks.values()] for which in (0, 1))
    look: Record = {"hue": "engine", "hue_order": list(looks), "dodge": 0.34 * (len(looks) - 1)}
    look |= {"markers": markers, "palette": palette, "markersize": 3.2, "linestyle": "none"}
    look["err_kws"] = {"linewidth": 1.4, "alpha": 0.6}
    grid = sns.catplot(ends, kind="point", **place, **facets, **look, **style.ENDS)
    for panel, axes in grid.axes_dict.items():
        part = select(found, panel=panel)
        text = "{network_title}, {label}: {mean:.{decimals}f} {unit} ({least:.{decimals}f} to "
        text += "{greatest:.{decimals}f}), n = {n}, {engine}"
        style.add_tooltips(axes, part, "mean", "line", text)
        _draw_published(axes, select(published, panel=panel))
        low, high = axes.get_xlim()
        if low > 0 and high / low > _LOGARITHMIC:
            axes.set_xscale("log")
            style.log_ticks(axes, "x", (1, 2, 5) if high / low < 100 else (1,))
        axes.set_xlabel(part["unit"].iloc[0])
        axes.grid(axis="x")
    names = lines["network_title"] + ", " + lines["label"].map(style.capital)
    grid.set_titles("{col_name}", size=8.5).set(ylabel="", ylim=(len(lines) - 0.4, -0.6))
    for axes in grid.axes.flat[::_COLUMNS]:
        axes.set_yticks(lines["line"], names, fontsize=7.5)
    rows = -(-len(panels) // _COLUMNS)
    figure = style.fit(grid, 0.5 + rows * (0.55 + 0.17 * len(lines)))
    style.legend_once(figure, grid.axes.flat, loc="outside lower center", ncols=4)
    return figure


def _draw_published(axes: Axes, rows: pd.DataFrame) -> None:
    """Draws published numbers as diamonds, contradicted numbers as crosses, ranges as lines."""
    low, high = rows["published"], rows["published_high"]
    axes.hlines(rows["line"], low, high, color=style.BEST, linewidth=0.8)
    ends = pd.concat([rows.assign(end=low), rows.assign(end=high)]).dropna(subset="end")
    for is_wrong, part in ends.groupby(ends["verdict"] == "contradicted"):
        said, marker = ("published, wrong", "x") if is_wrong else ("published", "D")
        looks, part = {said: (marker, style.BEST)}, part.assign(said=said)
        style.points(axes, part, "end", "line", "said", looks, markersize=4.4)


def _drawn(rows: pd.DataFrame) -> pd.DataFrame:
    """Drops throughput, which hardly differs, because a long-lived flow fills the link."""
    return rows[rows["shown"] & (rows["metric"] != "throughput_mbps")]


def _draw_flows(subject: Record, tables: Tables) -> Figure:
    """Draws the throughput of each flow, with a panel for each setting and network."""
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


def _draw_shares(subject: Record, tables: Tables) -> Figure:
    """Draws the share of the flow under study by setting and traffic: a panel for each network."""
    pairs = {name: subject[name] for name in ("comparison", "engine")}
    shares = select(tables["comparison_shares"], **pairs, under_study=True)
    shares = shares.drop_duplicates(["trial", "traffic", "network"])
    settings = shares.drop_duplicates("trial")
    networks = shares["network"].unique()
    figure = style.page(1.75 + 0.19 * len(settings))
    panels = figure.subplots(1, len(networks), squeeze=False)[0]
    for axes, network in zip(panels, networks, strict=True):
        part = select(shares, network=network)
        wide = part.pivot(index="trial", columns="traffic_title", values="mean")
        wide = 100 * wide.loc[settings["trial"], part["traffic_title"].unique()]
        texts = wide.map(lambda value: "" if value != value else f"{value:.0f}")
        names = settings["label"].map(style.capital) if axes is panels[0] else False
        style.heat_map(axes, wide, texts, (0, 100), style.DIVERGING, yticklabels=names)
        axes.set_title(part["network_title"].iloc[0].replace(", buffer", ",\nbuffer"), fontsize=7.5)
    return figure


def _maps(shares: pd.DataFrame) -> pd.DataFrame:
    """Selects comparisons of several settings, each beside another flow."""
    pairs = shares[shares["flows"] == 2]
    return pairs[pairs.groupby("comparison")["trial"].transform("nunique") >= _FEWEST]


def _draw_windows(subject: Record, tables: Tables) -> Figure:
    """Draws the window and the queue, with a panel for each network and setting."""
    of_subject = {name: subject[name] for name in ("comparison", "engine")}
    places = select(tables["comparison_runs"], flows=1, **of_subject)
    column, settings = pd.factorize(places["label"])
    line, titles = pd.factorize(places["network_title"])
    losses = epochs(tables)
    figure = style.page(0.6 + 1.75 * len(titles))
    panels = figure.subplots(len(titles), len(settings), squeeze=False, sharey="row")
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


def _draw_sweep(subject: Record, tables: Tables) -> Figure:
    """Draws means and ranges of runs, with a panel for each figure and a line for each study."""
    sweeps = select(network_sweeps(tables), **{name: subject[name] for name in _ALIKE})
    sweeps["label"] = sweeps["label"].map(style.capital)
    several = sweeps["label"].duplicated(keep=False)
    sweeps["label"] += (" (" + sweeps["study"] + ")").where(several, "")
    points = select(network_sweep_points(tables), shown=True)
    points = style.with_panels(points.merge(sweeps[["study", "label"]], on="study"))
    facets = {"col": "panel", "col_wrap": _COLUMNS, "facet_kws": {"sharey": False}}
    look = {"hue": "label", "style": "label", "markers": True, "dashes": False}
    look |= {"markeredgewidth": 0, "err_kws": {"alpha": 0.18, "linewidth": 0}}
    ends = style.with_ends(points, "mean", "least", "greatest")
    grid = sns.relplot(ends, kind="line", x="value", y="mean", **facets, **look, **style.ENDS)
    for panel, axes in grid.axes_dict.items():
        part = select(points, panel=panel)
        text = "{label} at {value:g}: {mean:.{decimals}f} {unit}, n = {n}"
        style.add_tooltips(axes, part, "value", "mean", text)
        axes.set(ylabel=part["unit"].iloc[0], ylim=(0, None))
        if subject["bdp_packets"] == subject["bdp_packets"] and "packets" in subject["parameter"]:
            dashed = {"color": style.QUIET, "linewidth": 0.8, "dashes": (4, 3)}
            axes.axvline(subject["bdp_packets"], label="BDP", **dashed)
    grid.axes.flat[0].set_xscale("log")
    style.log_ticks(grid.axes.flat[0], "x", (1, 3))
    grid.set_titles("{col_name}", size=8.5).set_xlabels(labels.axis(subject["parameter"]))
    grid.legend.remove()
    figure = style.fit(grid, 0.3 + 1.75 * -(-len(grid.axes) // _COLUMNS))
    style.legend_once(figure, grid.axes.flat, loc="outside lower center")
    return figure


_told = rows_with("comparison_runs", "series")

FIGURES = {
    "comparison-figures": Drawn(
        "What do buffers do to the delays and downloads of others: published, in virtual time, "
        "on the kernel?",
        each(compared_figures, "comparison", chosen=_drawn),
        _draw_figures,
    ),
    "comparison-flows": Drawn(
        "How do several flows share a link, moment by moment?",
        each(_told, "comparison", "engine", chosen=lambda rows: rows[rows["flows"] > 1]),
        _draw_flows,
    ),
    "comparison-shares": Drawn(
        "Who starves whom? How much does each controller get of a link that it shares?",
        each("comparison_shares", "comparison", "engine", chosen=_maps),
        _draw_shares,
    ),
    "comparison-windows": Drawn(
        "How do window and queue move from one loss to the next?",
        each(_told, "comparison", "engine", chosen=lambda rows: rows[rows["flows"] == 1]),
        _draw_windows,
    ),
    "network-sweep": Drawn(
        "How much buffer is too much? The effect of a network parameter on the traffic.",
        each(network_sweeps, "study", chosen=lambda rows: rows.drop_duplicates(_ALIKE)),
        _draw_sweep,
    ),
}

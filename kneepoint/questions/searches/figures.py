"""Figures of the progress of searches, their fronts, and the importance of parameters."""

import textwrap
from typing import Literal

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kneepoint.analysis import labels
from kneepoint.analysis.frames import PARAMETER, Record, extremes, records, select
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.questions.searches.tables import ENUMERATING
from kneepoint.reports.figures import Drawn, each, only, style

_COLUMNS = 4
_MOST = 40
"""The maximum number of panels on a page."""


def _draw_progress(_: Record, tables: Tables) -> Figure:
    """Draws trials and the best so far, a panel for each search; equal units share a scale."""
    found = _adaptive(tables["searches"])
    shown = found[:_MOST].set_index("search", drop=False)
    units = shown["objective"].map(style.OBJECTIVES)
    scales = units + shown["network_titles"].map(str)  # equal unit and networks
    past = tables["search_trials"].merge(scales.rename("scale"), left_on="search", right_index=True)
    past["number"] = past["trial"] + 1
    limits = {scale: extremes(part["best_so_far"]) for scale, part in past.groupby("scale")}
    columns = min(_COLUMNS, len(shown))
    facets = {"col": "search", "col_order": shown.index, "col_wrap": columns}
    dots = {"s": 5, "color": "#c3c8ce", "linewidth": 0, "facet_kws": {"sharey": False}}
    grid = sns.relplot(past, x="number", y="value", **facets, **dots)
    before = ""
    for at, (name, axes) in enumerate(grid.axes_dict.items()):
        part = select(past, search=name)
        step: Record = {"marker": "", "drawstyle": "steps-post"}
        style.curve(axes, part, "number", "best_so_far", **step)
        better = part[part["improved"]]
        runs = style.runs_of(tables["settings_run"], study=better["search"], trial=better["trial"])
        style.add_tooltips(
            axes, better, "number", "best_so_far", "trial {number}: {best_so_far:.4g}", runs
        )
        stated = shown["best_value"][name]
        text = labels.number(float(f"{stated:.3g}"))
        place = part["number"].iloc[-1], stated
        if shown["fresh_runs"][name]:
            axes.plot(*place, "D", color=style.BEST, markersize=3, clip_on=False)
        style.label(axes, text, place, (1, 2), ha="right", fontsize=7, color=style.BEST)
        low, high = limits[scales[name]]
        low, high = min(0, low, stated), max(high, stated)
        axes.set(ylim=(low, high + 0.2 * ((high - low) or 1)), xlabel="", ylabel="")
        if at % columns == 0 or units[name] != before:
            axes.set_ylabel(textwrap.fill(units[name], 16), fontsize=7)
        before = units[name]
        title = textwrap.shorten(shown["title"][name], 60, placeholder="\N{HORIZONTAL ELLIPSIS}")
        axes.set_title(textwrap.fill(title, 29), fontsize=6.5, linespacing=1.05, pad=3)
        axes.tick_params(labelsize=7)
        axes.yaxis.set_major_locator(MaxNLocator(3))
    first = grid.axes.flat[0]
    first.set(xscale="log", xlim=(0.9, 1.15 * past["number"].max()))
    style.log_ticks(first, "x", (1,))
    figure = style.fit(grid, 0.3 + min(9, 1.2 * -(-len(shown) // columns)))
    rest = f"; the first {_MOST} of {len(found)} searches" if len(found) > _MOST else ""
    figure.supxlabel(f"Trial, logarithmic{rest}", fontsize=8.5)
    return figure


def _adaptive(rows: pd.DataFrame) -> pd.DataFrame:
    """Selects adaptive searches without fits."""
    return rows[~rows["sampler"].isin(ENUMERATING) & (rows["fit"].map(len) == 0)]


def _draw_front(search: Record, tables: Tables) -> Figure:
    """Draws every trial, the front as a line, its knee with a ring, and the omniscient point."""
    trials = select(tables["search_trials"], search=search["search"])
    place = SIGNAL_DELAY, THROUGHPUT
    figure, axes = style.panel(3.2)
    style.plot(axes, trials, *place, "o", color=style.QUIET, markersize=2.4, label="trials")
    best = trials[trials["on_front"]]
    style.plot(axes, best, *place, "o", color=style.OURS)
    style.front(axes, trials)
    style.add_tooltips(axes, best, *place, "trial {trial}: " + style.PLANE_TOOLTIP)
    bound = search["omniscient_ms"], search["omniscient_mbps"]
    style.plane(axes, trials[SIGNAL_DELAY], bound)
    axes.legend(loc="lower left")
    return figure


_MIN_IMPORTANCE = 0.1
"""The minimum importance of a parameter with an axis."""
_WORST = 0.1
"""The share of worst trials that have one colour, so that colours distinguish the others."""
_NEAR, _STEPS, _LEAST = 0.05, 60, 1
"""Contours show means by a normal kernel: its width as a share of the panel's, the number of steps,
and the minimum sum of the trials' weights."""


def _draw_pair(search: Record, tables: Tables) -> Figure:
    """Draws trials as dots coloured by value, better trials on top, and contours of local means."""
    of_search = {"search": search["search"]}
    trials = select(tables["search_trials"], **of_search, measured=True)
    trials = trials.sort_values("rank", ascending=False)
    parameters = select(tables["search_parameters"], **of_search)
    x, y = records(parameters.sort_values("importance", ascending=False, kind="stable"))[:2]
    place = (trials[PARAMETER + each["parameter"]] for each in (x, y))
    figure, axes = style.panel(2.6)
    figure.set_gid("colours")
    dots: Record = {"c": trials["value"], "cmap": style.SEQUENTIAL, "s": 14, "linewidths": 0}
    shown = axes.scatter(*place, **dots, rasterized=True)
    shown.set_clim(*extremes(trials["value"][int(_WORST * len(trials)) :]))
    style.ring(axes, x["best"], y["best"])
    _search_axis(axes, x, "x")
    _search_axis(axes, y, "y")
    _draw_contours(axes, shown)
    figure.colorbar(shown, ax=axes, label=style.OBJECTIVES[search["objective"]], pad=0.02)
    return figure


def _draw_contours(axes: Axes, dots: PathCollection) -> None:
    """Draws contours of local means in fractions of the panel, because axes may be logarithmic."""
    axes.autoscale(False)
    steps = np.linspace(0, 1, _STEPS)[:, np.newaxis]
    at = (axes.transData + axes.transAxes.inverted()).transform(np.asarray(dots.get_offsets())).T
    across, along = (np.exp(-(((steps - of_one) / _NEAR) ** 2) / 2) for of_one in at)
    weights = along @ across.T
    sums = (along * np.asarray(dots.get_array())) @ across.T
    means = np.where(weights >= _LEAST, sums / weights, np.nan)
    levels = np.linspace(*dots.get_clim(), 8)[1:-1]
    lines: Record = {"colors": style.INK, "linewidths": 0.7, "transform": axes.transAxes}
    axes.contour(steps.ravel(), steps.ravel(), means, levels, **lines)


def _where_two_matter(tables: Tables) -> pd.DataFrame:
    """Selects searches with two important parameters, without fits."""
    parameters, searches = tables["search_parameters"], tables["searches"]
    important = parameters[parameters["importance"] >= _MIN_IMPORTANCE]
    counts = important.groupby("search").size()
    are_fits = searches["objective"] == "misfit"
    return searches[searches["search"].isin(counts.index[counts > 1]) & ~are_fits]


_SHADES = 12
"""The number of shades that distinguish early from late trials."""


def _draw_slices(search: Record, tables: Tables) -> Figure:
    """Draws value over each parameter, late trials darker, and brackets of one-peak searches."""
    parameters = records(select(tables["search_parameters"], search=search["search"]))
    trials = select(tables["search_trials"], search=search["search"], measured=True)
    steps = trials.assign(step=trials.index + 1).dropna(subset=["low"])
    count = len(parameters) + bool(len(steps))
    columns = 4 if count == 4 or count > 6 else min(count, 3)
    rows = -(-count // columns)
    figure = style.page(2.7 if len(parameters) == 1 else 0.3 + 1.9 * rows)
    panels = figure.subplots(rows, columns, sharey=steps.empty, squeeze=False)
    for axes, parameter in zip(panels.flat, parameters, strict=False):
        _draw_values(axes, trials, parameter, len(parameters) == 1, has_peak=len(steps) > 0)
        style.ring(axes, parameter["best"], search["in_search"])
        if search["fresh_runs"]:
            axes.plot(parameter["best"], search["best_value"], "D", color=style.BEST, markersize=4)
        _search_axis(axes, parameter)
    if len(steps):
        _draw_brackets(panels.flat[1], steps, parameters[0])
    for axes in panels.flat[count:]:
        axes.set_visible(False)
    for axes in panels[:, 0]:
        axes.set_ylabel(style.OBJECTIVES[search["objective"]])
    if search["objective"] == "misfit" and trials["value"].min() > 0:
        panels[0, 0].set_yscale("log")
        style.log_ticks(panels[0, 0], "y")
    elif search["objective"] not in ("misfit", "worst_case") and len(parameters) > 1:
        low, high = trials["value"].quantile(0.02), trials["value"].max()
        panels[0, 0].set_ylim(low - 0.05 * (high - low), high + 0.08 * (high - low))
    return figure


def _draw_values(
    axes: Axes, trials: pd.DataFrame, parameter: Record, is_alone: bool, has_peak: bool
) -> None:
    """Draws dots, and joins them for a one-peak search; otherwise a line would show noise."""
    shown = trials.assign(at=trials[PARAMETER + parameter["parameter"]], number=trials["trial"] + 1)
    shades: Record = {"cmap": mpl.colormaps["Blues"].resampled(_SHADES)}
    shades["vmin"] = -0.35 * len(trials)
    dots: Record = {"c": trials["trial"], "s": 20 if is_alone else 8, "linewidths": 0, **shades}
    axes.scatter(shown["at"], shown["value"], **dots)
    if is_alone:
        line: Record = {"color": style.OURS, "linewidth": 0.8 * has_peak}
        style.plot(axes, shown.sort_values("at"), "at", "value", **line)
        name = labels.words(parameter["parameter"])
        text = f"trial {{number}}, {name} {{at:.4g}}: {{value:.4g}}"
        style.add_tooltips(axes, shown, "at", "value", text)
        axes.set_title(f"best {labels.number(parameter['best'])}")
    elif parameter["importance"] == parameter["importance"]:
        axes.set_title(f"importance {parameter['importance']:.2f}")


def _draw_brackets(axes: Axes, steps: pd.DataFrame, only: Record) -> None:
    """Draws the evaluated value and the possible range of the best after each step."""
    bar: Record = {"color": style.OURS, "linewidth": 3.2, "alpha": 0.3}
    axes.hlines(steps["step"], steps["low"], steps["high"], **bar)
    style.plot(axes, steps, PARAMETER + only["parameter"], "step", "o", color=style.OURS)
    axes.axvline(only["best"], color=style.BEST, linewidth=0.7, dashes=(5, 3))
    axes.set(title="Where the best can be, by step", ylabel="Evaluation")
    axes.invert_yaxis()
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _search_axis(axes, only)


def _search_axis(axes: Axes, parameter: Record, which: Literal["x", "y"] = "x") -> None:
    """Sets the axis of a row of search_parameters to the whole searched range."""
    low, high = parameter["low"], parameter["high"]
    axis = {f"{which}label": labels.axis(parameter["parameter"], parameter["unit"])}
    if parameter["logarithmic"]:
        pad = (high / low) ** 0.03
        axes.set(**axis, **{f"{which}scale": "log", f"{which}lim": (low / pad, high * pad)})
        steps = (1,) if high / low > 300 else (1, 3) if high / low > 30 else (1, 2, 5)
        style.log_ticks(axes, which, steps)
    else:
        pad = 0.03 * (high - low)
        axes.set(**axis, **{f"{which}lim": (low - pad, high + pad)})


FIGURES = {
    "searches": Drawn(
        "How soon did each search find its best trial, and how good is it beside the others?",
        only("searches", "all", _adaptive),
        _draw_progress,
    ),
    "search-front": Drawn(
        "How much throughput can a controller have at each delay, and where is the knee?",
        each("searches", "search", chosen=lambda rows: rows[rows["objective"] == "front"]),
        _draw_front,
    ),
    "search-pair": Drawn(
        "How do the two most important parameters act together?",
        each(_where_two_matter, "search"),
        _draw_pair,
    ),
    "search-slices": Drawn(
        "Which parameters mattered, and which parts of their ranges did a search explore?",
        each("searches", "search"),
        _draw_slices,
    ),
}

"""The house style: print quality, safe for the colour-blind, readable in grey.

Our results are dark, filled and solid; published results are open, with a shape per report. Labels
stand beside the elements that they name.
"""

import html
import io
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path as MarkerPath
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, LogLocator
from matplotlib.transforms import Bbox

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, records
from kneepoint.analysis.metrics import FIGURES, SIGNAL_DELAY, THROUGHPUT
from kneepoint.common.errors import writing
from kneepoint.reports.document import RUN_DIGITS

WIDTH_IN = 6.3
"""The text width of the printed page: figures are drawn at their printed size."""

INK = "#1b1f24"
OURS = "#17527f"
BEST = "#b4451b"
ALTERNATE = "#d98a3d"
QUIET = "#8a9099"
FAINT = "#d9dce0"
PUBLISHED = ("#7a4f9a", "#b4451b", "#4a6b1f", "#a8780f", "#2f7d6d")
MARKERS = ("D", "s", "v", "p", "^", "<")
"""Coprime with the number of colours: thirty reports look different."""
Looks: TypeAlias = Mapping[str, tuple[str, str]]
"""Marker and colour, by name."""
_UNDATED: dict[str, dict[str, Any]] = {
    ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Metadata, so that equal figures give equal bytes."""

_TOOLTIPS: WeakKeyDictionary[Figure, list[tuple[Axes, float, float, str, str]]] = (
    WeakKeyDictionary()
)
"""Tooltips of figures (see `add_tooltips`), until they are saved."""

PLANE_TOOLTIP = "{throughput_mbps:.2f} Mbit/s at {signal_delay_p95_ms:.0f} ms, power {power:.2f}"
"""Tooltip of a point of the throughput-delay plane (see `add_tooltips`)."""

COLOURS = ("#17527f", "#b4451b", "#2f7d6d", "#7a4f9a", "#a8780f", "#1b1f24", "#c2588e")
CONTROLLER_MARKERS = ("o", "s", "^", "D", "v", "P")
"""Coprime with the number of colours: 42 controllers look different."""
SEQUENTIAL = "cividis"
DIVERGING = "PuOr_r"

_STYLE: dict[str, Any] = {
    "font.family": "serif",
    "font.serif": ["STIXGeneral", "STIX Two Text", "Times New Roman"],
    "mathtext.fontset": "stix",
    "text.parse_math": False,  # a $ in a title is literal
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("axes.edgecolor", "xtick.color", "ytick.color"), "#5b626b"),
    **dict.fromkeys(("text.color", "axes.labelcolor", "xtick.labelcolor", "ytick.labelcolor"), INK),
    **{f"{axis}tick.{which}.width": 0.5 for axis in "xy" for which in ("major", "minor")},
    **{f"{axis}tick.major.size": 3.0 for axis in "xy"},
    "axes.linewidth": 0.6,
    "grid.color": "#e7e9ec",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.1,
    "lines.solid_capstyle": "butt",  # caps would lengthen intervals
    "lines.markersize": 3.6,
    **{f"figure.constrained_layout.{pad}": 0.02 for pad in ("w_pad", "h_pad")},
    **{f"figure.constrained_layout.{space}": 0.04 for space in ("wspace", "hspace")},
    "legend.frameon": False,
    "legend.handletextpad": 0.5,
    "figure.dpi": 100.0,
    "savefig.dpi": 220.0,
    "path.simplify_threshold": 0.3,  # of a point in SVG
    "svg.fonttype": "none",  # text is text: searchable, and a fraction of the size
    "svg.hashsalt": "kneepoint",
}


@contextmanager
def house() -> Iterator[None]:
    """Draws in the house style, whatever the user's own matplotlib settings are."""
    plt.switch_backend("agg")  # seaborn's grids use pyplot, which would open windows
    with mpl.rc_context():
        mpl.rcdefaults()
        sns.set_theme("paper", "ticks", COLOURS, font_scale=0.94, rc=_STYLE)
        yield


def page(height_in: float) -> Figure:
    """Returns an empty figure of the text's width."""
    return Figure(figsize=(WIDTH_IN, height_in), layout="constrained")


def panel(height_in: float) -> tuple[Figure, Axes]:
    """Returns a figure of the text's width, and its only panel."""
    figure = page(height_in)
    return figure, figure.add_subplot()


def fit(grid: sns.FacetGrid, height_in: float) -> Figure:
    """Returns the figure of small multiples, resized to the text's width."""
    figure: Figure = grid.figure
    plt.close(figure)
    figure.set_size_inches(WIDTH_IN, height_in)
    figure.set_layout_engine("constrained")
    return figure


def write(figure: Figure, path: Path, dpi: float | None = None) -> None:
    """Writes a figure in the format of the suffix: .svg, .png or .pdf; equal figures, equal bytes.

    Args:
        figure: the figure.
        path: of the file.
        dpi: of its images; None: 220.
    """
    _lay_out(figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=dpi, metadata=_UNDATED[path.suffix])
    content = drawn.getvalue()
    with writing(path):
        path.write_bytes(_with_values(content, figure) if path.suffix == ".svg" else content)


def _lay_out(figure: Figure) -> None:
    """Lays a figure out once; its layout engine would do so again at every drawing."""
    if layout := figure.get_layout_engine():
        layout.execute(figure)
        figure.set_layout_engine(None)


def add_tooltips(
    axes: Axes,
    rows: pd.DataFrame,
    x: str,
    y: str,
    text: str,
    runs: Iterable[str] | None = None,
) -> None:
    """Gives points tooltips, which a page shows at the pointer.

    Args:
        axes: where the points are drawn.
        rows: one row per point.
        x: column of their x coordinates, in data units.
        y: column of their y coordinates.
        text: a format string of the columns.
        runs: identifiers of the points' runs, to whose rows a page links; "" for none.
    """
    figure = axes.figure
    assert isinstance(figure, Figure)
    told = _TOOLTIPS.setdefault(figure, [])
    for row, run in zip(records(rows), repeat("") if runs is None else runs, strict=False):
        if row[x] == row[x] and row[y] == row[y]:
            told.append((axes, row[x], row[y], text.format_map(row), run))


def runs_of(settings: "pd.DataFrame", **keys: Any) -> list[str]:
    """Returns the identifier of each point's first run, "" if there is none.

    Args:
        settings: the table settings_run.
        keys: the points' `study` and `trial`, or `table` and `row`, which are columns of it.
    """
    first = settings[[*keys, "run_id"]].drop_duplicates(list(keys))
    found = pd.DataFrame(keys).merge(first, "left", on=list(keys))["run_id"]
    return found.fillna("").tolist()


def _with_values(svg: bytes, figure: Figure) -> bytes:
    """Adds the tooltips to an SVG: invisible circles with titles."""
    height = 72 * figure.get_figheight()
    circles = []
    for axes, x, y, text, run in _TOOLTIPS.get(figure, []):
        place = axes.transData.transform((x, y))
        if not axes.bbox.padded(1).contains(*place):
            continue
        across, up = place * 72 / figure.dpi
        of_run = f' data-run="{run[:RUN_DIGITS]}"' if run else ""
        circles.append(
            f'<circle cx="{across:.1f}" cy="{height - up:.1f}" r="5"{of_run}><title>'
            f"{html.escape(text, quote=False)}</title></circle>"
        )
    if not circles:
        return svg
    values = f'<g class="values" fill="none">{"".join(circles)}</g>\n</svg>'
    return values.encode().join(svg.rsplit(b"</svg>", 1))


def points(
    axes: Axes, rows: pd.DataFrame, x: str, y: str, by: str, looks: Looks, **look: Any
) -> None:
    """Draws open markers with the look of the name in column `by`; fillstyle="full" fills them."""
    markers = {name: marker for name, (marker, _) in looks.items()}
    colours = {name: colour for name, (_, colour) in looks.items()}
    own: Record = {"hue": by, "palette": colours, "style": by, "markers": markers, "dashes": False}
    own |= {"linestyle": "none", "fillstyle": "none", "markersize": 4.6, "zorder": 4}
    own |= {"markeredgewidth": 0.9, "markeredgecolor": "auto", "estimator": None, "sort": False}
    if len(rows):
        sns.lineplot(rows, x=x, y=y, ax=axes, **{**own, **look})


def plot(axes: Axes, rows: pd.DataFrame, x: str, y: str, form: str = "-", **look: Any) -> None:
    """Plots a line or points from columns, as matplotlib's plot."""
    axes.plot(rows[x], rows[y], form, **look)


def curve(axes: Axes, rows: pd.DataFrame, x: str, y: str, **look: Any) -> None:
    """Draws our results: dots joined in the order of the rows."""
    dots = {"marker": "o", "markersize": 4.4, "markeredgewidth": 0}
    plot(axes, rows, x, y, **{**dots, "color": OURS, "zorder": 3, **look})


def looks(inventory: pd.DataFrame) -> Looks:
    """Returns the look of each controller, the same in every figure.

    Args:
        inventory: the table of that name, which lists every controller of the report.
    """
    names = sorted({name for each in inventory["controllers"] for name in each})
    return {
        name: (CONTROLLER_MARKERS[at % len(CONTROLLER_MARKERS)], COLOURS[at % len(COLOURS)])
        for at, name in enumerate(names)
    }


def reports(rows: pd.DataFrame) -> Looks:
    """Returns the look of each report, by its number `mark`: the same in every figure."""
    return {
        report: (MARKERS[mark % len(MARKERS)], PUBLISHED[mark % len(PUBLISHED)])
        for report, mark in zip(rows["report"], rows["mark"], strict=True)
    }


ENDS: Record = {"estimator": "median", "errorbar": ("pi", 100)}
"""Options with which seaborn draws the rows of `with_ends`."""


def with_ends(rows: pd.DataFrame, middle: str, low: str, high: str) -> pd.DataFrame:
    """Repeats every row for its three values, whose median is `middle` and range the interval."""
    thrice = [rows.assign(**{middle: rows[end]}) for end in (low, middle, high)]
    return pd.concat(thrice, ignore_index=True)


def label(
    axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], **look: Any
) -> Annotation:
    """Writes a text beside a place (data units), on the side of its offset (points)."""
    across, up = np.sign(offset).astype(int)
    sides = {"ha": ("center", "left", "right")[across], "va": ("center", "bottom", "top")[up]}
    options = {"textcoords": "offset points", "fontsize": 7.5, **sides, **look}
    return axes.annotate(text, place, offset, **options)


def name_points(
    axes: Axes,
    rows: pd.DataFrame,
    place: list[str],
    sides: Sequence[tuple[float, float]],
    always: bool = True,
    among: pd.DataFrame | None = None,
    **look: Any,
) -> list[Annotation]:
    """Names points in order, each where its name covers the fewest other names and points.

    Names stay within the panel if possible.

    Args:
        axes: with its final limits.
        rows: the points, with a column `name`.
        place: columns of their x and y coordinates.
        sides: offsets to try (points), the preferred first.
        always: whether to write names that have no room.
        among: all points that names should not cover; by default `rows`.
        look: options of `label`.
    """
    figure = axes.figure
    assert isinstance(figure, Figure)
    _lay_out(figure)
    left, right = axes.bbox.intervalx
    points = axes.transData.transform((rows if among is None else among)[place])
    named: list[Annotation] = []
    taken: list[Bbox] = []
    for name, *at in rows[["name", *place]].itertuples(index=False):
        tried = [label(axes, name, (at[0], at[1]), side, **look) for side in sides]
        boxes = [text.get_window_extent().padded(3) for text in tried]
        covered = [
            (
                box.count_overlaps(taken) + (box.x0 < left - 3) + (box.x1 > right + 3),
                box.count_contains(points),
            )
            for box in boxes
        ]
        best = covered.index(min(covered))
        if always or not covered[best][0]:
            taken.append(boxes[best])
            named.append(tried.pop(best))
        for text in tried:
            text.remove()
    return named


def capital(name: str) -> str:
    """Returns a name with a capital: names have the same case in all figures."""
    return name[:1].upper() + name[1:]


def ring(axes: Axes, x: float, y: float) -> None:
    """Rings the best point."""
    look: Record = {"markersize": 10, "fillstyle": "none", "markeredgewidth": 1.2, "zorder": 5}
    axes.plot(x, y, "o", color=BEST, **look)


def plane(
    axes: Axes, delays_ms: Iterable[float], omniscient: tuple[float, float] | None = None
) -> None:
    """Sets up the axes of the throughput-delay plane, where up and to the right is better.

    A star marks the omniscient bound: delay (ms) and throughput (Mbit/s).
    """
    known = [delay for delay in delays_ms if delay > 0]
    if omniscient:
        axes.plot(*omniscient, "*", color=INK, markersize=9, label="omniscient", zorder=5)
        known.append(omniscient[0])
    least, most = min(known) * 0.82, max(known) * 1.12
    top = 1.05 * omniscient[1] if omniscient else None  # ellipses do not extend the axis
    axes.set(xscale="log", xlim=(most, least), ylim=(0, top), ylabel="Throughput (Mbit/s)")
    axes.set_xlabel("95th-percentile signal delay (ms), logarithmic, less to the right")
    steps = (1,) if most > 1e3 * least else (1, 2, 5) if most > 20 * least else (1, 1.5, 2, 3, 5, 7)
    log_ticks(axes, "x", steps)


def front(axes: Axes, points: pd.DataFrame) -> None:
    """Draws the Pareto front of points of the plane, with a ring at the knee."""
    place = SIGNAL_DELAY, THROUGHPUT
    line: Record = {"drawstyle": "steps-post", "color": QUIET, "linewidth": 0.8}
    best = points[points["on_front"]].sort_values(SIGNAL_DELAY)
    plot(axes, best, *place, label="Pareto front", **line)
    for row in records(points[points["knee"].eq(True)]):
        ring(axes, *(row[each] for each in place))


def heat_map(
    axes: Axes,
    values: pd.DataFrame,
    texts: pd.DataFrame,
    limits: tuple[float, float],
    colours: str = SEQUENTIAL,
    fontsize: float = 7.5,
    **options: Any,
) -> None:
    """Draws a cell for each value, the first row on top, with its text in dark or white ink.

    Args:
        axes: where to draw; cell (i, j) has its centre at (j + 0.5, i + 0.5).
        values: values of the colours; columns are the labels below.
        texts: texts of the cells, of the same shape.
        limits: values of the first and the last colour.
        colours: name of the colour map.
        fontsize: of the texts.
        options: of seaborn's heatmap.
    """
    look = {"cmap": colours, "linewidths": 0.6, "linecolor": "white", "cbar": False, **options}
    look |= {"annot": texts, "fmt": "", "annot_kws": {"fontsize": fontsize}}
    sns.heatmap(values, ax=axes, vmin=limits[0], vmax=limits[1], **look)
    axes.set(xlabel="", ylabel="")
    axes.tick_params(length=0, labelsize=7.5)
    axes.tick_params("x", labelrotation=90)
    axes.figure.set_gid("cells")  # by which a page recognizes such figures


def with_panels(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds panel title, unit and decimals to rows of traffic metrics."""
    metrics = rows["metric"].map(FIGURES)
    titles = metrics.map(lambda metric: labels.lower_first(metric.title))
    panels = rows["source"].map(labels.sentence) + ": " + titles
    return rows.assign(
        panel=panels.map(lambda title: textwrap.fill(title, 34)),
        unit=metrics.map(lambda metric: metric.unit),
        decimals=metrics.map(lambda metric: metric.decimals),
    )


def legend_once(owner: Axes | Figure, panels: Iterable[Axes], **options: Any) -> None:
    """Draws one sorted legend for all panels, in as many columns as fit."""
    handles: Record = {}
    for axes in panels:
        shown, names = axes.get_legend_handles_labels()
        handles |= dict(zip(names, shown, strict=True))
        if own := axes.get_legend():
            own.remove()
    names = sorted(handles)
    if names and isinstance(owner, Figure):
        widest = max(map(len, names))
        options = {"ncols": max(1, min(5, 90 // (widest + 6))), **options}
    broken = [textwrap.fill(name, 45) for name in names]
    owner.legend([handles[name] for name in names], broken, **options)


OBJECTIVES = {
    "misfit": "Misfit",
    "mean": "Power (Mbit/s/s)",
    "worst": "Worst power (Mbit/s/s)",
    "mean_log": "Mean of log power",
    "cvar": "Mean power of the worst runs (Mbit/s/s)",
    "expression": "Objective",
    "bounded": "Throughput (Mbit/s)",
    "front": "Power (Mbit/s/s)",
    "sum_log": "Sum of log goodputs",
    "worst_flow": "Least goodput (Mbit/s)",
    "share": "Share of the goodput",
    "least": "Score",
    "worst_case": "Relative power",
}
"""Labels of axes, by objective."""


def log_ticks(axes: Axes, which: str, steps: Sequence[float] = (1, 2, 5)) -> None:
    """Labels a logarithmic axis with plain numbers, `steps` per decade, not powers of ten."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(LogLocator(subs=steps, numticks=99))
    axis.set_major_formatter("{x:g}")
    axis.set_ticks([], minor=True)


def difference_axis(
    axes: Axes,
    which: Literal["x", "y"],
    farthest: float,
    ticks: Sequence[float] = (5, 20, 50, 200, 500),
) -> None:
    """Sets up an axis of differences (%), logarithmic beyond the first tick if some are large.

    Two strokes mark the change of the scale.
    """
    axis = axes.xaxis if which == "x" else axes.yaxis
    if farthest > 2 * ticks[0]:
        set_scale = axes.set_xscale if which == "x" else axes.set_yscale
        set_scale("symlog", linthresh=ticks[0])
        shown = [tick for tick in ticks if tick <= farthest]
        axis.set_ticks([*(-tick for tick in shown if tick < 100), 0, *shown])  # -100 % is nothing
        axis.set_ticks([], minor=True)
        _mark_breaks(axes, which, (-ticks[0], ticks[0]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: labels.minus(f"{value:+g}")))


def _mark_breaks(axes: Axes, which: Literal["x", "y"], places: Sequence[float]) -> None:
    """Draws two slanted strokes across an axis where its scale changes."""
    look: Record = {"marker": BREAK, "color": QUIET, "markersize": 7, "markeredgewidth": 0.9}
    look |= {"linestyle": "none", "clip_on": False, "zorder": 6}
    if which == "x":
        axes.plot(places, [0] * len(places), transform=axes.get_xaxis_transform(), **look)
    else:
        axes.plot([0] * len(places), places, transform=axes.get_yaxis_transform(), **look)


BREAK = MarkerPath(
    [(-0.7, -1), (-0.1, 1), (0.1, -1), (0.7, 1)],
    [MarkerPath.MOVETO, MarkerPath.LINETO, MarkerPath.MOVETO, MarkerPath.LINETO],
)

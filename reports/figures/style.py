"""The house style: print quality, safe for the colour-blind, readable in grey.

What is ours is dark, filled and solid; what others published is open, and told apart by shape.
Labels stand beside what they name.
"""

import html
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from analysis import labels
from analysis.frames import Record

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

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
Floats: TypeAlias = "pd.Series[float] | Sequence[float] | np.ndarray"

_UNDATED: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""Metadata, so that equal figures give equal bytes."""

_TOLD: WeakKeyDictionary[Figure, list[tuple[Axes, float, float, str]]] = WeakKeyDictionary()
"""What the points of figures show (see `tell`), until they are saved."""

COLOURS = ("#17527f", "#b4451b", "#2f7d6d", "#7a4f9a", "#a8780f", "#1b1f24", "#c2588e")
CONTROLLER_MARKERS = ("o", "s", "^", "D", "v", "P")
"""Coprime with the number of colours: 42 controllers look different."""
SEQUENTIAL = "cividis"
DIVERGING = "PuOr_r"

_STYLE: dict[Any, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9.0,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titlepad": 7.0,
    "axes.labelsize": 9.0,
    "axes.labelcolor": INK,
    "axes.edgecolor": "#5b626b",
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "xtick.color": "#5b626b",
    "ytick.color": "#5b626b",
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.minor.width": 0.4,
    "ytick.minor.width": 0.4,
    "xtick.major.size": 3.0,
    "ytick.major.size": 3.0,
    "xtick.minor.size": 1.8,
    "ytick.minor.size": 1.8,
    "grid.color": "#e7e9ec",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.6,
    "text.color": INK,
    "text.parse_math": False,  # a $ in a title is one
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "legend.handletextpad": 0.5,
    "figure.dpi": 100.0,
    "savefig.dpi": 220.0,
    "svg.fonttype": "path",
    "svg.hashsalt": "kneepoint",
    "path.simplify": True,
}


@contextmanager
def house() -> Iterator[None]:
    """Draws in the house style, whatever the user's own matplotlib settings are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(_STYLE)
        yield


def page(height_in: float) -> Figure:
    """An empty figure as wide as the text."""
    layout = ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02, wspace=0.04, hspace=0.04)
    figure = Figure(figsize=(WIDTH_IN, height_in), layout=layout)
    FigureCanvasAgg(figure)
    return figure


def multiples(
    count: int, columns: int, height_in: float, sharex: bool = False, sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """Small multiples: so many panels, the last of each column with its ticks labelled.

    Args:
        count: of the panels.
        columns: at most so many stand side by side.
        height_in: of a row of panels (inches).
        sharex: as in matplotlib's `subplots`.
        sharey: the same.
    """
    columns = min(columns, count)
    rows = -(-count // columns)
    figure = page(0.3 + height_in * rows)
    panels = list(figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False).flat)
    for surplus in panels[count:]:
        surplus.remove()
    for axes in panels[max(0, count - columns) : count]:
        axes.tick_params(labelbottom=True)
    return figure, panels[:count]


def lay_out(figure: Figure) -> None:
    """Lays a figure out once: with a layout engine, saving would draw it again."""
    layout = figure.get_layout_engine()
    assert layout is not None
    layout.execute(figure)
    figure.set_layout_engine(None)


def save(figure: Figure, stem: Path) -> None:
    """Writes `stem`.svg and `stem`.png; equal figures give equal bytes."""
    lay_out(figure)
    for suffix in (".svg", ".png"):
        write(figure, stem.with_name(stem.name + suffix))


def write(figure: Figure, path: Path, dpi: float | None = None) -> None:
    """Writes a figure that is laid out in the format of the suffix: .svg, .png or .pdf.

    Args:
        figure: the figure.
        path: of the file.
        dpi: of its images; None: 220.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, format=path.suffix[1:], dpi=dpi, metadata=_UNDATED[path.suffix])
    content = drawn.getvalue()
    path.write_bytes(_with_values(content, figure) if path.suffix == ".svg" else content)


def tell(axes: Axes, x: Floats, y: Floats, texts: Iterable[str]) -> None:
    """Says what points show: a page shows the text of the one under the pointer.

    Args:
        axes: where they are drawn.
        x: their places in the data's units, shape (n,).
        y: as x.
        texts: one a point.
    """
    figure = axes.figure
    assert isinstance(figure, Figure)
    points = zip(x, y, texts, strict=True)
    told = _TOLD.setdefault(figure, [])
    told += [(axes, a, b, text) for a, b, text in points if a == a and b == b]


def _with_values(svg: bytes, figure: Figure) -> bytes:
    """Adds what points show: invisible circles, each with a title."""
    height = 72 * figure.get_figheight()
    circles = []
    for axes, x, y, text in _TOLD.get(figure, []):
        place = axes.transData.transform((x, y))
        if not axes.bbox.padded(1).contains(*place):
            continue
        across, up = place * 72 / figure.dpi
        circles.append(
            f'<circle cx="{across:.1f}" cy="{height - up:.1f}" r="5"><title>'
            f"{html.escape(text, quote=False)}</title></circle>"
        )
    if not circles:
        return svg
    values = f'<g class="values" fill="none">{"".join(circles)}</g>\n</svg>'
    return values.encode().join(svg.rsplit(b"</svg>", 1))


def heat_map(
    axes: Axes,
    values: "pd.DataFrame",
    texts: "pd.DataFrame",
    limits: tuple[float, float],
    colours: str = SEQUENTIAL,
    **options: Any,
) -> None:
    """A cell for each value, the first row above, with its text in dark or white ink.

    Args:
        axes: where to draw; cell (i, j) has its centre at (j + 0.5, i + 0.5).
        values: what the colours show; columns name the cells below.
        texts: what is written into the cells, of the same shape.
        limits: the values of the first and the last colour.
        colours: name of the colour map.
        options: `linewidths` between the cells, `fontsize`.
    """
    import seaborn as sns  # slow to import, and few figures need it

    sns.heatmap(
        values,
        ax=axes,
        annot=texts,
        fmt="",
        cmap=colours,
        vmin=limits[0],
        vmax=limits[1],
        cbar=False,
        linewidths=options["linewidths"],
        linecolor="white",
        annot_kws={"fontsize": options["fontsize"]},
        xticklabels=False,
        yticklabels=False,
    )
    axes.set(xlabel="", ylabel="")


def search_axis(axes: Axes, constant: Record, which: Literal["x", "y"] = "x") -> None:
    """The axis of a row of search_constants, over the whole searched range."""
    low, high = constant["low"], constant["high"]
    axis = {f"{which}label": labels.axis(constant["constant"], constant["unit"])}
    if not constant["logarithmic"]:
        pad = 0.03 * (high - low)
        axes.set(**axis, **{f"{which}lim": (low - pad, high + pad)})
        return
    pad = (high / low) ** 0.03
    axes.set(**axis, **{f"{which}scale": "log"})
    axes.set(**{f"{which}lim": (low / pad, high * pad)})
    axes.minorticks_off()
    steps = (1,) if high / low > 300 else (1, 3) if high / low > 30 else (1, 2, 5)
    log_ticks(axes, which, decades(low, high, steps))


def decades(low: float, high: float, steps: Sequence[float] = (1, 2, 5)) -> list[float]:
    """Round numbers from low to high: each of `steps` times a power of ten."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    numbers = [float(f"{step}e{power}") for power in powers for step in steps]
    return [number for number in numbers if low <= number <= high]


def log_ticks(axis: Axes, which: str, values: Sequence[float]) -> None:
    """Plain numbers instead of powers of ten on a logarithmic axis."""
    set_ticks = axis.set_xticks if which == "x" else axis.set_yticks
    set_ticks(values, [f"{value:g}" for value in values])


def looks(inventory: "pd.DataFrame") -> dict[str, tuple[str, str]]:
    """Marker and colour of each controller, the same in every figure.

    Args:
        inventory: the table, which names every controller of the report.
    """
    names = sorted({name for each in inventory["controllers"] for name in each})
    return {
        name: (CONTROLLER_MARKERS[at % len(CONTROLLER_MARKERS)], COLOURS[at % len(COLOURS)])
        for at, name in enumerate(names)
    }


def delay_axis(axes: Axes, delays_ms: Iterable[float]) -> None:
    """A logarithmic axis of the signal delay, less to the right, so that right is better."""
    delays = list(delays_ms)
    least, most = min(delays) * 0.82, max(delays) * 1.12
    axes.set_xscale("log")
    axes.set_xlim(most, least)
    axes.minorticks_off()
    steps = (1, 2, 5) if most / least > 20 else (1, 1.5, 2, 3, 5, 7)
    log_ticks(axes, "x", decades(least, most, steps))
    axes.set_xlabel("95th-percentile signal delay (ms), logarithmic, less to the right")


def by_report(rows: "pd.DataFrame") -> "Iterator[tuple[str, int, pd.DataFrame]]":
    """The published rows of each report: its name, its number, its rows."""
    for report, part in rows.groupby("report", sort=False):
        yield str(report), int(part["mark"].iloc[0]), part


def open_markers(
    axes: Axes,
    x: "pd.Series[float]",
    y: "pd.Series[float]",
    report: str,
    mark: int,
) -> None:
    """Published points: a report has the same shape and colour in every figure.

    Both follow from `mark`, the report's number in the tables.
    """
    axes.plot(
        x,
        y,
        MARKERS[mark % len(MARKERS)],
        markersize=4.6,
        markerfacecolor="none",
        markeredgecolor=PUBLISHED[mark % len(PUBLISHED)],
        markeredgewidth=0.9,
        label=report,
        zorder=4,
    )


def ring(axes: Axes, x: float, y: float) -> None:
    """Rings the best point."""
    axes.plot(
        x,
        y,
        "o",
        markersize=10,
        markerfacecolor="none",
        markeredgecolor=BEST,
        markeredgewidth=1.2,
        zorder=5,
    )


def legend_once(owner: Axes | Figure, panels: Sequence[Axes], **options: Any) -> None:
    """A legend of what the panels show, sorted, each label once."""
    pairs = [
        pair for axes in panels for pair in zip(*axes.get_legend_handles_labels(), strict=True)
    ]
    handles = {label: handle for handle, label in pairs}
    names = sorted(handles)
    owner.legend([handles[name] for name in names], names, **options)

"""Figures of a leaderboard: each network's throughput-delay plane, and who leads whom."""

import base64
import io
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from PIL import Image

from common.files import write_whole
from contest.standing import Floats, Json
from reports.figures import style

_MOST_LABELS = 12
_LABEL_POINTS = 6.5
MOST_IN_MATRIX = 10
_COLOURS = 16
_IMAGE = re.compile(rb'(?<=base64,)[^"]+')


def draw_figures(found: Json, folder: Path) -> dict[str, Path]:
    """Draws what there is to draw into a folder; returns the files by the figures' names."""
    with style.house():
        figures = {}
        if found["ranking"] or found["baselines"]:
            for network in found["networks"]:
                figures[f"plane-{network['name']}"] = plane(found, network)
        if len(found["ranking"]) > 1:
            figures["ahead"] = matrix(found)
        for name, figure in figures.items():
            style.write(figure, folder / f"{name}.svg")
    return {name: folder / f"{name}.svg" for name in figures}


def plane(found: Json, network: Json) -> Figure:
    """Throughput against signal delay of every entry and baseline, the hull, the bound."""
    figure = style.page(3.4)
    axes = figure.add_subplot()
    bound = network["omniscient"]
    points = [
        (row, row["networks"][network["name"]]) for row in found["ranking"] + found["baselines"]
    ]
    delays = np.array([each["signal_delay_p95_ms"] for _, each in points])
    rates = np.array([each["throughput_mbps"] for _, each in points])
    at = hull(delays, rates)
    axes.plot(delays[at], rates[at], color=style.QUIET, linewidth=0.8, zorder=1, label="hull")
    axes.plot(
        bound["signal_delay_p95_ms"], bound["capacity_mbps"], "*",
        color=style.INK, markersize=9, label="omniscient", zorder=5,
    )  # fmt: skip
    for is_entry, label in ((True, "entries"), (False, "baselines")):
        chosen = np.array([("rank" in row) == is_entry for row, _ in points])
        axes.plot(
            delays[chosen],
            rates[chosen],
            "o" if is_entry else "s",
            color=style.OURS if is_entry else style.QUIET,
            markerfacecolor=style.OURS if is_entry else "none",
            markersize=4.6,
            markeredgewidth=0.9,
            label=label if chosen.any() else None,
            zorder=3,
        )
    best = max(range(len(points)), key=lambda k: rates[k] / delays[k])
    style.ring(axes, delays[best], rates[best])
    style.delay_axis(axes, [bound["signal_delay_p95_ms"], *delays])
    axes.set_ylim(0, 1.05 * max(bound["capacity_mbps"], *rates))
    axes.set_ylabel("Throughput (Mbit/s)")
    figure.legend(loc="outside right upper", fontsize=7.5)
    style.lay_out(figure)  # names take room that is known only now
    order = sorted(range(len(points)), key=lambda k: -rates[k] / delays[k])
    _name_points(axes, [(points[k][0]["name"], delays[k], rates[k]) for k in order])
    told = [{"name": row["name"], "power": each["power"]} for row, each in points]
    rows = pd.DataFrame(told).assign(delay=delays, rate=rates)
    text = "{name}: {rate:.2f} Mbit/s at {delay:.0f} ms, power {power:.2f}"
    style.tell(axes, rows, "delay", "rate", text)
    return figure


def _name_points(axes: Axes, points: Sequence[tuple[str, float, float]]) -> None:
    """Writes names beside points where there is room, in the order of the points."""
    taken: list[Bbox] = []
    left, right_end = (end * 72 / axes.figure.dpi for end in axes.bbox.intervalx)
    for name, delay, rate in points[:_MOST_LABELS]:
        x, y = axes.transData.transform((delay, rate)) * 72 / axes.figure.dpi
        wide, high = 0.55 * _LABEL_POINTS * len(name), 1.2 * _LABEL_POINTS
        for right, up in ((True, 3), (True, -8), (False, 3), (False, -8)):
            box = Bbox.from_bounds(x + (6 if right else -6 - wide), y + up, wide, high)
            is_inside = left <= box.x0 and box.x1 <= right_end
            if is_inside and not any(box.overlaps(other) for other in taken):
                taken.append(box)
                axes.annotate(
                    name, (delay, rate), (6 if right else -6, up), textcoords="offset points",
                    ha="left" if right else "right", fontsize=_LABEL_POINTS, color=style.INK,
                )  # fmt: skip
                break


def matrix(found: Json) -> Figure:
    """How often one entry leads another when networks and seeds are resampled."""
    names = [row["name"] for row in found["ranking"][:MOST_IN_MATRIX]]
    ahead = pd.DataFrame(np.nan, index=names, columns=names)
    for pair in found["pairs"]:
        if pair["a"] not in names or pair["b"] not in names:
            continue
        ahead.loc[pair["a"], pair["b"]] = 100 * pair["ahead"]
        ahead.loc[pair["b"], pair["a"]] = 100 * (1 - pair["ahead"])
    texts = ahead.map(lambda value: "" if value != value else f"{value:.0f}")
    figure = style.page(1.2 + 0.21 * len(names))
    axes = figure.add_subplot()
    size = min(8.0, 110 / len(names))
    style.heat_map(axes, ahead, texts, (0, 100), style.DIVERGING, linewidths=0.4, fontsize=size)
    centres = np.arange(len(names)) + 0.5
    axes.set_xticks(centres, names, rotation=90, fontsize=min(8.0, size + 1))
    axes.set_yticks(centres, names, rotation=0, fontsize=min(8.0, size + 1))
    axes.tick_params(length=0)
    style.lay_out(figure)
    return figure


def thin(path: Path) -> None:
    """Reduces the colours of the images in an SVG file, of which a page has one for each entry."""

    def reduced(found: re.Match[bytes]) -> bytes:
        image = Image.open(io.BytesIO(base64.b64decode(found[0])))
        small = io.BytesIO()
        image.quantize(_COLOURS, Image.Quantize.FASTOCTREE).save(small, "PNG", optimize=True)
        return base64.b64encode(small.getvalue())

    write_whole(path, _IMAGE.sub(reduced, path.read_bytes()))


def hull(delays: Floats, rates: Floats) -> list[int]:
    """The points of the upper left convex hull, by delay: no mixture of others exceeds them.

    Args:
        delays: less is better, shape (n,).
        rates: more is better, shape (n,).
    """
    order = sorted(range(len(delays)), key=lambda k: (delays[k], -rates[k]))
    found: list[int] = []
    for k in order:
        if found and rates[k] <= rates[found[-1]]:
            continue
        while len(found) > 1 and _turns_up(found[-2], found[-1], k, delays, rates):
            found.pop()
        found.append(k)
    return found


def _turns_up(a: int, b: int, c: int, delays: Floats, rates: Floats) -> bool:
    """Whether B lies on or below the line from A to C."""
    left = (rates[b] - rates[a]) * (delays[c] - delays[a])
    return bool(left <= (rates[c] - rates[a]) * (delays[b] - delays[a]))

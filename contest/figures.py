"""Figures of a leaderboard: each network's throughput-delay plane, and who leads whom."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from common.files import write_whole
from contest.leaderboard import Json
from contest.standing import Floats
from reports.figures import style

_MOST_LABELS = 12
_SIDES = ((6, 3), (6, -3), (-6, 3), (-6, -3))
"""Where the name of a point may stand (points)."""
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
    figure, axes = style.panel(3.4)
    bound = network["omniscient"]
    points = [
        (row, row["networks"][network["name"]]) for row in found["ranking"] + found["baselines"]
    ]
    delays = np.array([each["signal_delay_p95_ms"] for _, each in points])
    rates = np.array([each["throughput_mbps"] for _, each in points])
    at = hull(delays, rates)
    axes.plot(delays[at], rates[at], color=style.QUIET, linewidth=0.8, zorder=1, label="hull")
    style.omniscient(axes, bound["signal_delay_p95_ms"], bound["capacity_mbps"])
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
    told = [{"name": row["name"], "power": each["power"]} for row, each in points]
    rows = pd.DataFrame(told).assign(delay=delays, rate=rates)
    text = "{name}: {rate:.2f} Mbit/s at {delay:.0f} ms, power {power:.2f}"
    style.tell(axes, rows, "delay", "rate", text)
    first = rows.sort_values("power", ascending=False, kind="stable")[:_MOST_LABELS]
    style.name_points(axes, first, ["delay", "rate"], _SIDES, always=False, fontsize=6.5)
    return figure


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
    figure, axes = style.panel(1.2 + 0.21 * len(names))
    size = min(8.0, 110 / len(names))
    style.heat_map(axes, ahead, texts, (0, 100), style.DIVERGING, linewidths=0.4, fontsize=size)
    centres = np.arange(len(names)) + 0.5
    axes.set_xticks(centres, names, rotation=90, fontsize=min(8.0, size + 1))
    axes.set_yticks(centres, names, rotation=0, fontsize=min(8.0, size + 1))
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

"""Figures of a leaderboard: the throughput-delay plane of each network, pairwise comparisons."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from PIL import Image

from kneepoint.analysis.frames import Record
from kneepoint.common.json_text import Json
from kneepoint.reports.figures import style

_MAX_NAMES = 12
_SIDES = [(6, 3), (6, -3), (-6, 3), (-6, -3)]
MAX_IN_MATRIX = 10
_COLOURS = 16
_IMAGE = re.compile(rb'(?<=base64,)[^"]+')


def draw_figures(found: Json, folder: Path) -> dict[str, Path]:
    """Draws all figures for which the leaderboard has data; returns files by figure name."""
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
    """Draws throughput over signal delay of every entry and baseline, the hull and the bound."""
    figure, axes = style.panel(3.4)
    bound = network["omniscient"]
    points = _points(found, network["name"])
    look: Record = {"color": style.QUIET, "linewidth": 0.8, "label": "hull", "zorder": 1}
    style.plot(axes, hull(points), "delay", "rate", **look)
    for is_entry, own in points.groupby("is_entry", sort=False):
        colour, filling = (style.OURS, style.OURS) if is_entry else (style.QUIET, "none")
        look = {"color": colour, "markerfacecolor": filling, "markersize": 4.6, "zorder": 3}
        look |= {"markeredgewidth": 0.9, "label": "entries" if is_entry else "baselines"}
        style.plot(axes, own, "delay", "rate", "o" if is_entry else "s", **look)
    best = points.iloc[0]
    style.ring(axes, best["delay"], best["rate"])
    style.plane(axes, points["delay"], (bound["signal_delay_p95_ms"], bound["capacity_mbps"]))
    figure.legend(loc="outside right upper", fontsize=7.5)
    named, look = points.head(_MAX_NAMES), {"fontsize": 6.5, "color": style.INK}
    place = ["delay", "rate"]
    style.name_points(axes, named, place, _SIDES, always=False, **look)
    text = "{name}: {rate:.2f} Mbit/s at {delay:.0f} ms, power {power:.2f}"
    style.add_tooltips(axes, points, "delay", "rate", text)
    return figure


def _points(found: Json, network: str) -> pd.DataFrame:
    """Returns the means of entries and baselines, by decreasing power."""
    rows = [
        {
            **{"name": row["name"], "is_entry": "rank" in row, "power": own["power"]},
            **{"delay": own["signal_delay_p95_ms"], "rate": own["throughput_mbps"]},
        }
        for row in found["ranking"] + found["baselines"]
        if (own := row["networks"][network])
    ]
    points = pd.DataFrame(rows)
    order = (points["delay"] / points["rate"]).sort_values(kind="stable").index
    return points.loc[order]


def hull(points: pd.DataFrame) -> pd.DataFrame:
    """Returns the upper left convex hull by delay: no mixture of other points exceeds it."""
    found = [points.sort_values(["delay", "rate"], ascending=[True, False]).iloc[0]]
    while len(above := points[points["rate"] > found[-1]["rate"]]):
        gain = (above["rate"] - found[-1]["rate"]) / (above["delay"] - found[-1]["delay"])
        found.append(above.loc[gain.idxmax()])
    return pd.DataFrame(found)


def matrix(found: Json) -> Figure:
    """Draws the share of resamples of networks and seeds in which one entry leads another."""
    names = [row["name"] for row in found["ranking"][:MAX_IN_MATRIX]]
    ahead = pd.DataFrame(np.nan, index=names, columns=names)
    for pair in found["pairs"]:
        if pair["a"] not in names or pair["b"] not in names:
            continue
        ahead.loc[pair["a"], pair["b"]] = 100 * pair["ahead"]
        ahead.loc[pair["b"], pair["a"]] = 100 * (1 - pair["ahead"])
    texts = ahead.map(lambda value: "" if value != value else f"{value:.0f}")
    figure, axes = style.panel(1.2 + 0.21 * len(names))
    style.heat_map(axes, ahead, texts, (0, 100), style.DIVERGING, linewidths=0.4)
    return figure


def thinned(drawing: bytes) -> bytes:
    """Returns an SVG with fewer colours in its images: a page has one such figure per entry."""

    def reduced(found: re.Match[bytes]) -> bytes:
        image = Image.open(io.BytesIO(base64.b64decode(found[0])))
        small = io.BytesIO()
        image.quantize(_COLOURS, Image.Quantize.FASTOCTREE).save(small, "PNG", optimize=True)
        return base64.b64encode(small.getvalue())

    return _IMAGE.sub(reduced, drawing)

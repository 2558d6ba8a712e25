"""The contents of a figure's panels."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.reports import draw
from kneepoint.reports.figures import style

Tables = dict[str, pd.DataFrame]


def drawn(tables: Mapping[str, pd.DataFrame], name: str) -> Figure:
    """Draws a figure by its name."""
    with style.house():
        return draw.find(name, tables)()


def places(axes: Axes) -> set[tuple[float, float]]:
    """Returns the positions of a panel's points, and of corners of lines."""
    found = [line.get_xydata() for line in axes.lines]
    found += [dots.get_offsets() for dots in axes.collections]
    points = np.vstack([np.asarray(each, dtype=float).reshape(-1, 2) for each in found])
    return {(float(x), float(y)) for x, y in points[~np.isnan(points).any(axis=1)]}


def joined(axes: Axes) -> list[list[tuple[float, float]]]:
    """Returns the lines of two points in a panel, each from left to right."""
    lines = [np.asarray(line.get_xydata(), dtype=float).tolist() for line in axes.lines]
    return sorted(sorted(map(tuple, line)) for line in lines if len(line) == 2)


def pairs(rows: pd.DataFrame, x: str, y: str) -> set[tuple[float, float]]:
    """Returns the expected positions of a panel's points."""
    return set(rows[[x, y]].dropna().itertuples(index=False, name=None))


def require_points(figure: Figure, rows: pd.DataFrame, panels: Sequence[tuple[str, str]]) -> None:
    """Fails unless each panel has a point for every row, at these two columns."""
    for axes, (x, y) in zip(figure.axes, panels, strict=False):
        assert pairs(rows, x, y) <= places(axes)


def texts(figure: Figure, axes: int = 0) -> list[str]:
    """Returns the texts of a panel."""
    return [text.get_text() for text in figure.axes[axes].texts]

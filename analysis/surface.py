"""How a search's value depends jointly on two parameters, where the trials can tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

from analysis.frames import CONSTANT
from analysis.results import Searched

WIDTH = 0.05
"""Of the bell that weighs trials by their distance; the searched ranges are 1 wide."""
REACH = 2 * WIDTH
LEAST_NEAR = 2
"""With fewer trials within reach of a place, nothing is said of it."""
FLOOR = 0.1
"""The worst tenth of the trials count as equally bad: how bad would drown all else."""

LEAST_SHARE = 0.1
"""A constant of less importance than this gets no axis."""
LEAST_VALUES = 10
LEAST_COVERED = 1 / 3
LEAST_EXPLAINED = 0.5


@dataclass(frozen=True)
class Surface:
    """The mean value of the trials around each place of the plane.

    `values` has a row for each of `y_values`; NaN where too few trials are near. `covered` is the
    share of the plane that has values, `explained` the share of the trials' variance that the
    surface without each predicts.
    """

    x: Searched
    y: Searched
    x_values: np.ndarray
    y_values: np.ndarray
    values: np.ndarray
    covered: float
    explained: float

    @property
    def tells(self) -> bool:
        """Whether it is worth a reader's time."""
        return self.covered >= LEAST_COVERED and self.explained >= LEAST_EXPLAINED


def surface(trials: pd.DataFrame, x: Searched, y: Searched, steps: int = 61) -> Surface:
    """Smooths the trials' values over the plane of two constants.

    Args:
        trials: those that count; columns value and constant_<name> of both.
        x: the constant across.
        y: the constant upwards.
        steps: places along each of them.
    """
    values = trials["value"].to_numpy(dtype=float)
    values = np.maximum(values, np.quantile(values, FLOOR))
    there = np.column_stack([_scaled(trials, constant) for constant in (x, y)])
    line = np.linspace(0, 1, steps)
    places = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    smooth = _smoothed(cdist(places, there), values)
    between = cdist(there, there)
    np.fill_diagonal(between, np.inf)  # each trial is foretold by the others
    foretold = _smoothed(between, values)
    known = ~np.isnan(foretold)
    variance = np.var(values[known]) if known.any() else 0.0
    errors = (values - foretold)[known] ** 2
    return Surface(
        x=x,
        y=y,
        x_values=_places(x, steps),
        y_values=_places(y, steps),
        values=smooth.reshape(steps, steps),
        covered=float(np.mean(~np.isnan(smooth))),
        explained=float(1 - np.mean(errors) / variance) if variance > 0 else 0.0,
    )


def axes(
    trials: pd.DataFrame, searched: Sequence[Searched], importances: Mapping[str, float]
) -> tuple[Searched, Searched] | None:
    """The two most important constants; None if the second has no real share or few values."""
    order = sorted(searched, key=lambda each: -importances.get(each.name, 0.0))[:2]
    if len(order) < 2 or importances.get(order[1].name, 0.0) < LEAST_SHARE:
        return None
    counts = [trials[CONSTANT + each.name].nunique() for each in order]
    return (order[0], order[1]) if min(counts) >= LEAST_VALUES else None


def _smoothed(distances: np.ndarray, values: np.ndarray) -> np.ndarray:
    weights = np.exp(-0.5 * (distances / WIDTH) ** 2)
    near = (distances <= REACH).sum(axis=1)
    total = weights.sum(axis=1)
    weighted = (weights * values).sum(axis=1)  # BLAS's last digit depends on where arrays lie
    return np.where(near >= LEAST_NEAR, weighted / np.where(total > 0, total, 1), np.nan)


def _scaled(trials: pd.DataFrame, constant: Searched) -> np.ndarray:
    values: np.ndarray = trials[CONSTANT + constant.name].to_numpy(dtype=float)
    if constant.logarithmic:
        values = np.log(values / constant.low)
        return np.asarray(values / np.log(constant.high / constant.low))
    return (values - constant.low) / (constant.high - constant.low)


def _places(constant: Searched, steps: int) -> np.ndarray:
    if constant.logarithmic:
        return np.geomspace(constant.low, constant.high, steps)
    return np.linspace(constant.low, constant.high, steps)

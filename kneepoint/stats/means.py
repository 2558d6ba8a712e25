"""Means of scores over networks and runs; scores that are ratios have geometric ones."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mean_of(scores: Floats, is_ratio: bool) -> float:
    """The mean over networks of the mean over runs; of ratios the geometric one."""
    return unscaled(scaled(scores, is_ratio).mean(), is_ratio)


def scaled(scores: Floats, is_ratio: bool) -> Floats:
    """The scores, of ratios their logarithms."""
    return np.log(scores) if is_ratio else scores


def unscaled(value: float, is_ratio: bool) -> float:
    """The score of a value that `scaled` has returned."""
    return float(np.exp(value)) if is_ratio else float(value)

"""Means of scores over networks and runs; of ratios, geometric means."""

import numpy as np

from kneepoint.stats import Floats


def mean_of(scores: Floats, is_ratio: bool) -> float:
    """Returns the mean over networks of means over runs; geometric means if scores are ratios."""
    return unscaled(scaled(scores, is_ratio).mean(), is_ratio)


def scaled(scores: Floats, is_ratio: bool) -> Floats:
    """Returns the scores, or their natural logarithms if they are ratios."""
    return np.log(scores) if is_ratio else scores


def unscaled(value: float, is_ratio: bool) -> float:
    """Returns the inverse of `scaled`."""
    return float(np.exp(value)) if is_ratio else float(value)

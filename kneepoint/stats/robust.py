"""Estimators of location and scale that are robust to outliers."""

import math

import numpy as np
from numpy.typing import ArrayLike

from kneepoint.stats import Floats


def interquartile_means(runs: Floats) -> Floats:
    """The interquartile means: without a quarter of the values at either end (scipy's trim_mean).

    Args:
        runs: shape (settings, networks, n).

    Returns:
        Shape (settings,), over all runs on all networks.
    """
    ordered = np.sort(runs.reshape(runs.shape[0], -1), axis=1)
    cut = ordered.shape[1] // 4
    means: Floats = ordered[:, cut : ordered.shape[1] - cut].mean(axis=1)
    return means


_UNBIASED = {4: 0.512, 5: 0.844, 6: 0.611, 7: 0.857, 8: 0.669, 9: 0.872}
"""Correction factors by sample size (Croux and Rousseeuw, Computational Statistics 1, 1992)."""


def qn(values: ArrayLike) -> float:
    """Returns the estimator Qn of at least four values, consistent for the normal's deviation.

    It is the first quartile of the pairwise distances (Rousseeuw and Croux, JASA 88, 1993).
    """
    numbers = np.asarray(values, dtype=float)
    n = numbers.size
    first, second = np.triu_indices(n, 1)
    quarter = math.comb(n // 2 + 1, 2) - 1
    gap = float(np.partition(abs(numbers[first] - numbers[second]), quarter)[quarter])
    return 2.2219 * _UNBIASED.get(n, n / (n + 1.4) if n % 2 else n / (n + 3.8)) * gap

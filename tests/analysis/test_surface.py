"""Surfaces over two constants, on searches whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from analysis.results import Searched
from analysis.surface import LEAST_SHARE, Surface, axes, surface

X, Y = Searched("x", 0, 10), Searched("y", 0.01, 100, logarithmic=True)


def trials(n: int, width: float = 1.0, noise: float = 0.0) -> pd.DataFrame:
    """Trials of a hill at x = 3, y = 1, in that share of both ranges; noise over its height."""
    random = np.random.default_rng(1)
    x, y = width * random.uniform(size=(2, n))
    hill = np.exp(-8 * ((x - 0.3) ** 2 + (y - 0.5) ** 2))
    value = 20 + 10 * (hill + noise * random.standard_normal(n))
    return pd.DataFrame({"constant_x": 10 * x, "constant_y": 10 ** (4 * y - 2), "value": value})


def peak(found: Surface) -> tuple[float, float]:
    i, j = np.unravel_index(np.nanargmax(found.values), found.values.shape)
    return float(found.x_values[j]), float(found.y_values[i])


def test_a_hill_is_where_it_is() -> None:
    found = surface(trials(300), X, Y)
    x, y = peak(found)
    assert x == pytest.approx(3, abs=0.7)
    assert np.log10(y) == pytest.approx(0, abs=0.3)
    assert found.values.shape == (len(found.y_values), len(found.x_values))
    assert np.nanmax(found.values) <= 30
    assert found.covered > 0.9
    assert found.explained > 0.9
    assert found.tells


def test_where_no_trials_are_there_is_nothing() -> None:
    found = surface(trials(300, width=0.5), X, Y)
    assert np.isnan(found.values[found.y_values > 3][:, found.x_values > 6.5]).all()
    assert 0.25 < found.covered < 0.45


def test_noise_tells_nothing() -> None:
    found = surface(trials(300, noise=1.0), X, Y)
    assert found.covered > 0.9
    assert found.explained < 0.3
    assert not found.tells


def test_one_disaster_does_not_drown_the_rest() -> None:
    there = trials(300)
    there.loc[0, "value"] = -1e6
    assert np.nanmin(surface(there, X, Y).values) > 15


def test_axes_are_the_two_that_matter_most() -> None:
    there = trials(60).assign(constant_z=1.0)
    searched = (Searched("z", 0, 2), Y, X)
    assert axes(there, searched, {"x": 0.6, "y": 0.3, "z": 0.1}) == (X, Y)
    assert axes(there, searched, {"x": 0.95, "y": LEAST_SHARE - 0.01, "z": 0.04}) is None
    assert axes(there, searched, {"x": 0.6, "z": 0.3, "y": 0.1}) is None  # z has one value
    assert axes(there, searched, {}) is None
    assert axes(there, (X,), {"x": 1.0}) is None

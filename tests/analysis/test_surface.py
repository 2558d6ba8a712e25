"""Importances of constants and surfaces over two, on searches whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from analysis.importances import LEAST_TRIALS, importances
from analysis.results import Searched
from analysis.surface import LEAST_SHARE, axes, surface

X, Y = Searched("x", 0, 10), Searched("y", 0.01, 100, logarithmic=True)


def trials(n: int = 300, width: float = 1.0, noise: float = 0.0) -> pd.DataFrame:
    """Trials of a hill at x = 3, y = 1, in that share of both ranges; noise over its height."""
    random = np.random.default_rng(1)
    x, y = width * random.uniform(size=(2, n))
    hill = np.exp(-8 * ((x - 0.3) ** 2 + (y - 0.5) ** 2))
    value = 20 + 10 * (hill + noise * random.standard_normal(n))
    return pd.DataFrame({"constant_x": 10 * x, "constant_y": 10 ** (4 * y - 2), "value": value})


def test_a_hill_is_where_it_is() -> None:
    found = surface(trials(), X, Y)
    assert found.values.shape == (len(found.y_values), len(found.x_values))
    row, column = np.unravel_index(np.nanargmax(found.values), found.values.shape)
    assert found.x_values[column] == pytest.approx(3, abs=0.7)
    assert np.log10(found.y_values[row]) == pytest.approx(0, abs=0.3)
    assert np.nanmax(found.values) <= 30
    assert found.covered > 0.9 and found.explained > 0.9 and found.tells


def test_where_no_trials_are_there_is_nothing_and_noise_tells_nothing() -> None:
    found = surface(trials(width=0.5), X, Y)
    assert np.isnan(found.values[found.y_values > 3][:, found.x_values > 6.5]).all()
    assert 0.25 < found.covered < 0.45
    noise = surface(trials(noise=1.0), X, Y)
    assert noise.covered > 0.9 and noise.explained < 0.3 and not noise.tells


def test_one_disaster_does_not_drown_the_rest() -> None:
    there = trials()
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


@pytest.mark.parametrize("minimised", [False, True])
def test_what_matters_is_important(minimised: bool) -> None:
    there, sign = trials(), 1 if minimised else -1
    value = sign * (there["constant_x"] - 3) ** 2
    best, whole = importances(there.assign(value=value), (X, Y), minimised)
    assert best["x"] > 0.8 and sum(best.values()) == pytest.approx(1)
    assert whole["x"] > 0.8 and sum(whole.values()) <= 1


def test_a_range_counts_as_it_was_searched() -> None:
    there = trials()
    value = np.log10(there["constant_y"]) + 2 * (there["constant_x"] - 5) / 5
    _, found = importances(there.assign(value=value), (X, Y), False)
    assert found["y"] == pytest.approx(found["x"], abs=0.1)


def test_nothing_is_said_of_few_trials_one_constant_or_equal_values() -> None:
    assert importances(trials(LEAST_TRIALS - 1), (X, Y), False) == ({}, {})
    assert importances(trials(), (X,), False) == ({}, {})
    assert importances(trials().assign(value=1.0), (X, Y), False)[1] == {}

"""Importances of parameters, on searches with a known answer."""

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis.results import Searched
from kneepoint.questions.searches.importances import MIN_TRIALS, importances

X, Y = Searched("x", 0, 10), Searched("y", 0.01, 100, logarithmic=True)


def trials(n: int = 300) -> pd.DataFrame:
    """Trials of a hill at x = 3, y = 1."""
    x, y = np.random.default_rng(1).uniform(size=(2, n))
    value = 20 + 10 * np.exp(-8 * ((x - 0.3) ** 2 + (y - 0.5) ** 2))
    return pd.DataFrame({"parameter_x": 10 * x, "parameter_y": 10 ** (4 * y - 2), "value": value})


@pytest.mark.parametrize("minimised", [False, True])
def test_what_matters_is_important(minimised: bool) -> None:
    there, sign = trials(), 1 if minimised else -1
    value = sign * (there["parameter_x"] - 3) ** 2
    best, whole = importances(there.assign(value=value), (X, Y), minimised)
    assert best["x"] > 0.8 and sum(best.values()) == pytest.approx(1)
    assert whole["x"] > 0.8 and sum(whole.values()) <= 1


def test_a_range_counts_as_it_was_searched() -> None:
    there = trials()
    value = np.log10(there["parameter_y"]) + 2 * (there["parameter_x"] - 5) / 5
    _, found = importances(there.assign(value=value), (X, Y), False)
    assert found["y"] == pytest.approx(found["x"], abs=0.1)


def test_nothing_is_said_of_few_trials_one_parameter_or_equal_values() -> None:
    assert importances(trials(MIN_TRIALS - 1), (X, Y), False) == ({}, {})
    assert importances(trials(), (X,), False) == ({}, {})
    assert importances(trials().assign(value=1.0), (X, Y), False)[1] == {}

"""Importances of constants, on searches whose answer is known."""

import numpy as np
import pandas as pd
import pytest

from analysis.importances import LEAST_TRIALS, importances
from analysis.results import Searched

SEARCHED = (Searched("matters", 0, 10), Searched("useless", 0.01, 100, logarithmic=True))


def _trials(n: int) -> pd.DataFrame:
    random = np.random.default_rng(1)
    matters = random.uniform(0, 10, n)
    return pd.DataFrame(
        {
            "constant_matters": matters,
            "constant_useless": 10 ** random.uniform(-2, 2, n),
            "value": -((matters - 3) ** 2),
        }
    )


@pytest.mark.parametrize("minimised", [False, True])
def test_what_matters_is_important(minimised: bool) -> None:
    best, whole = importances(_trials(300), SEARCHED, minimised)
    assert best["matters"] > 0.8 and sum(best.values()) == pytest.approx(1)
    assert whole["matters"] > 0.8 and sum(whole.values()) <= 1


def test_a_range_counts_as_it_was_searched() -> None:
    trials = _trials(300)
    value = np.log10(trials["constant_useless"]) + 2 * (trials["constant_matters"] - 5) / 5
    _, found = importances(trials.assign(value=value), SEARCHED, False)
    assert found["useless"] == pytest.approx(found["matters"], abs=0.1)


def test_nothing_is_said_of_few_trials_one_constant_or_equal_values() -> None:
    assert importances(_trials(LEAST_TRIALS - 1), SEARCHED, False) == ({}, {})
    assert importances(_trials(300), SEARCHED[:1], False) == ({}, {})
    assert importances(_trials(300).assign(value=1.0), SEARCHED, False)[1] == {}

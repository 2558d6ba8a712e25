"""The distance of a printed row from our runs, and its certainty."""

import math

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis.frames import STEP
from kneepoint.analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from kneepoint.questions.audit.beside import (
    WITHIN_SPREAD,
    agreement_stability,
    agreements_with_spread,
    beside,
)
from tests.analysis import synthetic


def runs(delays: list[float], throughput: float = 3.0) -> pd.DataFrame:
    made = (synthetic.run_row("fixed_window", {"window": 10}, throughput, d) for d in delays)
    return pd.DataFrame(made)


def row(ours: pd.DataFrame, delay: float, **steps: float) -> pd.DataFrame:
    """A row that prints 3.00 Mbit/s at this delay, beside our runs."""
    place = {"table": "t", "row": 0, "controller": "fixed_window", "network": "contest"}
    numbers = {THROUGHPUT: 3.0, SIGNAL_DELAY: delay, POWER: 3e3 / delay, "parameter_window": 10.0}
    known = {STEP + name: step for name, step in steps.items()}
    published = pd.DataFrame([{**place, **numbers, **known, "replayable": True}])
    return beside(published, ours)


def test_a_row_far_from_a_limit_is_sure_and_one_at_it_is_not() -> None:
    random = np.random.default_rng(3)
    ours = runs((100 + 3 * random.standard_normal(20)).round().tolist())
    mean = ours[SIGNAL_DELAY].mean()
    sure = {f: float(agreement_stability(row(ours, f * mean), ours)[0]) for f in (1, 2, 1 / 1.05)}
    assert sure[1] > 0.9
    assert sure[2] == 1
    assert sure[1 / 1.05] < 0.9  # close or within our spread


@pytest.mark.parametrize(
    ("delay", "step", "throughput", "said"),
    [
        (100, math.nan, 3.0, "reproduced"),
        (104, math.nan, 3.0, "close"),
        (114, math.nan, 3.0, WITHIN_SPREAD),
        (140, math.nan, 3.0, "off"),
        (90, 10, 3.0, "reproduced"),  # 99.9, truncated
        (100, 1, 3.0399, "reproduced"),  # 3.00 may be a truncated 3.0099, and 1 % is near
        (100, 1, 3.0401, "close"),
        (100, 1, 2.9651, "reproduced"),  # or 2.995, rounded
        (100, 1, 2.9649, "close"),
    ],
)
def test_near_by_print_or_within_our_spread(
    delay: float, step: float, throughput: float, said: str
) -> None:
    found = row(runs([96.0, 98, 100, 102, 104], throughput), delay, **{SIGNAL_DELAY: step})
    assert agreements_with_spread(found.assign(**{STEP + THROUGHPUT: 0.01}))[0] == said


@pytest.mark.parametrize(("ours", "said"), [(42.9, "reproduced"), (43.1, WITHIN_SPREAD)])
def test_three_milliseconds_are_close_enough(ours: float, said: str) -> None:
    found = row(runs([ours - 2, ours, ours + 2]), 40)
    assert agreements_with_spread(found)[0] == said


def test_of_several_settings_the_nearest_has_the_spread() -> None:
    ours = runs([90.0, 136.0, 142.0])
    ours["parameters"] = ['{"a": 1}', '{"a": 2}', '{"a": 2}']
    found = row(ours, 125)
    assert (found["runs"][0], found["settings"][0], found["nearest"][0]) == (2, 2, "a 2")
    assert agreements_with_spread(found)[0] == WITHIN_SPREAD

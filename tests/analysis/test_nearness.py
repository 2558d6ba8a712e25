import math

import numpy as np
import pandas as pd

from analysis import nearness, statistics
from analysis.frames import STEP
from analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.schema import WITHIN_SPREAD
from analysis.spread import Selection
from tests.analysis import synthetic


def runs(delays: list[float], window: int = 10) -> pd.DataFrame:
    return pd.DataFrame(
        [synthetic.run_row("fixed_window", {"window": window}, 3.0, delay) for delay in delays]
    )


def rows(
    ours: pd.DataFrame,
    delay: float,
    step: float = math.nan,
    selection: Selection | None = None,
) -> pd.DataFrame:
    published = pd.DataFrame(
        {
            **{"table": "t", "row": [0], "controller": "fixed_window", "network": "contest"},
            **{"replayable": True, "constant_window": 10.0, THROUGHPUT: 3.0},
            **{SIGNAL_DELAY: delay, POWER: 3e3 / delay, STEP + SIGNAL_DELAY: step},
        }
    )
    return statistics.beside(published, ours, selection)


def sure(ours: pd.DataFrame, delay: float, selection: Selection | None = None) -> float:
    beside = rows(ours, delay, selection=selection)
    return float(nearness.sureness(beside, ours, selection)[0])


def test_a_row_far_from_a_limit_is_sure_and_one_at_it_is_not() -> None:
    random = np.random.default_rng(3)
    ours = runs((100 + 3 * random.standard_normal(20)).round().tolist())
    mean = ours[SIGNAL_DELAY].mean()
    assert sure(ours, mean) > 0.9
    assert sure(ours, 2 * mean) == 1
    assert sure(ours, mean / 1.05) < 0.9  # close or within our spread


def test_near_by_print_or_within_our_spread() -> None:
    ours = runs([96.0, 98, 100, 102, 104])
    assert nearness.nearness(rows(ours, 100))[0] == "reproduced"
    assert nearness.nearness(rows(ours, 104))[0] == "close"
    assert nearness.nearness(rows(ours, 114))[0] == WITHIN_SPREAD
    assert nearness.nearness(rows(ours, 140))[0] == "off"
    assert nearness.nearness(rows(ours, 90, step=10))[0] == "reproduced"  # 99.9, cut off


def test_of_several_settings_the_nearest_has_the_spread() -> None:
    ours = runs([90.0, 136.0, 142.0])
    ours["constants"] = ['{"a": 1}', '{"a": 2}', '{"a": 2}']
    found = rows(ours, 125)
    assert (found["runs"][0], found["settings"][0], found["nearest"][0]) == (2, 2, "a 2")
    assert nearness.nearness(found)[0] == WITHIN_SPREAD

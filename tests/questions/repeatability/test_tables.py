import math
from dataclasses import replace

import pandas as pd
import pytest

from kneepoint.analysis.frames import select
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY
from kneepoint.questions.repeatability import tables as repeatability
from tests.analysis import synthetic


def test_published_means_have_a_difference_and_z() -> None:
    made = [synthetic.run_row("fixed_window", {"window": 12}, p, 100.0) for p in (1.0, 1.2, 1.4)]
    runs = pd.DataFrame(made).assign(setting="a", whose="emulator", label="A")
    published = pd.DataFrame(
        {
            **{"whose": "emulator", "setting": "a", "metric": [POWER, SIGNAL_DELAY]},
            "published_mean": [10.0, 100.0],
            "published_standard_deviation": [2.0, math.nan],
            "published_n": [3, 5],
        }
    )
    tables = {
        "repeatability_runs": runs[["whose", "setting", "label", *METRICS]],
        "repeatability_published": published,
    }
    found = repeatability.beside_published(tables)
    assert found["relative"].tolist() == pytest.approx([0.2, 0.0])
    assert found["z"].tolist() == pytest.approx(
        [2 / math.sqrt(4 / 3 + 4 / 3), math.nan], nan_ok=True
    )


def test_a_setting_that_was_repeated_twice_is_one_with_all_that_was_published_of_it() -> None:
    once = synthetic.repeats()
    again = replace(
        once, name="again", runs=once.runs.replace({"setting": {"windows:0": "again:0"}})
    )
    again = replace(again, runs=again.runs[again.runs["setting"] == "again:0"])
    found = repeatability.compute(synthetic.MadeUp(repeats=(once, again)), {})
    told = repeatability.beside_published(found)
    powers = select(told, metric="power", setting="windows:0")
    assert powers["n"].tolist() == [20, 20] and powers["mean"].nunique() == 1
    assert set(told["setting"]) == {"windows:0", "windows:1"}

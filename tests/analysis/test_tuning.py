import json
import math

import pandas as pd
import pytest

from analysis import tuning
from analysis.frames import records
from tests.analysis import synthetic


def test_best_printed_takes_the_reports_at_their_word() -> None:
    published = pd.DataFrame(
        {
            "controller": ["a", "a", "a", "b", "a", "c"],
            "network": ["here"] * 4 + ["there", "here"],
            "table": ["one", "one", "two", "two", "three", "four"],
            "row": [0, 1, 0, 1, 0, 0],
            "power": [3.0, 9.0, 9.0, 4.0, 99.0, math.nan],
        }
    )
    best = tuning.best_printed(published, "here")
    assert best["controller"].tolist() == ["a", "b"]
    assert best[["table", "row", "power"]].to_numpy().tolist() == [["one", 1, 9.0], ["two", 1, 4.0]]
    assert tuning.best_printed(pd.DataFrame({"table": []}), "here").empty


def test_the_stage_has_a_row_for_each_tuned_controller() -> None:
    found = synthetic.analysed(synthetic.results(), "elsewhere")["tuning"]
    fixed, threshold, aimd = records(found)
    assert (fixed["controller"], fixed["gain"]) == ("fixed_window", 0)
    assert threshold["gain"] == pytest.approx(27 / 22 - 1, rel=1e-3)
    assert json.loads(threshold["tuned_constants"])["alpha"] == 2
    assert threshold["trials"] == 120
    assert aimd["published_constants"] is None
    assert math.isnan(aimd["published_power"])
    assert math.isnan(aimd["gain"])
    assert aimd["printed_table"] == "000-aimd-grid"

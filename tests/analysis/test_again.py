"""What further real runs say of what the emulator does not predict."""

import pandas as pd
import pytest

from analysis.metrics import POWER, THROUGHPUT
from tests.analysis import synthetic, synthetic_real


@pytest.fixture(scope="module")
def emulated() -> pd.DataFrame:
    """The emulator is off by 5 % of one setting."""
    runs = synthetic_real.runs(30, seed=4)
    runs.loc[runs["trial"] == 3, [THROUGHPUT, POWER]] *= 1.05
    return runs


@pytest.mark.parametrize(("factor", "why"), [(1.05, "not again"), (1.0, "unexplained")])
def test_further_runs_tell_chance_from_what_lasts(
    emulated: pd.DataFrame, factor: float, why: str
) -> None:
    again = synthetic_real.runs(3, seed=5, factor=factor)
    again = again[again["trial"] == 3]
    found = synthetic.analysed(
        synthetic_real.results(emulated=emulated, again=again), "agreement", "again"
    )
    rows = found["again"].set_index(["trial", "metric"])
    assert rows["why"][3, THROUGHPUT] == why
    assert rows["again_n"][3, THROUGHPUT] == 3
    assert rows["again_mean"][3, THROUGHPUT] == again[THROUGHPUT].mean()


def test_without_further_runs_the_reasons_stay(emulated: pd.DataFrame) -> None:
    found = synthetic.analysed(synthetic_real.results(emulated=emulated), "agreement", "again")
    assert found["again"]["again_mean"].isna().all()
    assert "unexplained" in set(found["again"]["why"])

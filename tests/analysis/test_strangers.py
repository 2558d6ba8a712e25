"""What `python -m tests.benchmarks.strangers` measures, short, and the whole way of its rows."""

import pytest

from analysis.metrics import SIGNAL_DELAY
from tests.benchmarks import planted, strangers

pytestmark = pytest.mark.slow
PRINTINGS = 8


def test_few_honest_rows_are_accused_and_none_is_contradicted() -> None:
    found = strangers.judged(PRINTINGS, seed=1)
    assert len(found) == PRINTINGS * len(strangers.rows())
    assert found["verdict"].isin(strangers.ALARMS).mean() <= 0.02  # of 2,000 tables 0.34 %
    assert not (found["verdict"] == "contradicted").any()


def test_a_number_that_is_8_percent_off_is_contradicted_where_its_table_is_near() -> None:
    found = strangers.judged(PRINTINGS, seed=2, size=0.08)
    near = found[found["table"].str.startswith("901") & found["spoiled"]]
    assert len(near) == PRINTINGS
    assert (near["verdict"] == "contradicted").all()
    assert near["checks"].str.contains("replay").all()
    assert not (found.loc[~found["spoiled"], "verdict"] == "contradicted").any()


def test_runs_added_for_a_table_that_varies_more_are_not_pooled() -> None:
    found = planted.verdicts(strangers.rows(), strangers.pool(), seed=1, wrong=False)
    assert set(found["settings"]) == {1}
    of_first = found[found["table"] == "901-increase"]
    assert (of_first[f"deviation_{SIGNAL_DELAY}"] < 0.02 * of_first[f"ours_{SIGNAL_DELAY}"]).all()
    assert not found["verdict"].isin(strangers.ALARMS).any()

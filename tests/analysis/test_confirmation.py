import math

import pandas as pd
import pytest

from analysis import confirmation
from analysis.metrics import POWER
from tests.analysis import synthetic, synthetic_real


@pytest.mark.parametrize(
    ("published", "emulated", "real", "said"),
    [
        (142, 212, 213, confirmation.CONFIRMED),
        (213, 150, 212, confirmation.REFUTED),
        (22.26, 22.9, 22.8, confirmation.TOO_NEAR),
        (100, 300, 200, confirmation.CONFIRMED),  # nearer to the emulator's, if not near
        (150, 300, 200, confirmation.NEITHER),
        (math.nan, 212, 213, ""),
        (142, math.nan, 213, ""),
    ],
)
def test_verdict(published: float, emulated: float, real: float, said: str) -> None:
    assert confirmation.verdict(published, emulated, real, "neighbours, replay") == said


def test_verdict_leaves_arithmetic_alone() -> None:
    assert confirmation.verdict(20, 30, 31, "arithmetic") == confirmation.BY_ARITHMETIC
    assert confirmation.verdict(20, 30, 31, "arithmetic, replay") == confirmation.CONFIRMED


def tables() -> dict[str, pd.DataFrame]:
    return synthetic.analysed(synthetic_real.results(), "audit", "agreement")


def test_best_settings_know_what_was_published() -> None:
    rows = confirmation.best(tables())
    assert rows["origin"].tolist() == ["published", "tuned", "published", "tuned", "tuned"]
    published = synthetic.published_rows()
    row = published[(published["table"] == "004-fixed-window") & (published["row"] == 3)].iloc[0]
    assert rows["published"][0] == row[POWER]
    assert rows["published"][1:].isna().all()
    assert rows["from_published"][0] == rows["real_mean"][0] / row[POWER] - 1

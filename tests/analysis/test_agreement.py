import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from analysis import agreement
from analysis.frames import records
from analysis.metrics import METRICS, POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from tests.analysis import synthetic, synthetic_real
from tests.analysis.synthetic import run_row

WINDOW = {"window": 12.0}
SETTINGS = pd.DataFrame(
    {"trial": [7], "controller": ["fixed_window"], "constants": ['{"window": 12.0}']}
)


def frame(pairs: Sequence[tuple[float, float]]) -> pd.DataFrame:
    rows = [
        run_row("fixed_window", WINDOW, throughput, delay, run=i)
        for i, (throughput, delay) in enumerate(pairs)
    ]
    return pd.DataFrame(rows, columns=list(run_row("fixed_window", WINDOW, 1.0, 1.0)))


def row_of(rows: pd.DataFrame, metric: str) -> pd.Series:
    return rows[rows["metric"] == metric].iloc[0]


# The emulator against real mahimahi -----------------------------------------------------------


def test_prediction_interval_worked_by_hand() -> None:
    # mean 4, s = 2, t(0.995, 2) = 9.9248: half = 9.9248 * 2 * sqrt(1/3 + 1/3) = 16.207
    low, high = agreement.prediction_interval(pd.Series([2.0, 4.0, 6.0]), 3)
    assert (low, high) == pytest.approx((4 - 16.2072, 4 + 16.2072), abs=1e-3)
    # one further run: sqrt(1/3 + 1) in place of sqrt(2/3)
    _, high = agreement.prediction_interval(pd.Series([2.0, 4.0, 6.0]), 1)
    assert high == pytest.approx(4 + 9.9248 * 2 * math.sqrt(4 / 3), abs=1e-3)


def test_beside_real_worked_by_hand() -> None:
    real = frame([(2.0, 100), (2.2, 100), (2.4, 103)])
    emulated = frame([(2.0, 98), (2.2, 100), (2.4, 102)])
    rows = agreement.beside_real(SETTINGS, real, emulated)
    assert rows["metric"].tolist() == list(METRICS)
    assert set(rows["trial"]) == {7}
    throughput = row_of(rows, THROUGHPUT)
    assert throughput["real_mean"] == pytest.approx(2.2)
    # s = 0.2, t(0.975, 2) = 4.3027: half = 4.3027 * 0.2 / sqrt(3)
    assert throughput["real_high"] - 2.2 == pytest.approx(4.3027 * 0.2 / math.sqrt(3), abs=1e-4)
    assert throughput["expected_high"] - 2.2 == pytest.approx(1.62072, abs=1e-4)
    assert (throughput["difference"], throughput["relative"]) == pytest.approx((0, 0))
    assert throughput["inside"]
    delay = row_of(rows, SIGNAL_DELAY)
    assert delay["real_mean"] == pytest.approx(101)
    assert delay["difference"] == pytest.approx(-1)
    assert delay["relative"] == pytest.approx(-1 / 101)
    assert delay["expected_high"] - 100 == pytest.approx(16.2072 + 0.5, abs=1e-3)


def test_beside_real_adds_what_rounding_hides() -> None:
    """Whole milliseconds that never vary do not mean that the next one cannot be another."""
    emulated = frame([(2.0, 100)] * 30)
    rows = agreement.beside_real(SETTINGS, frame([(2.0, 100), (2.0, 100), (2.0, 101)]), emulated)
    delay, power = row_of(rows, SIGNAL_DELAY), row_of(rows, POWER)
    assert (delay["expected_low"], delay["expected_high"]) == pytest.approx((99.5, 100.5))
    assert delay["inside"]
    assert power["expected_high"] - 20 == pytest.approx(20 * 0.5 / 100)
    assert power["inside"]
    rows = agreement.beside_real(SETTINGS, frame([(2.0, 101)] * 3), emulated)
    assert not row_of(rows, SIGNAL_DELAY)["inside"]
    assert row_of(rows, THROUGHPUT)["inside"]


def test_beside_real_leaves_failed_and_foreign_runs_out() -> None:
    real = frame([(2.0, 100), (2.2, 100)])
    failed = synthetic.failed_row("fixed_window", WINDOW, "it crashed")
    foreign = run_row("fixed_window", {"window": 13.0}, 9.0, 900)
    real = pd.concat([real, pd.DataFrame([failed, foreign])], ignore_index=True)
    row = row_of(agreement.beside_real(SETTINGS, real, frame([(2.0, 99)] * 3)), THROUGHPUT)
    assert (row["real_n"], row["real_mean"]) == (2, pytest.approx(2.1))


@pytest.mark.parametrize("emulated", [None, frame([])])
def test_beside_real_without_the_emulator_judges_nothing(emulated: pd.DataFrame | None) -> None:
    rows = agreement.beside_real(SETTINGS, frame([(2.0, 100)] * 3), emulated)
    assert rows["inside"].isna().all()
    assert rows["relative"].isna().all()
    assert row_of(rows, THROUGHPUT)["real_mean"] == 2


def test_accuracy_counts_what_was_not_fitted() -> None:
    settings = (
        ("a", ("calibration", "tuned"), 0.5),
        ("a", ("listed",), 0.01),
        ("b", ("tuned",), -0.03),
        ("c", ("tuned",), math.nan),
    )
    rows = pd.DataFrame(
        {"trial": trial, "controller": controller, "origins": origins, "metric": metric}
        | {"relative": error, "difference": 200 * error, "inside": True}
        for trial, (controller, origins, error) in enumerate(settings)
        for metric in METRICS
    )
    (found,) = records(agreement.accuracy({"agreement": rows}))
    assert (found["settings"], found["controllers"]) == (2, 2)
    assert found[f"error_{THROUGHPUT}"] == pytest.approx(0.02)
    assert found[f"error_{QUEUEING_DELAY}"] == pytest.approx(0.02)
    assert found["delay_ms"] == pytest.approx(4)
    assert (found["judged"], found["expected_outside"]) == (16, pytest.approx(0.16))


# The stage ------------------------------------------------------------------------------------


def stage(**more: Any) -> dict[str, pd.DataFrame]:
    return synthetic.analysed(synthetic_real.results(**more), "agreement")


def test_settings_are_named_by_what_differs() -> None:
    found = stage()
    settings = agreement.settings(found).set_index("label")
    assert settings.index.tolist() == [
        "fixed window 5",
        "fixed window 12",
        "fixed window 40",
        "delay threshold 10",
        "delay threshold 7",
        "delay threshold tuned",
        "rocinante tuned",
    ]
    (summary,) = records(agreement.accuracy(found))
    assert (summary["settings"], summary["controllers"]) == (5, 3)


def test_what_lies_outside_is_named_with_its_reason() -> None:
    emulated = synthetic_real.runs(30, seed=4)
    emulated.loc[emulated["trial"] == 3, THROUGHPUT] *= 1.05
    rows = stage(emulated=emulated)["agreement"]
    outside = rows[rows["inside"].eq(False) & (rows["metric"] == THROUGHPUT)]
    assert outside["trial"].tolist() == [3]
    assert outside["why"].tolist() == ["unexplained"]
    assert (rows.loc[~rows["inside"].eq(False), "why"] == "").all()

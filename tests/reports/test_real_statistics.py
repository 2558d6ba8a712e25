import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from reports import real_statistics as statistics
from reports.metrics import METRICS, POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from reports.real_results import Probe
from tests.reports import synthetic
from tests.reports.synthetic import run_row

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


# The emulator beside real mahimahi ------------------------------------------------------------


def test_prediction_interval_worked_by_hand() -> None:
    # mean 4, s = 2, t(0.995, 2) = 9.9248: half = 9.9248 * 2 * sqrt(1/3 + 1/3) = 16.207
    low, high = statistics.prediction_interval(pd.Series([2.0, 4.0, 6.0]), 3)
    assert (low, high) == pytest.approx((4 - 16.2072, 4 + 16.2072), abs=1e-3)
    # one further run: sqrt(1/3 + 1) in place of sqrt(2/3)
    _, high = statistics.prediction_interval(pd.Series([2.0, 4.0, 6.0]), 1)
    assert high == pytest.approx(4 + 9.9248 * 2 * math.sqrt(4 / 3), abs=1e-3)


@pytest.mark.parametrize(("values", "runs"), [([], 3), ([1.0], 3), ([1.0, 2.0], 0)])
def test_prediction_interval_needs_spread_and_runs(values: list[float], runs: int) -> None:
    assert all(
        map(math.isnan, statistics.prediction_interval(pd.Series(values, dtype=float), runs))
    )


def test_prediction_interval_holds_as_often_as_it_says() -> None:
    random = np.random.default_rng(11)
    inside = []
    for _ in range(4000):
        low, high = statistics.prediction_interval(pd.Series(random.normal(size=30)), 3)
        inside.append(low <= random.normal(size=3).mean() <= high)
    assert np.mean(inside) == pytest.approx(0.99, abs=0.005)


def test_beside_real_worked_by_hand() -> None:
    real = frame([(2.0, 100), (2.2, 100), (2.4, 103)])
    emulated = frame([(2.0, 98), (2.2, 100), (2.4, 102)])
    rows = statistics.beside_real(SETTINGS, real, emulated)
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
    rows = statistics.beside_real(SETTINGS, frame([(2.0, 100), (2.0, 100), (2.0, 101)]), emulated)
    delay, power = row_of(rows, SIGNAL_DELAY), row_of(rows, POWER)
    assert (delay["expected_low"], delay["expected_high"]) == pytest.approx((99.5, 100.5))
    assert delay["inside"]
    assert power["expected_high"] - 20 == pytest.approx(20 * 0.5 / 100)
    assert power["inside"]
    rows = statistics.beside_real(SETTINGS, frame([(2.0, 101)] * 3), emulated)
    assert not row_of(rows, SIGNAL_DELAY)["inside"]
    assert row_of(rows, THROUGHPUT)["inside"]


def test_beside_real_leaves_failed_and_foreign_runs_out() -> None:
    real = frame([(2.0, 100), (2.2, 100)])
    failed = synthetic.failed_row("fixed_window", WINDOW, "it crashed")
    foreign = run_row("fixed_window", {"window": 13.0}, 9.0, 900)
    real = pd.concat([real, pd.DataFrame([failed, foreign])], ignore_index=True)
    row = row_of(statistics.beside_real(SETTINGS, real, frame([(2.0, 99)] * 3)), THROUGHPUT)
    assert (row["real_n"], row["real_mean"]) == (2, pytest.approx(2.1))


@pytest.mark.parametrize("emulated", [None, frame([])])
def test_beside_real_without_the_emulator_judges_nothing(emulated: pd.DataFrame | None) -> None:
    rows = statistics.beside_real(SETTINGS, frame([(2.0, 100)] * 3), emulated)
    assert rows["inside"].isna().all()
    assert rows["relative"].isna().all()
    assert row_of(rows, THROUGHPUT)["real_mean"] == 2


def test_beside_real_without_a_real_run_judges_nothing() -> None:
    rows = statistics.beside_real(SETTINGS, frame([]), frame([(2.0, 100), (2.1, 101)]))
    assert rows["inside"].isna().all()


def test_accuracy_counts_what_was_not_fitted() -> None:
    settings = pd.DataFrame(
        {
            "trial": [0, 1, 2, 3],
            "controller": ["a", "a", "b", "c"],
            "origins": [("calibration", "tuned"), ("listed",), ("tuned",), ("tuned",)],
        }
    )
    errors = {0: 0.5, 1: 0.01, 2: -0.03, 3: math.nan}
    rows = pd.DataFrame(
        [
            {"trial": t, "metric": m, "relative": error, "difference": 200 * error}
            for t, error in errors.items()
            for m in METRICS
        ]
    )
    found = statistics.accuracy(settings, rows)
    assert (found.settings, found.controllers) == (2, 2)
    assert found.relative[THROUGHPUT] == pytest.approx(0.02)
    assert found.relative[QUEUEING_DELAY] == pytest.approx(0.02)
    assert found.delay_ms == pytest.approx(4)
    assert found.meets == {THROUGHPUT: False, SIGNAL_DELAY: True}


def test_accuracy_is_met_by_milliseconds_as_well() -> None:
    relative = dict.fromkeys(METRICS, 0.03)
    assert statistics.Accuracy(1, 1, relative, 2.9).meets[SIGNAL_DELAY]
    assert not statistics.Accuracy(1, 1, relative, 3.1).meets[SIGNAL_DELAY]


# Published rows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "emulated", "real", "said"),
    [
        (142, 212, 213, statistics.CONFIRMED),
        (213, 150, 212, statistics.REFUTED),
        (22.26, 22.9, 22.8, statistics.TOO_NEAR),
        (100, 300, 200, statistics.CONFIRMED),  # nearer to the emulator's, if not near
        (150, 300, 200, statistics.NEITHER),
        (math.nan, 212, 213, ""),
        (142, math.nan, 213, ""),
    ],
)
def test_verdict(published: float, emulated: float, real: float, said: str) -> None:
    assert statistics.verdict(published, emulated, real, "neighbours, replay") == said


def test_verdict_leaves_arithmetic_alone() -> None:
    assert statistics.verdict(20, 30, 31, "arithmetic") == statistics.BY_ARITHMETIC
    assert statistics.verdict(20, 30, 31, "arithmetic, replay") == statistics.CONFIRMED


# Runs side by side ----------------------------------------------------------------------------


def test_probe_levels_worked_by_hand() -> None:
    lone = [(2.0, 100.0, 100.0), (4.0, 100.0, 200.0)]
    together = [(3.0, 110.0, 900.0), (3.3, 90.0, 50.0)]
    rows = [
        run_row("c", {}, throughput, delay, trial=level, run=i, scheduling_delay_p99_us=late)
        for level, runs in enumerate((lone, together))
        for i, (throughput, delay, late) in enumerate(runs)
    ]
    rows.append({**synthetic.failed_row("c", {}, "port taken"), "trial": 1, "run": 2})
    levels = pd.DataFrame(
        {"level": [0, 1], "concurrency": [1, 3], "agrees": [True, False], "reason": ["", "x"]}
    )
    found = statistics.probe_levels(Probe(1, 4, 1000.0, levels, pd.DataFrame(rows)))
    assert found["runs"].tolist() == [2, 2]
    assert found["failed"].tolist() == [0, 1]
    assert found[f"relative_{THROUGHPUT}"].tolist() == pytest.approx([0, 0.05])
    assert found[f"furthest_{THROUGHPUT}"].tolist() == pytest.approx([1 / 3, 0.1])
    assert found[f"furthest_{SIGNAL_DELAY}"].tolist() == pytest.approx([0, 0.1])
    assert found["scheduling_delay_p99_us"].tolist() == [200, 900]


def test_probe_levels_keep_a_level_whose_runs_all_failed() -> None:
    rows = [run_row("c", {}, 2.0, 100.0, scheduling_delay_p99_us=1.0)]
    rows.append({**synthetic.failed_row("c", {}, "port taken"), "trial": 1})
    levels = pd.DataFrame(
        {"level": [0, 1], "concurrency": [1, 2], "agrees": [True, False], "reason": ["", "x"]}
    )
    found = statistics.probe_levels(Probe(1, 4, 1000.0, levels, pd.DataFrame(rows)))
    assert found["runs"].tolist() == [1, 0]
    assert math.isnan(found["scheduling_delay_p99_us"][1])

"""The emulator against real mahimahi, and rows that real runs confirm."""

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis.frames import records
from kneepoint.analysis.metrics import METRICS, POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from kneepoint.questions.real import tables
from tests.analysis import synthetic
from tests.analysis.synthetic import run_row
from tests.questions.real import made_up

WINDOW = {"window": 12.0}
SETTINGS = pd.DataFrame(
    {"trial": [7], "controller": ["fixed_window"], "parameters": ['{"window": 12.0}']}
)


def frame(pairs: Sequence[tuple[float, float]]) -> pd.DataFrame:
    rows = [run_row("fixed_window", WINDOW, *pair, run=i) for i, pair in enumerate(pairs)]
    return pd.DataFrame(rows, columns=list(run_row("fixed_window", WINDOW, 1.0, 1.0)))


def compared(real: pd.DataFrame, emulated: pd.DataFrame | None) -> "dict[str, pd.Series[Any]]":
    """Returns the row of each metric."""
    rows = tables.beside_real(SETTINGS, real, emulated)
    assert set(rows["trial"]) == {7}
    return {metric: row for metric, (_, row) in zip(METRICS, rows.iterrows(), strict=True)}


def test_beside_real_worked_by_hand() -> None:
    emulated = frame([(2.0, 98), (4.0, 100), (6.0, 102)])
    found = compared(frame([(2.0, 100), (2.2, 100), (2.4, 103)]), emulated)
    throughput, delay = found[THROUGHPUT], found[SIGNAL_DELAY]
    assert throughput["real_mean"] == pytest.approx(2.2)
    # s = 0.2, t(0.975, 2) = 4.3027: half = 4.3027 * 0.2 / sqrt(3)
    assert throughput["real_high"] - 2.2 == pytest.approx(4.3027 * 0.2 / math.sqrt(3), abs=1e-4)
    # mean 4, s = 2, t(0.995, 2) = 9.9248: half = 9.9248 * 2 * sqrt(1/3 + 1/3)
    assert throughput["expected_high"] == pytest.approx(4 + 16.2072, abs=1e-3)
    assert throughput["inside"]
    assert (delay["real_mean"], delay["difference"]) == (pytest.approx(101), pytest.approx(-1))
    assert delay["relative"] == pytest.approx(-1 / 101)
    # one further run: sqrt(1/3 + 1) instead of sqrt(2/3)
    further = compared(frame([(2.0, 100)]), emulated)[THROUGHPUT]["expected_high"]
    assert further == pytest.approx(4 + 9.9248 * 2 * math.sqrt(4 / 3), abs=1e-3)


def test_beside_real_adds_what_rounding_hides() -> None:
    emulated = frame([(2.0, 100)] * 30)
    found = compared(frame([(2.0, 100), (2.0, 100), (2.0, 101)]), emulated)
    delay, power = found[SIGNAL_DELAY], found[POWER]
    assert (delay["expected_low"], delay["expected_high"]) == pytest.approx((99.5, 100.5))
    assert power["expected_high"] - 20 == pytest.approx(20 * 0.5 / 100)
    assert delay["inside"] and power["inside"]
    found = compared(frame([(2.0, 101)] * 3), emulated)
    assert found[THROUGHPUT]["inside"] and not found[SIGNAL_DELAY]["inside"]


def test_beside_real_leaves_failed_and_foreign_runs_out() -> None:
    failed = synthetic.failed_row("fixed_window", WINDOW, "it crashed")
    foreign = run_row("fixed_window", {"window": 13.0}, 9.0, 900)
    real = pd.concat([frame([(2.0, 100), (2.2, 100)]), pd.DataFrame([failed, foreign])])
    row = compared(real, frame([(2.0, 99)] * 3))[THROUGHPUT]
    assert (row["real_n"], row["real_mean"]) == (2, pytest.approx(2.1))
    for nothing in (None, frame([])):  # without the emulator's runs, no judgement
        row = compared(real, nothing)[THROUGHPUT]
        assert pd.isna(row["inside"]) and pd.isna(row["relative"]) and row["real_n"] == 2


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
    (found,) = records(tables.accuracy({"agreement": rows}))
    assert (found["settings"], found["controllers"]) == (2, 2)
    for metric in (THROUGHPUT, QUEUEING_DELAY):
        assert found[f"error_{metric}"] == pytest.approx(0.02)
    assert found["delay_ms"] == pytest.approx(4)
    assert (found["judged"], found["expected_outside"]) == (16, pytest.approx(0.16))


# The stages -----------------------------------------------------------------------------------


def stage(*stages: str, **more: Any) -> dict[str, pd.DataFrame]:
    return synthetic.analysed(made_up.results(**more), *stages)


def test_settings_are_named_by_what_differs() -> None:
    names = tables.settings(stage("real")).groupby("controller")["name"].agg(list)
    assert names.to_dict() == {
        "fixed_window": ["5", "12", "40"],
        "delay_threshold": ["10", "7", "tuned"],
        "rocinante": ["tuned"],
    }


@pytest.mark.parametrize(
    ("factor", "late_us", "why"),
    [
        (1.05, 200, "unexplained"),
        (1.05, 900, tables.BUSIER),
        (0.95, 50, tables.QUIETER),
        (0.95, 900, "unexplained"),
        (1.009, 900, tables.SMALL),
    ],
)
def test_what_lies_outside_is_named_with_its_reason(factor: float, late_us: int, why: str) -> None:
    emulated, real = made_up.runs(30, seed=4), made_up.confirmation()
    emulated.loc[emulated["trial"] == 3, THROUGHPUT] *= factor
    real.runs.loc[real.runs["trial"] == 3, "scheduling_delay_p99_us"] = late_us
    rows = stage("real", agreement=emulated, confirmation=real)["agreement"]
    outside = rows[rows["inside"].eq(False) & (rows["metric"] == THROUGHPUT)]
    assert outside[["trial", "why"]].to_numpy().tolist() == [[3, why]]
    assert (rows.loc[~rows["inside"].eq(False), "why"] == "").all()


@pytest.mark.parametrize(
    ("published", "emulated", "real", "checks", "said"),
    [
        (142, 212, 213, "neighbours, replay", tables.CONFIRMED),
        (213, 150, 212, "replay", tables.REFUTED),
        (22.26, 22.9, 22.8, "replay", tables.TOO_NEAR),
        (
            100,
            300,
            200,
            "replay",
            tables.CONFIRMED,
        ),  # nearer to the emulator's mean, though not near
        (150, 300, 200, "replay", tables.NEITHER),
        (math.nan, 212, 213, "replay", ""),
        (142, math.nan, 213, "replay", ""),
        (20, 30, 31, "arithmetic", tables.BY_ARITHMETIC),
        (20, 30, 31, "arithmetic, replay", tables.CONFIRMED),
    ],
)
def test_a_real_run_confirms_a_contradiction_or_does_not(
    published: float, emulated: float, real: float, checks: str, said: str
) -> None:
    assert tables.verdict(published, emulated, real, checks) == said

"""How well a table determines parameters, on fits with a known answer."""

import math

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis.frames import Record, records
from kneepoint.analysis.metrics import METRICS
from kneepoint.analysis.recovery import (
    DRAWS,
    alike,
    disagreements,
    draw_rows,
    recovered,
    recovery,
    row_losses,
)
from kneepoint.analysis.results import Searched, StudyRuns
from kneepoint.common.study_record import BestTrial, StudyRecord
from kneepoint.config.study import Fit, Study
from kneepoint.search.objective import MISFIT_SCALE

LIMIT = Searched("limit_ms", 50, 500)
USELESS = Searched("useless", 0.01, 100, logarithmic=True)
SLOPES = np.linspace(0.5, 2, 20)


def runs_of(trials: dict[int, dict[int, float]]) -> pd.DataFrame:
    """Runs of trial -> row -> power, throughput power/10 and delay 100."""
    lines = [
        {**dict.fromkeys(METRICS, math.nan), "trial": trial, "row": row, "status": "ok"}
        | {"power": power, "throughput_mbps": power / 10, "signal_delay_p95_ms": 100.0}
        for trial, rows in trials.items()
        for row, power in rows.items()
    ]
    return pd.DataFrame(lines)


def printed(powers: list[float], table: str = "t") -> pd.DataFrame:
    rows = range(len(powers))
    return pd.DataFrame({"table": table, "row": rows, "line": rows, "power": powers})


def fit(wrong_row: float = 1.0) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """A table that a limit of 200 ms explains, and a second parameter without effect."""
    random = np.random.default_rng(1)
    limits = random.uniform(50, 500, 300)
    trials = pd.DataFrame({"trial": range(300), "parameter_limit_ms": limits})
    trials["parameter_useless"] = 10 ** random.uniform(-2, 2, 300)
    runs = {
        trial: {
            row: 20 * (limit / 200) ** slope * random.normal(1, 0.01)
            for row, slope in enumerate(SLOPES)
        }
        for trial, limit in enumerate(limits)
    }
    powers = [20 * random.normal(1, 0.01) for _ in SLOPES]
    powers[3] *= wrong_row
    return trials, runs_of(runs), printed(powers)


def found(
    trials: pd.DataFrame, runs: pd.DataFrame, published: pd.DataFrame, *searched: Searched
) -> list[Record]:
    losses = row_losses(runs, published, robust=True)
    return records(recovered(trials, losses, published, searched or (LIMIT, USELESS), seed=1))


def test_row_losses_by_hand() -> None:
    runs = runs_of({0: {0: 10.0, 1: 11.0}, 1: {0: 20.0, 1: 10.0}})
    losses = row_losses(runs, printed([10.0, 10.0]), robust=True)
    assert losses[0].tolist() == pytest.approx([0, math.log(2) - MISFIT_SCALE / 2])
    assert losses[1].tolist() == pytest.approx([math.log(1.1) - MISFIT_SCALE / 2, 0])
    both = printed([99.0]).assign(throughput_mbps=1.0)  # power counts only if it is the only metric
    assert row_losses(runs[:1], both, robust=True)[0].tolist() == [0]


@pytest.mark.parametrize("wrong_row", [1.0, 3.0, 0.2])
def test_a_table_pins_down_what_matters(wrong_row: float) -> None:
    limit, useless = found(*fit(wrong_row))
    assert limit["verdict"] == "pinned down" != useless["verdict"]
    assert limit["pinned_low"] <= 203 and limit["pinned_high"] >= 197
    assert limit["best"] == pytest.approx(200, rel=0.03)


def test_what_changes_nothing_is_left_free_and_one_row_cannot_tell() -> None:
    trials, runs, published = fit()
    (limit,) = found(trials, runs, published.head(1), LIMIT)
    assert limit["verdict"] == "one row cannot tell" and math.isnan(limit["pinned_low"])
    runs["power"] = 20 * np.random.default_rng(2).normal(1, 0.01, len(runs))
    assert [each["verdict"] for each in found(trials, runs, published)] == ["left free"] * 2


@pytest.mark.parametrize(
    ("low", "least", "verdict"),
    [
        (200, 50, "at the edge of its range"),  # 100 may be better
        (200, 200, "pinned down"),  # no value beyond is possible
        (50, 0, "pinned down"),
    ],
)
def test_a_best_value_at_the_edge_of_its_range_is_not_pinned_down(
    low: float, least: float, verdict: str
) -> None:
    trials, runs, published = fit()
    trials = pd.concat([trials, trials.head(1).assign(trial=300, parameter_limit_ms=200.0)])
    exact = runs[runs["trial"] == 0].assign(trial=300, power=published["power"].to_numpy())
    limit = Searched("limit_ms", low, 500, min=least)
    (line,) = found(trials, pd.concat([runs, exact]), published, limit)
    assert (line["best"], line["verdict"]) == (200, verdict)


# Draws ----------------------------------------------------------------------------------------


def grid(low: int, high: int) -> pd.DataFrame:
    cells = [(x, y) for x in range(low) for y in range(high)]
    table = pd.DataFrame(cells, columns=["parameter_x", "parameter_y"])
    return table.assign(table="t", parameter_z=1.0)


@pytest.mark.parametrize(
    "published", [printed([1.0] * 20), grid(4, 5), grid(3, 7).drop(index=7)], ids=len
)
def test_a_draw_holds_as_many_rows_as_the_table(published: pd.DataFrame) -> None:
    drawn = draw_rows(published, 1)
    assert drawn.shape == (DRAWS, 20)
    assert drawn.sum(axis=1) == pytest.approx(np.ones(DRAWS))
    assert 20 * drawn == pytest.approx(np.rint(20 * drawn))


def test_rows_are_drawn_from_each_table_apart_and_tables_count_alike() -> None:
    drawn = draw_rows(pd.concat([printed([1.0] * 5), printed([1.0], "other")]), 1)
    assert drawn[:, :5].sum(axis=1) == pytest.approx(np.ones(DRAWS))
    assert (drawn[:, 5] == 1).all()


def test_of_a_grid_the_values_are_drawn() -> None:
    held = 20 * draw_rows(grid(4, 5), 1).reshape(DRAWS, 4, 5)
    rows, columns = held.sum(axis=2) / 5, held.sum(axis=1) / 4
    assert np.allclose(held, rows[:, :, None] * columns[:, None, :])


def test_errors_that_a_column_shares_count_once() -> None:
    """Twenty cells in two columns that contradict each other are worth two cells."""
    table = grid(10, 2)
    wrong = {0: {0: 0.0, 1: 0.5}, 1: {0: 0.2, 1: 0.0}}
    losses = pd.DataFrame({trial: table["parameter_y"].map(of) for trial, of in wrong.items()}).T
    assert alike(losses, 1, draw_rows(table, 1)) == [0, 1]
    assert alike(losses, 1, draw_rows(table[["table", "parameter_z"]], 1)) == [1]
    # A trial that every row contradicts is not alike.
    losses = pd.DataFrame(np.array([[0.1] * 8, [0.11] * 8, [0.05] * 4 + [0.16] * 4]))
    assert alike(losses, 0, draw_rows(printed([1.0] * 8), 1)) == [0, 2]


def test_a_fit_has_intervals_and_rows() -> None:
    trials, runs, _ = fit()
    values = np.abs(np.log(trials["parameter_limit_ms"] / 200))
    about: Record = {"title": "A fit", "controller": "c", "networks": ("contest",)}
    config = Study.model_construct(**about, objective=Fit(fit=("t",)))
    record = StudyRecord("A fit", "fit", 1, len(trials), BestTrial(0, 0.0, {}, {}))
    study = StudyRuns("fit", config, (LIMIT,), record, trials.assign(value=values), runs)
    published = printed([20.0] * 20).assign(replayable=True, parameter_window=1.0)
    (line,) = records(recovery(study, published))
    assert (line["parameter"], line["fitted_rows"]) == ("limit_ms", 20)
    assert line["pinned_low"] <= line["best"] <= line["pinned_high"]
    rows = disagreements(study, published)
    assert rows["line"].tolist() == list(range(1, 21))
    best = runs[runs["trial"] == values.idxmin()]
    assert rows["relative_power"].tolist() == pytest.approx((best["power"] / 20 - 1).tolist())
    assert set(rows["ours_signal_delay_p95_ms"]) == {100}
    assert rows["relative_throughput_mbps"].isna().all()

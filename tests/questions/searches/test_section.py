"""Searches of every kind: their tables and their section of the report."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from kneepoint.analysis.results import StudyRuns
from kneepoint.common.study_record import (
    BestTrial,
    FailedTrials,
    GuideRecord,
    PosteriorRecord,
    UnconfirmedBest,
)
from kneepoint.config.study import Bounded, Formula, Front, Race
from tests.analysis import synthetic
from tests.reports.told import plain, told, told_by

POINTS = [(1.0, 50), (2.0, 60), (1.5, 80), (4.0, 100), (4.5, 300), (3.0, 100)]
"""Throughput and delay of each trial: on the front are 0, 1, 3 and 4; the knee is 3."""
BOUND = {"contest": {"capacity_mbps": 5.0, "signal_delay_p95_ms": 40.0, "power": 125.0}}


def searched(name: str, **more: Any) -> StudyRuns:
    runs = [
        synthetic.run_row("timely", {"beta": 0.1 * trial}, throughput, delay)
        for trial, (throughput, delay) in enumerate(POINTS)
    ]
    return synthetic.study(name, runs, sampler="tpe", **more)


def test_front_has_its_knee_and_its_hypervolume() -> None:
    study = searched("front", objective=Front(front="mean"), bounds=BOUND)
    goals = ("objective_throughput_mbps", "objective_signal_delay_p95_ms")
    objectives = dict(zip(goals, map(np.array, zip(*POINTS, strict=True)), strict=True))
    front = replace(study, trials=study.trials.assign(**objectives))
    tables = synthetic.analysed(synthetic.MadeUp(studies=(front,)))
    points = tables["search_trials"]
    assert points.loc[points["on_front"], "trial"].tolist() == [0, 1, 3, 4]
    assert points.loc[points["knee"], "trial"].tolist() == [3]
    (search,) = tables["searches"].to_dict("records")
    # Steps of throughput times nearness: 1 x 40/50 + 1 x 40/60 + 2 x 40/100 + 0.5 x 40/300, over 5.
    expected = (0.8 + 40 / 60 + 0.8 + 0.5 * 40 / 300) / 5
    assert search["hypervolume"] == pytest.approx(expected)
    report = told_by(tables)
    ((_, goal, *_, value),) = report.rows("searches")
    assert goal.startswith("Pareto front") and value == "39.60\u00a0±\u00a00.40"
    assert "search-front-front" in report.figures()


@pytest.mark.parametrize(("delay_ms", "best", "beyond"), [(90, 1, 3), (45, 0, 5)])
def test_bound_is_told_and_what_breaks_it_is_never_best(
    delay_ms: float, best: int, beyond: int
) -> None:
    study = searched("bounded", objective=Bounded(throughput="mean", delay_ms=delay_ms))
    violation = [point[1] / delay_ms - 1 for point in POINTS]
    trials = study.trials.assign(value=[point[0] for point in POINTS], violation=violation)
    kept = synthetic.chosen(replace(study, trials=trials), best)
    tables = synthetic.analysed(synthetic.MadeUp(studies=(kept,)))
    (search,) = tables["searches"].to_dict("records")
    assert (search["best_trial"], search["beyond"], search["failed"]) == (best, beyond, 0)
    ((_, goal, *_, value),) = told_by(tables).rows("searches")
    assert f"at most {delay_ms} ms" in goal
    fresh, _, rest = value.partition("\u00a0±")
    assert float(fresh) == pytest.approx(0.99 * POINTS[best][0])
    assert rest.endswith(f", {beyond} beyond the bound")


@pytest.mark.parametrize(
    "guide", [None, GuideRecord({"low": 0.8, "mean": 0.9, "high": 1}, 0, True)]
)
def test_choice_tells_what_further_runs_changed(guide: GuideRecord | None) -> None:
    study = searched("chosen")
    otherwise = UnconfirmedBest(3, {"parameter_beta": 0.3})
    posterior = PosteriorRecord(15, 12, 20, 0.875, otherwise, 0.025)
    best = BestTrial(1, 16.0, {"parameter_beta": 0.1}, {})
    record = replace(study.record, best=best, posterior=posterior, guide=guide)
    tables = synthetic.analysed(synthetic.MadeUp(studies=(replace(study, record=record),)))
    (search,) = tables["searches"].to_dict("records")
    assert search["best_trial"] == 1  # although trial 3 has the greatest value
    assert search["guide_is_off"] == (True if guide else None)
    report = told_by(tables)
    said = report.text("search-chosen")
    assert all(each in said for each in ("15", "0.88", "12", "20", "2.5"))
    assert ("emulator" in said) == bool(guide)
    (beta,) = report.records("parameters-chosen")
    assert (beta["Best"], beta["Otherwise"]) == ("0.1", "0.3")


def test_race_tells_what_it_stopped_and_saved() -> None:
    study = searched("raced", race=Race(), runs_per_trial=8)
    state = ["COMPLETE", "COMPLETE", "PRUNED", "COMPLETE", "PRUNED", "PRUNED"]
    n_runs = [8 if each == "COMPLETE" else 3 for each in state]
    value = [20.0, 33.0, 99.0, 40.0, 99.0, 99.0]  # stopped trials do not count
    trials = study.trials.assign(state=state, n_runs=n_runs, value=value)
    tables = synthetic.analysed(synthetic.MadeUp(studies=(replace(study, trials=trials),)))
    (search,) = tables["searches"].to_dict("records")
    assert (search["trials"], search["runs"], search["stopped"]) == (6, 33, 3)
    assert told_by(tables).rows("best-trials-raced")[0][0] == "3"


# Worst cases ----------------------------------------------------------------------------------


def test_failures_are_told_with_their_reasons() -> None:
    failed = FailedTrials(5, {"it hangs": 4, "the window is not a number": 1})
    nothing = replace(searched("all").record, n_trials=5, best=None, failed=failed)
    studies = (
        replace(searched("some"), record=replace(searched("some").record, failed=failed)),
        replace(searched("all"), record=nothing),
    )
    report = told_by(synthetic.analysed(synthetic.MadeUp(studies=studies)))
    every, some = (p for p in map(plain, report.blocks("p", "found")) if "failed" in p)
    for said, name in ((some, "some"), (every, "all")):
        assert f"`{name}`" in said and "4 because it hangs" in said and "not a number" in said
    assert "None succeeded" in every and "None succeeded" not in some
    assert [row[0] for row in report.rows("searches")] == ["some"]


def test_a_search_of_one_parameter_states_one_value() -> None:
    goal = Formula(expression="throughput_mbps / signal_delay_p95_ms")
    runs = synthetic.ternary_study(objective=goal)
    trials = runs.trials.assign(value=[-5.0 + each for each in range(len(runs.trials))])
    study = synthetic.chosen(replace(runs, trials=trials))
    best = study.record.best
    report = told(synthetic.MadeUp(studies=(study,)))
    assert best and "sweeps" not in report.tables()
    ((*_, parameters, value),) = report.rows("searches")
    assert f"{best.parameters['window']:g}" in parameters
    assert float(value.partition("\u00a0")[0]) == pytest.approx(best.value)

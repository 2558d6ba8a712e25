"""The best trial of a search runs again with fresh seeds."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from kneepoint.common.study_record import BestTrial
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.search.fresh import MIN_TRIALS, RUNS, count_trials, plan_fresh, repeat
from kneepoint.search.objective import find_best
from tests.experiments.fakes import FakeEngine, followed, measure
from tests.search.test_loop import search, study

POWER = 40.0


def lucky(spec: RunSpec) -> RunRecord:
    """Runs whose power depends on luck alone, with a deviation of 10 %."""
    noise = np.random.default_rng(int(spec.run_id[:8], 16)).standard_normal()
    return dataclasses.replace(measure(spec), power=POWER * (1 + 0.1 * noise))


def repeated(folder: Path, name: str, order: int = 0) -> BestTrial:
    planned = study(name)
    trials = search(folder, planned, FakeEngine(lucky))
    found = find_best(trials, planned.study.objective.minimises)
    best = BestTrial(found.number, found.value, found.searched, {})
    again: BestTrial = followed(folder, repeat(planned, best), FakeEngine(lucky), order)
    return again


def test_the_best_of_many_by_luck_is_not_as_good_with_fresh_seeds(tmp_path: Path) -> None:
    found = repeated(tmp_path, "tpe")
    assert found.in_search and found.low and found.high
    assert found.in_search > POWER * 1.05
    assert found.in_search > found.high >= found.value >= found.low
    assert found.low < POWER < found.high
    assert found.runs == 15 * 2 * 2  # networks and runs of a trial
    assert set(found.networks) == {"wire", "air"}
    for name in ("power", "runs", "throughput_mbps"):
        means = [each[name] for each in found.networks.values()]
        assert np.mean(means) > 0, name
    assert np.mean([each["power"] for each in found.networks.values()]) == pytest.approx(
        found.value
    )


def test_what_is_not_repeated_keeps_the_value_of_its_search(tmp_path: Path) -> None:
    found = repeated(tmp_path, "fit")
    assert (found.runs, found.in_search, found.low) == (0, None, None)


def test_no_order_of_ending_changes_it(tmp_path: Path) -> None:
    assert repeated(tmp_path / "one", "race") == repeated(tmp_path / "other", "race", order=5)


def test_no_seed_is_one_of_the_search() -> None:
    planned = study("tpe")
    point = {"parameter_alpha": 1.0, "parameter_beta": 2.0}
    searched = {run.spec.seed for trial in range(26) for run in planned.runs_of(trial, point)}
    best = BestTrial(3, 1.0, point, {})
    seeds = [run.spec.seed for runs in plan_fresh(planned, best) for run in runs]
    assert len(set(seeds)) == len(seeds) >= RUNS
    assert not searched & set(seeds)


@pytest.mark.parametrize(
    ("name", "trials"), [("grid", 10), ("ternary", RUNS), ("table", 0), ("fit", 0), ("front", RUNS)]
)
def test_what_is_repeated_and_how_often(name: str, trials: int) -> None:
    wanted = study(name).study
    assert count_trials(wanted) == trials
    many = wanted.model_copy(update={"runs_per_trial": 25})
    assert count_trials(many) == (MIN_TRIALS if trials else 0)
    assert count_trials(wanted.model_copy(update={"engine": "mahimahi"})) == 0

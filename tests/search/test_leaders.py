"""The best of a noisy search, not the luckiest: the leaders run again until that is clear."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from kneepoint.common.study_record import StudyRecord
from kneepoint.config.study import Study
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.search.leaders import repeat_leaders
from kneepoint.search.loop import ask_and_tell
from kneepoint.search.objective import find_best
from kneepoint.search.plan import StudyPlan
from kneepoint.search.samplers import make_asker
from tests.experiments.fakes import FakeEngine, followed, job_of, measure, perform, plan
from tests.experiments.wire import NETWORK, prepare_wire, write

STUDY: dict[str, Any] = {
    "space": {"window": {"low": 2, "high": 40}},
    "sampler": {"kind": "random", "trials": 40},
    "repeat_best": 20,
}
BUDGET, NOISE = 20, 0.04


def true_log(window: float) -> float:
    return -0.5 * float(np.log(window / 12)) ** 2


def noisy(spec: RunSpec) -> RunRecord:
    noise = np.random.default_rng(int(spec.run_id[:8], 16)).standard_normal()
    power = 40 * np.exp(true_log(spec.parameters["window"]) + NOISE * noise)
    return dataclasses.replace(measure(spec), power=float(power))


def chosen(folder: Path, planned: StudyPlan, order: int = 0) -> tuple[float, float, dict[str, Any]]:
    """Returns the losses of the luckiest and of the chosen trial, and the record of the choice."""
    asker = make_asker(planned.study.sampler, planned.space, planned.points, planned.seed)
    engine = FakeEngine(noisy)
    trials = followed(folder, ask_and_tell(planned, asker, lambda _: None), engine, order)
    number, said = followed(folder, repeat_leaders(planned, trials, BUDGET), engine, order)
    values = [true_log(trial.searched["parameter_window"]) for trial in trials]
    luckiest = find_best(trials, minimise=False)
    assert said["otherwise"]["trial"] == luckiest.number
    return max(values) - values[luckiest.number], max(values) - values[number], said


def test_the_best_is_chosen_and_its_probability_is_kept(tmp_path: Path) -> None:
    found = []
    for seed in range(15):
        (tmp_path / str(seed)).mkdir()
        found.append(chosen(tmp_path / str(seed), plan(seed=seed, **STUDY)))
    lucky, best, said = zip(*found, strict=True)
    assert np.mean(best) < 0.5 * np.mean(lucky)
    probability = np.mean([each["within_1_percent"] for each in said])
    assert np.mean(np.array(best) < 0.01) >= probability - 0.1
    assert all(0 < each["runs"] <= each["budget"] == BUDGET for each in said)


def test_no_order_of_ending_changes_the_choice(tmp_path: Path) -> None:
    found = []
    for order in (0, 5):
        (tmp_path / str(order)).mkdir()
        found.append(chosen(tmp_path / str(order), plan(**STUDY), order))
    assert found[0] == found[1]


def test_the_record_has_the_choice_only_if_it_was_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "config/networks/wire.yaml", NETWORK)
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    records = []
    for more in (STUDY, {**STUDY, "repeat_best": None}):
        study = {"title": "A", "controller": "fixed_window", "networks": ["wire"], **more}
        write(tmp_path / "config/studies/noisy.yaml", study)
        job = job_of(tmp_path, "noisy", {"studies": ["noisy"]})
        perform(job)
        records.append(StudyRecord.load(job.out_dir / "study.json"))
        for file in job.out_dir.iterdir():
            file.unlink()
    repeated, without = records
    assert repeated.best and without.best
    assert repeated.posterior and repeated.posterior.otherwise.trial == without.best.trial
    assert without.posterior is None and repeated.best.runs and without.best.runs


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"repeat_best": 0}, ["repeat_best", "greater than or equal to 1"]),
        ({"repeat_best": 3}, ["repeat_best is 3", "4 repeats", "ask_ahead"]),
        ({"race": {}, "runs_per_trial": 4}, ["remove repeat_best, or race"]),
        ({"objective": {"throughput": "mean", "delay_ms": 90}}, ["greatest power"]),
    ],
)
def test_mistakes_name_their_remedy(changes: dict[str, Any], words: list[str]) -> None:
    study = {"title": "A", "controller": "fixed_window", "networks": ["wire"], **STUDY, **changes}
    with pytest.raises(ValidationError) as told:
        Study.model_validate(study)
    assert all(word in str(told.value) for word in words)

"""Pruners: examples by hand, and how often they stop the best trial."""

from collections.abc import Mapping, Sequence
from typing import Literal

import optuna
from optuna.trial import TrialState

from kneepoint.config.study import Race
from kneepoint.search.race import NEAREST, ElitistRacePruner, reported


def report(trial: optuna.Trial, values: Sequence[float]) -> None:
    """Reports the mean up to each value, as the loop does."""
    for step in range(len(values)):
        trial.report(reported(Race(), dict(enumerate(values)), step), step)


def judged(
    values: Sequence[Sequence[float]],
    p: float = 0.1,
    first: int = 2,
    direction: Literal["minimize", "maximize"] = "maximize",
    pairs: int = 1_000_000,
) -> list[bool]:
    """Returns which trials are stopped after they have reported these values."""
    study = optuna.create_study(direction=direction, pruner=ElitistRacePruner(p, first, pairs))
    trials = [study.ask() for _ in values]
    for trial, own in zip(trials, values, strict=True):
        report(trial, own)
    return [trial.should_prune() for trial in trials]


def test_t_test_by_hand() -> None:
    # Differences -1, -2, -3: t = -2 / (1 / sqrt(3)) = -3.46 with 2 degrees, p = 0.037.
    values = [[10.0, 10, 10], [9.0, 8, 7]]
    assert judged(values, p=0.04) == [False, True]
    assert judged(values, p=0.035) == [False, False]


def test_what_is_known_already_narrows_what_the_rest_can_change() -> None:
    # Three of four pairs are known: t = -3.46 / sqrt(1 - 3/4) = -6.93, p = 0.0101.
    values = [[10.0, 10, 10], [9.0, 8, 7]]
    assert judged(values, p=0.0102, pairs=4) == [False, True]
    assert judged(values, p=0.0100, pairs=4) == [False, False]
    assert judged(values, p=0.5, pairs=3) == [False, False]  # no run is left to save


def test_differences_vary_as_those_of_the_best_that_have_finished() -> None:
    study = optuna.create_study(direction="maximize", pruner=ElitistRacePruner(0.1, 2, 4))
    for number in range(
        NEAREST + 1
    ):  # alternating differences from the best, 1 and 3: variance 4/3
        trial = study.ask()
        report(trial, [0.0, 0, 0, 0] if number == 0 else [-1.0, -3, -1, -3])
        study.tell(trial, 0 if number == 0 else -2)
    # Behind by d: t = -d / sqrt(4/3 * (1/2 - 1/4)) = -1.73 d with 24 degrees, where -1.318 has 0.1.
    near, far = study.ask(), study.ask()
    report(near, [-0.75, -0.75])  # its own differences have no spread
    report(far, [-0.77, -0.77])
    assert far.should_prune() and not near.should_prune()


def test_nobody_is_stopped_before_the_first_pairs_or_alone() -> None:
    assert judged([[5, 7], [4, 6]], first=3) == [False, False]
    assert judged([[1.0, 2, 3]]) == [False]
    assert judged([[5], [1]], first=1) == [False, False]  # one difference has no spread


def test_trial_is_compared_with_those_that_ran_its_pairs() -> None:
    study = optuna.create_study(direction="maximize", pruner=ElitistRacePruner(0.1, 2, 8))
    ahead, stopped, behind = (study.ask() for _ in range(3))
    report(ahead, [1.0, 1.1, 1.2])
    stopped.report(9.0, 0)
    study.tell(stopped, state=TrialState.PRUNED)
    report(behind, [0.5, 0.6, 0.8])
    assert behind.should_prune() and not ahead.should_prune()


def test_wilcoxon_gets_values_and_other_pruners_get_means() -> None:
    values: Mapping[int, float] = {0: 1.0, 1: 2.0, 2: 6.0}
    assert reported(Race(pruner="wilcoxon"), values, 2) == 6.0
    assert reported(Race(pruner="median"), values, 2) == 3.0
    assert reported(Race(pruner="median"), values, 0) == 1.0

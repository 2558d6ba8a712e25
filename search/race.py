"""Pruners of races: Optuna's by name, and our own elitist race.

All trials of a raced study run the same pairs of network and seed in the same order (common random
numbers), so that differences come from parameters, not chance. A trial reports one value per pair;
after the first pairs it may be stopped before each further pair.
"""

import math
import warnings
from collections.abc import Mapping, Sequence

import optuna
from optuna.pruners import BasePruner
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState
from scipy.special import stdtr

from kneepoint.config.study import Race


class ElitistRacePruner(BasePruner):
    """Stops a trial that a paired t test finds worse than the best so far.

    The best so far is the trial with the greatest mean over the pairs that this trial has run,
    among all finished or running trials that have run them, as in irace (Lopez-Ibanez et al.,
    Operations Research Perspectives 2016). Once more than NEAREST trials have finished, the
    variance of the paired differences is pooled over the best of them, because two or three
    differences of one trial do not determine it. The test is repeated after every pair, so more
    than a share `p` of equal trials is stopped.

    Args:
        p: p value of the one-sided test that stops a trial.
        first: pairs before the first test, at least two.
        pairs: number of pairs; the test corrects for this finite population.
    """

    def __init__(self, p: float, first: int, pairs: int) -> None:
        self._p = p
        self._first = max(2, first)
        self._all = pairs

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Returns whether to stop the trial."""
        own = _pairs(trial)
        if not self._first <= len(own) < self._all:
            return False
        sign = 1 if study.direction == StudyDirection.MAXIMIZE else -1
        others = [
            _pairs(other)
            for other in study.get_trials(
                deepcopy=False, states=(TrialState.COMPLETE, TrialState.RUNNING)
            )
            if other.number != trial.number and len(other.intermediate_values) >= len(own)
        ]
        if not others:
            return False
        best = max(others, key=lambda values: sign * math.fsum(values[: len(own)]))
        differences = [sign * (a - b) for a, b in zip(own, best, strict=False)]
        finished = [values for values in others if len(values) == self._all]
        groups = [differences]
        if len(finished) > NEAREST:
            finished.sort(key=lambda values: -sign * math.fsum(values))
            leader, *nearest = finished[: NEAREST + 1]
            groups = [[a - b for a, b in zip(values, leader, strict=True)] for values in nearest]
        return _is_worse(differences, groups, self._p, self._all)


def _pairs(trial: FrozenTrial) -> list[float]:
    """Returns the values of a trial's pairs from its reports, which are cumulative means."""
    means = [trial.intermediate_values[step] for step in range(len(trial.intermediate_values))]
    sums = [mean * (step + 1) for step, mean in enumerate(means)]
    return [total - before for before, total in zip([0.0, *sums], sums, strict=False)]


NEAREST = 8
"""Number of finished trials over which the variance of differences from the best is pooled."""


def _is_worse(
    differences: Sequence[float], groups: Sequence[Sequence[float]], p: float, pairs: int
) -> bool:
    """Returns whether the mean over all `pairs` is below 0 at level p.

    Args:
        differences: of the pairs that have run.
        groups: differences over which the variance is pooled.
        p: level of the one-sided test.
        pairs: number of all pairs, for the finite population correction.
    """
    n = len(differences)
    mean = math.fsum(differences) / n
    if mean >= 0:
        return False
    squares = 0.0
    for group in groups:
        center = math.fsum(group) / len(group)
        squares += math.fsum((each - center) ** 2 for each in group)
    if squares == 0:
        return True
    degrees = sum(len(group) - 1 for group in groups)
    statistic = mean / math.sqrt(squares / degrees * (1 / n - 1 / pairs))
    return bool(stdtr(degrees, statistic) < p)


def make_pruner(race: Race, pairs: int) -> BasePruner:
    """Makes the pruner of a race with `pairs` pairs per trial."""
    if race.pruner == "elitist":
        return ElitistRacePruner(race.p, race.first, pairs)
    if race.pruner == "wilcoxon":
        with warnings.catch_warnings():
            # Its interface may change, but its version is locked.
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return optuna.pruners.WilcoxonPruner(p_threshold=race.p, n_startup_steps=race.first)
    if race.pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=race.first - 1)
    return optuna.pruners.HyperbandPruner(min_resource=race.first, max_resource=pairs)


def reported(race: Race, values: Mapping[int, float], step: int) -> float:
    """Returns a trial's report after a pair: the cumulative mean, by which samplers rank it.

    Optuna's Wilcoxon pruner tests the reports themselves, and so needs the value of the pair.
    """
    if race.pruner == "wilcoxon":
        return values[step]
    return math.fsum(values[each] for each in range(step + 1)) / (step + 1)

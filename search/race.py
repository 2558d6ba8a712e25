"""Pruners of races: Optuna's by name, and our own elitist race.

All trials of a raced study run the same pairs of network and seed in the same order (common random
numbers), so that differences come from parameters, not chance. A trial reports one value per
pair; after the first pairs it may be stopped before each further one.
"""

import math
import warnings
from collections.abc import Mapping, Sequence

import optuna
from optuna.pruners import BasePruner
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from common.student_t import student_t_cdf
from experiments.models.study import Race


class ElitistRacePruner(BasePruner):
    """Stops a trial that a paired t test finds worse than the best so far.

    The best so far is the trial with the greatest mean over the pairs that this one has run, among
    those that have run them all, finished or not: the race goes on among the trials that were asked
    together, as in irace (Lopez-Ibanez et al., Operations Research Perspectives 2016), and against
    all that finished. Tests are repeated after every pair, so more than `p` of equal trials stop.

    Args:
        p: p value of the one-sided test that stops a trial.
        first: pairs before the first test; two are the least that a test needs.
    """

    def __init__(self, p: float, first: int) -> None:
        self._p = p
        self._first = max(2, first)

    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        """Returns whether to stop the trial."""
        own = _pairs(trial)
        if len(own) < self._first:
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
        return _is_worse([sign * (a - b) for a, b in zip(own, best, strict=False)], self._p)


def _pairs(trial: FrozenTrial) -> list[float]:
    """The values of a trial's pairs, of which it reported the means up to each."""
    means = [trial.intermediate_values[step] for step in range(len(trial.intermediate_values))]
    sums = [mean * (step + 1) for step, mean in enumerate(means)]
    return [total - before for before, total in zip([0.0, *sums], sums, strict=False)]


def _is_worse(differences: Sequence[float], p: float) -> bool:
    """Whether their mean is below 0 at level p; equal differences need no test."""
    n = len(differences)
    mean = math.fsum(differences) / n
    if mean >= 0:
        return False
    variance = math.fsum((each - mean) ** 2 for each in differences) / (n - 1)
    if variance == 0:
        return True
    statistic = mean / math.sqrt(variance / n)
    return student_t_cdf(statistic, n - 1) < p


def make_pruner(race: Race, pairs: int) -> BasePruner:
    """Makes the pruner of a study whose trials have so many pairs."""
    if race.pruner == "elitist":
        return ElitistRacePruner(race.p, race.first)
    if race.pruner == "wilcoxon":
        with warnings.catch_warnings():
            # Its interface may change, but its version is locked.
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            return optuna.pruners.WilcoxonPruner(p_threshold=race.p, n_startup_steps=race.first)
    if race.pruner == "median":
        return optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=race.first - 1)
    return optuna.pruners.HyperbandPruner(min_resource=race.first, max_resource=pairs)


def reported(race: Race, values: Mapping[int, float], step: int) -> float:
    """A trial's report after a pair: the mean so far, by which samplers rank stopped trials.

    Optuna's Wilcoxon pruner tests the reports, and so needs the value of the pair itself.
    """
    if race.pruner == "wilcoxon":
        return values[step]
    return math.fsum(values[each] for each in range(step + 1)) / (step + 1)

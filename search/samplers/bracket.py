"""Base class of samplers that close a bracket around the peak of one parameter."""

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

Place = int | float
"""A value of the parameter: an integer as such, a real number as a fraction of its range (0 to 1,
linear or logarithmic)."""

Scores = Callable[[Place], float | None]
"""The score at a place, greater is better; None if not yet known."""


class BracketSampler(BaseSampler):
    """Searches one parameter without state: each trial recomputes the bracket from finished trials.

    The space must have exactly one parameter that can vary. No value is asked twice, and a trial in
    state FAIL counts as the worst. The search is over when `open_values` is empty and no trial is
    running.

    Args:
        space: the distributions, by name.
        tolerance: fraction of a real parameter's range at which the bracket is closed.

    Raises:
        ValueError: the space is unsuitable.
    """

    def __init__(self, space: Mapping[str, BaseDistribution], tolerance: float = 1e-3) -> None:
        varied = {name: d for name, d in space.items() if not d.single()}
        if len(varied) != 1:
            raise ValueError(f"exactly one parameter must vary, not {sorted(varied)}")
        ((self._name, distribution),) = varied.items()
        if not isinstance(distribution, IntDistribution | FloatDistribution):
            raise ValueError(f"{self._name} must be an interval of numbers")
        if distribution.step not in (None, 1):
            raise ValueError(f"{self._name} must not have steps")
        self._distribution = distribution
        self._tolerance = tolerance

    @abstractmethod
    def propose_integers(self, low: int, high: int, score_at: Scores) -> Sequence[int]:
        """Returns the integers to evaluate next; none if all needed scores are known."""

    @abstractmethod
    def propose_reals(self, tolerance: float, score_at: Scores) -> Sequence[float]:
        """Returns the fractions of the range to evaluate next; none if the bracket is closed."""

    def open_values(self, study: Study) -> list[float]:
        """Returns the parameter's values that can be asked before another trial finishes."""
        trials = study.get_trials(deepcopy=False)
        asked = {trial.params.get(self._name) for trial in trials}
        return [value for value in self._propose(self._scores(study)) if value not in asked]

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Returns the varying parameter; Optuna handles parameters with a single value itself."""
        del study, trial
        return {self._name: self._distribution}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Returns the next value.

        Raises:
            ValueError: no value can be asked at present; see `open_values`.
        """
        del trial, search_space
        values = self.open_values(study)
        if not values:
            raise ValueError(f"{self._name}: the bracket is closed, or waits for running trials")
        return {self._name: values[0]}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Refuses: the only varying parameter is sampled by `sample_relative`.

        Raises:
            ValueError: always.
        """
        del study, trial, param_distribution
        raise ValueError(f"{param_name}: a bracket search varies {self._name} only")

    def _propose(self, scores: Mapping[float, float]) -> list[float]:
        def score_at(place: Place) -> float | None:
            return scores.get(self._value_at(place))

        if isinstance(self._distribution, IntDistribution):
            low, high = self._distribution.low, self._distribution.high
            return list(self.propose_integers(low, high, score_at))
        return [self._value_at(place) for place in self.propose_reals(self._tolerance, score_at)]

    def _scores(self, study: Study) -> dict[float, float]:
        return {
            trial.params[self._name]: _score(study, trial)
            for trial in study.get_trials(deepcopy=False)
            if trial.state.is_finished() and self._name in trial.params
        }

    def _value_at(self, place: Place) -> float:
        if isinstance(self._distribution, IntDistribution):
            return place
        low, high = self._distribution.low, self._distribution.high
        if self._distribution.log:
            value = math.exp(math.log(low) + place * (math.log(high) - math.log(low)))
        else:
            value = low + place * (high - low)
        return min(max(value, low), high)


def _score(study: Study, trial: FrozenTrial) -> float:
    if trial.state != TrialState.COMPLETE or not trial.values:
        return -math.inf
    value: float = trial.values[0]
    return value if study.direction == StudyDirection.MAXIMIZE else -value

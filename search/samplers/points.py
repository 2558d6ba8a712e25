"""A sampler for trials that are known in advance: grids and published tables."""

from collections.abc import Mapping, Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study
from optuna.trial import FrozenTrial


class PointsSampler(BaseSampler):
    """Trial number i is point number i.

    Optuna's own GridSampler shuffles, and its time grows with the square of the number of points.

    Args:
        space: the distributions, by name.
        points: a value for every name of the space, inside its distribution.
    """

    def __init__(
        self, space: Mapping[str, BaseDistribution], points: Sequence[Mapping[str, float]]
    ) -> None:
        self._space = {name: d for name, d in space.items() if not d.single()}
        self._points = points

    def infer_relative_search_space(
        self, study: Study, trial: FrozenTrial
    ) -> dict[str, BaseDistribution]:
        """Returns every parameter that varies."""
        del study, trial
        return self._space

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """Returns the trial's point.

        Raises:
            IndexError: there are no more points.
        """
        del study, search_space
        return {name: self._points[trial.number][name] for name in self._space}

    def sample_independent(
        self,
        study: Study,
        trial: FrozenTrial,
        param_name: str,
        param_distribution: BaseDistribution,
    ) -> Any:
        """Refuses, because the points name every parameter that varies.

        Raises:
            ValueError: always.
        """
        del study, trial, param_distribution
        raise ValueError(f"{param_name}: the points name {list(self._space)} only")

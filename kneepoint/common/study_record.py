"""study.json: the outcome of a study."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from kneepoint.common.errors import KneepointError, unusable


def is_logarithm(objective: str) -> bool:
    """Returns whether an objective's value is a mean of logarithms."""
    return objective in ("mean_log power", "mean_log throughput")


def natural_value(objective: str, value: float) -> float:
    """Returns an objective's value in natural units: a mean of logarithms as a geometric mean."""
    return math.exp(value) if is_logarithm(objective) else value


@dataclass(frozen=True)
class BestTrial:
    """A study's best setting.

    Args:
        trial: number of the trial.
        value: the objective over `runs` further runs with fresh seeds; without any, `in_search`.
        searched: searched values by column.
        parameters: parameters that all its runs share.
        in_search: the objective over the search's own runs, biased by the choice of the best.
        low: lower end of the 95 % interval of `value`; None without fresh runs.
        high: its upper end.
        runs: number of fresh runs.
        networks: by network, the power of fresh runs with its interval, and the means of the other
            metrics.
    """

    trial: int
    value: float
    searched: Mapping[str, int | float]
    parameters: Mapping[str, int | float]
    in_search: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0
    networks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class FailedTrials:
    """The number of trials with a failed run, and their number by reason."""

    trials: int
    reasons: Mapping[str, int]

    def __str__(self) -> str:
        first, *others = sorted(self.reasons, key=lambda reason: -self.reasons[reason])
        return f"{first}" + (f"; {len(others)} further reasons" if others else "")


@dataclass(frozen=True)
class GuideRecord:
    """The emulator's error in a guided search.

    Args:
        real_over_emulated: ratio of real to emulated values: low, mean, high.
        doubt: probability of so large a difference if the emulator were right.
        is_off: whether real runs contradict the emulator.
    """

    real_over_emulated: Mapping[str, float]
    doubt: float
    is_off: bool


@dataclass(frozen=True)
class UnconfirmedBest:
    """The trial with the best value in the search, which fresh runs did not confirm."""

    trial: int
    searched: Mapping[str, int | float]


@dataclass(frozen=True)
class PosteriorRecord:
    """The choice of the best trial by fresh runs of the leading settings.

    Args:
        candidates: number of leading settings.
        runs: number of fresh runs.
        budget: maximum number of fresh runs.
        within_1_percent: posterior probability that the chosen trial is within 1 % of the best.
        otherwise: the trial that would be the best without fresh runs.
        gain: relative gain in power over `otherwise`.
    """

    candidates: int
    runs: int
    budget: int
    within_1_percent: float
    otherwise: UnconfirmedBest
    gain: float


@dataclass(frozen=True)
class StudyRecord:
    """A study's outcome.

    `best` is None if no trial succeeded; in a replay of a published `table` it is merely the row
    with the greatest value. `bounds` are the omniscient bounds of a front's networks.
    """

    title: str
    objective: str
    seed: int
    n_trials: int
    best: BestTrial | None
    table: str | None = None
    failed: FailedTrials = FailedTrials(0, {})
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    posterior: PosteriorRecord | None = None
    guide: GuideRecord | None = None

    @property
    def has_succeeded(self) -> bool:
        """Whether all runs of some trial succeeded."""
        return self.failed.trials < self.n_trials

    @classmethod
    def load_best(cls, path: Path) -> BestTrial:
        """Reads the best trial of study.json.

        Raises:
            KneepointError: the file is missing or damaged, or no trial of the study succeeded.
        """
        record = cls.load(path)
        if record.best is None:
            raise KneepointError(
                f"{path}: none of {record.n_trials} trials succeeded ({record.failed}); correct "
                "the study or its controller"
            )
        return record.best

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads study.json; raises KneepointError if it is missing or damaged."""
        try:
            return TypeAdapter(cls).validate_json(path.read_bytes())
        except OSError as error:
            raise unusable(path, error.strerror) from None
        except ValidationError:
            raise unusable(path, "it is damaged") from None

"""study.json: what a study found."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from kneepoint.common.errors import KneepointError, unusable


def is_logarithm(objective: str) -> bool:
    """Whether an objective's value is a mean of logarithms."""
    return objective in ("mean_log power", "mean_log throughput")


def as_read(objective: str, value: float) -> float:
    """Returns an objective's value as people read it: a mean of logarithms as a geometric mean."""
    return math.exp(value) if is_logarithm(objective) else value


@dataclass(frozen=True)
class BestTrial:
    """A study's best setting, as everything states it: its searched values by column.

    `value` is that of the study's objective over `runs` further runs with fresh seeds, with its
    95 % interval. The value `in_search` chose the trial, and is biased by that; where there are no
    fresh runs, `value` is that one. `constants` are those that all its runs share, `networks` has
    the fresh power on each network with its interval, and the means of the other metrics.
    """

    trial: int
    value: float
    searched: Mapping[str, int | float]
    constants: Mapping[str, int | float]
    in_search: float | None = None
    low: float | None = None
    high: float | None = None
    runs: int = 0
    networks: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """Trials of which a run failed: their number, and how many for each reason."""

    trials: int
    reasons: Mapping[str, int]

    def __str__(self) -> str:
        first, *others = sorted(self.reasons, key=lambda reason: -self.reasons[reason])
        return f"{first}" + (f"; {len(others)} further reasons" if others else "")


@dataclass(frozen=True)
class Guide:
    """What real runs say of the emulator: real over emulated values; whether it is wrong."""

    real_over_emulated: Mapping[str, float]
    doubt: float
    is_off: bool


@dataclass(frozen=True)
class Otherwise:
    """The trial that would be the best without further runs."""

    trial: int
    searched: Mapping[str, int | float]


@dataclass(frozen=True)
class Posterior:
    """What further runs of the leading settings say of the best; `gain` is over `otherwise`."""

    candidates: int
    runs: int
    budget: int
    within_1_percent: float
    otherwise: Otherwise
    gain: float


@dataclass(frozen=True)
class StudyRecord:
    """A study's outcome; `bounds` are the omniscient ones of a front's networks.

    There is no best where no run measured anything. That of a replay of a published `table` is
    the row of the greatest value, and nobody's choice.
    """

    title: str
    objective: str
    seed: int
    n_trials: int
    best: BestTrial | None
    table: str | None = None
    failed: Failed = Failed(0, {})
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    posterior: Posterior | None = None
    guide: Guide | None = None

    @property
    def has_succeeded(self) -> bool:
        """Whether all runs of some trial succeeded."""
        return self.failed.trials < self.n_trials

    @classmethod
    def load_best(cls, path: Path) -> BestTrial:
        """Reads the best trial of study.json.

        Raises:
            KneepointError: it is missing or damaged, or no trial of the study succeeded.
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

"""study.json: what a study found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from pydantic import TypeAdapter, ValidationError

from common.errors import unusable


@dataclass(frozen=True)
class BestTrial:
    """A study's best trial, its searched values by column, the parameters that its runs share."""

    trial: int
    value: float
    searched: Mapping[str, int | float]
    constants: Mapping[str, int | float]


@dataclass(frozen=True)
class Fresh:
    """The best trial with fresh seeds: its value, and the power on each network."""

    runs: int
    value: float
    low: float
    high: float
    networks: Mapping[str, Mapping[str, float]]


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
    """A study's outcome; `bounds` are the omniscient ones of a front's networks."""

    title: str
    objective: str
    seed: int
    n_trials: int
    best: BestTrial
    bounds: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    fresh: Fresh | None = None
    posterior: Posterior | None = None
    guide: Guide | None = None

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads study.json; raises KneepointError if it is missing or damaged."""
        try:
            return TypeAdapter(cls).validate_json(path.read_bytes())
        except OSError as error:
            raise unusable(path, error.strerror) from None
        except ValidationError:
            raise unusable(path, "it is damaged") from None

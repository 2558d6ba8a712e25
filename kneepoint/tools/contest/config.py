"""Configuration models: a contest and its scores, repositories, and what an entry declares."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kneepoint.common.config_file import (
    ConfigModel,
    matching,
    read_config,
)
from kneepoint.common.errors import KneepointError, suggestion
from kneepoint.config.study import Setting
from kneepoint.engines.base import RunRecord
from kneepoint.engines.expression import Expression
from kneepoint.networks.config import (
    NAMES,
    Name,
    Sha256,
)
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.tools.contest.confine import MOST_CPU_S

ENTRY_FILE = "kneepoint.yaml"
"""File of an entry's tree that declares its author, arguments and parameters."""
REPOSITORIES = "entries.yaml"
"""Entries of a folder that are git repositories elsewhere."""

ENTRY_NAMES = "letters, digits, blanks and . , ' @ - _ & + ! ( )"
_SIGNS = frozenset(" .,'@-_&+!()")
_MOST_LETTERS = 100


def is_of_entry_name(sign: str) -> bool:
    """Whether a name may have a sign: many scripts write vowels as combining marks."""
    return sign in _SIGNS or sign.isalnum() or unicodedata.category(sign)[0] == "M"


def is_entry_name(text: str) -> bool:
    """Whether a text may be the name of an entry or an author."""
    return (
        0 < len(text) <= _MOST_LETTERS
        and (text[0].isalnum() or text[0] == "_")
        and all(map(is_of_entry_name, text))
    )


def _check_entry_name(text: str) -> str:
    if not is_entry_name(text):
        raise ValueError(f"it must be {ENTRY_NAMES} only")
    return text


EntryName = Annotated[str, AfterValidator(_check_entry_name)]
_Text = Annotated[str, Field(max_length=200)]
Arguments = tuple[_Text, ...]
_CName = Annotated[str, matching(r"(?a:[A-Za-z_]\w{0,99})", "a name in C: letters, digits and _")]


@dataclass(frozen=True)
class Score:
    """A scoring rule; more is better.

    Args:
        name: on the leaderboard.
        expression: of a run.
        words: what it is, on the page.
        is_ratio: scores are compared by their ratio, and averaged geometrically.
    """

    name: str
    expression: str
    words: str
    is_ratio: bool = False

    def of(self, record: RunRecord, network: PreparedNetwork) -> float:
        """Returns the score of a run that succeeded.

        Raises:
            ValueError: it has none, because of a division by zero or the logarithm of zero.
        """
        score = Expression(self.expression).of_run(record, network)
        if self.is_ratio and score <= 0:
            raise ValueError(f"{self.expression} is {score}")
        return score


_AVERAGED = "in Mbit/s per second, averaged geometrically over runs and networks"
_AGE = "the age of the newest datagram that arrived, from the run's start to its end"
SCORES = {
    each.name: each
    for each in (
        Score(
            "power",
            "1000 * throughput_mbps / age_p95_ms",
            f"power: throughput over the 95th percentile of {_AGE}, {_AVERAGED}",
            is_ratio=True,
        ),
        Score(
            "log_power",
            "log(1000 * throughput_mbps / age_p95_ms)",
            f"the logarithm of power, throughput over the 95th percentile of {_AGE}",
        ),
        Score(
            "median_power",
            "1000 * throughput_mbps / age_p50_ms",
            f"throughput over the median of {_AGE}, {_AVERAGED}",
            is_ratio=True,
        ),
        Score(
            "excess_power",
            "1000 * throughput_mbps / (delay_ms + max(0, age_p95_ms - omniscient_delay_ms))",
            f"throughput over propagation delay and excess of the 95th percentile of {_AGE} over "
            f"the omniscient sender's, {_AVERAGED}",
            is_ratio=True,
        ),
        # As the course's public scorer computes it from the link's log, in which losses beside the
        # queue's do not appear; 100 - 8 x up to x = 10, 200 / x beyond.
        Score(
            "transhub",
            "35 * utilization + 0.35 * (80 - 8 * min(10, queueing_delay_p95_ms / delay_ms)"
            " + 200 / max(10, queueing_delay_p95_ms / delay_ms))"
            " + 30 * (1 - max(0, queue_loss - configured_loss))",
            "Transhub's: 35 points for utilization, 35 for delay, 30 for packets not dropped. "
            "Delay counts what was sent alone: one datagram and then silence has up to 65 points",
        ),
    )
}


def score_of(text: str) -> Score:
    """Returns a rule by its name, or made of an expression.

    Raises:
        ValueError: it is neither.
    """
    if text in SCORES:
        return SCORES[text]
    try:
        return Score("score", Expression(text).text, words=text)
    except ValueError as error:
        raise ValueError(f"neither {', '.join(SCORES)} nor an expression: {error}") from None


ScoreName = Annotated[str, AfterValidator(lambda text: score_of(text) and text)]


def _check_moment(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError("it must be a time, such as 2026-12-01T23:59+01:00") from None
    if moment.tzinfo is None:
        raise ValueError(f"it must have its offset from UTC, such as {text}+01:00")
    if not 1970 <= moment.year < 9999:
        raise ValueError("its year must lie between 1970 and 9999")
    return text


class Contest(ConfigModel):
    """A contest: config/contests/NAME.yaml."""

    title: str = Field(min_length=1, description="title of the leaderboard")
    engine: Literal["emulator", "mahimahi"] = Field(
        default="emulator", description="virtual time, or real time in mahimahi"
    )
    practice: tuple[Name, ...] = Field(
        min_length=1, description="public networks, which are shown; the first is drawn"
    )
    final: tuple[Name, ...] = Field(
        default=(),
        description="networks on which entries are ranked, or, without any, the practice ones",
    )
    disguise: bool = Field(
        default=True,
        description="disguise the recordings of the final networks by a secret seed; false: they "
        "are secret themselves",
    )
    secret_sha256: Sha256 | None = Field(
        default=None, description="SHA-256 of the file with the secret seed; null: any seed"
    )
    host_latency_us: int | None = Field(
        default=None,
        ge=0,
        description="additional latency of the emulated host in each direction (us), on all "
        "networks; null: as each network has it",
    )
    other_host_latency_us: int | None = Field(
        default=None,
        ge=0,
        description="another host, the score on which stands beside the ranking; null: none",
    )
    deadline: Annotated[str, AfterValidator(_check_moment)] | None = Field(
        default=None,
        description="when submissions are due, such as 2026-12-01T23:59+01:00; later ones are "
        "marked, and ranked all the same",
    )
    runs: int = Field(default=8, ge=1, description="runs of each entry on each network")
    seed: int = Field(default=1, ge=0, description="seed of the first run, and of the statistics")
    score: ScoreName = Field(
        default="power",
        description="power, log_power, median_power, excess_power, transhub, or an expression of a "
        "run's metrics",
    )
    cpu_s: int | None = Field(
        default=None,
        ge=1,
        le=86_400,
        description="CPU time of an entry in a run in virtual time (s); null: 2 s and half of the "
        "run's duration",
    )
    build_cpu_s: int = Field(
        default=MOST_CPU_S, ge=1, le=86_400, description="CPU time of an entry's build (s)"
    )
    environment: Mapping[_CName, _Text] = Field(
        default={},
        max_length=50,
        description="environment variables of all entries; those of an entry's kneepoint.yaml "
        "replace them",
    )
    arguments: Arguments = Field(
        default=(),
        max_length=20,
        description="arguments of all senders, after host and port; those of an entry's "
        "kneepoint.yaml replace them",
    )
    behaviour: bool = Field(
        default=False,
        description="say which rule of the reports each entry behaves like, as `kneepoint identify`"
        " does, seen on the first practice network; engine emulator only",
    )
    baselines: tuple[Setting, ...] = Field(
        default=(), description="our controllers, shown beside the entries"
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.behaviour and self.engine != "emulator":
            raise ValueError("behaviour needs engine emulator; remove one of them")
        other_us = self.other_host_latency_us
        if other_us is not None and other_us == self.host_latency_us:
            raise ValueError("other_host_latency_us is host_latency_us; change or remove it")
        if len({*self.networks}) != len(self.networks):
            raise ValueError("practice and final name a network twice; remove it")
        if self.secret_sha256 is not None and not self.is_disguised:
            raise ValueError("secret_sha256 needs disguised final networks; remove it")
        return self

    @property
    def networks(self) -> tuple[str, ...]:
        """All of its networks, the practice ones first."""
        return *self.practice, *self.final

    @property
    def ranked_on(self) -> tuple[str, ...]:
        """The networks that determine the ranking."""
        return self.final or self.practice

    @property
    def is_disguised(self) -> bool:
        """Whether a secret seed makes the final networks."""
        return self.disguise and bool(self.final)

    def is_late(self, arrived_s: float) -> bool:
        """Whether a submission arrived after the deadline."""
        deadline = self.deadline
        return deadline is not None and arrived_s > datetime.fromisoformat(deadline).timestamp()

    @property
    def scored_by(self) -> Score:
        """The scoring rule."""
        return score_of(self.score)


class Repository(ConfigModel):
    """An entry in a git repository of this machine."""

    git: str = Field(min_length=1, description="path of the repository, or its file:// address")
    branch: str | None = Field(default=None, description="branch or tag; null: the current one")
    commit: Annotated[str, matching(r"[0-9a-f]{4,40}", "digits of a commit")] | None = Field(
        default=None, description="commit, instead of a branch"
    )

    @model_validator(mode="after")
    def _has_one_revision(self) -> Self:
        if self.branch is not None and self.commit is not None:
            raise ValueError("has both branch and commit; give only one of them")
        if self.branch is not None and self.branch.startswith("-"):
            raise ValueError(f"branch {self.branch!r}: invalid name; correct it")
        return self


class Repositories(ConfigModel):
    """entries.yaml in a folder of entries."""

    entries: Mapping[EntryName, Repository] = Field(description="repositories by entry")


class EntryConstant(ConfigModel):
    """A parameter that an entry declares: its range, and how its value reaches the code."""

    macro: _CName | None = Field(default=None, description="macro that the compiler is given")
    environment: _CName | None = Field(default=None, description="environment variable")
    default: float = Field(description="its value in the contest")
    range: tuple[float, float] = Field(description="bounds of a search")
    integer: bool = Field(default=False, description="whether only whole numbers make sense")
    log: bool = Field(default=False, description="whether a search spaces it logarithmically")
    unit: str = Field(default="1", description="its unit")
    meaning: str = Field(default="", description="what it is")

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if (self.macro is None) == (self.environment is None):
            raise ValueError("needs exactly one of macro and environment; give one")
        low, high = self.range
        if not low < high or (self.log and low <= 0):
            raise ValueError(f"range [{low:g}, {high:g}] must rise, above 0 if log; correct it")
        if not low <= self.default <= high:
            raise ValueError(f"default {self.default:g} is outside range [{low:g}, {high:g}]")
        if self.integer and any(value % 1 for value in (low, high, self.default)):
            raise ValueError("range and default of an integer must be whole")
        return self

    def text(self, value: float) -> str:
        """Returns a value as text for the code."""
        return str(int(value)) if self.integer else repr(float(value))


class EntryFile(ConfigModel):
    """kneepoint.yaml in an entry's tree."""

    author: EntryName | None = Field(
        default=None,
        description="whose entry it is, for its readers; contests go by the submission's name",
    )
    arguments: Arguments = Field(
        default=(), max_length=20, description="arguments of the sender, after host and port"
    )
    constants: Mapping[Name, EntryConstant] = Field(
        default={}, description=f"parameters that can be searched; names: {NAMES}"
    )

    def check(self, values: Mapping[str, float]) -> None:
        """Raises KneepointError unless it declares these parameters, with ranges that have them."""
        for name, value in values.items():
            if name not in self.constants:
                near = suggestion(name, self.constants) if self.constants else "it declares none"
                raise KneepointError(f"has no parameter {name!r}; {near}")
            low, high = self.constants[name].range
            if not low <= value <= high or (self.constants[name].integer and value % 1):
                raise KneepointError(
                    f"{name} = {value:g} is not in its range, {low:g} to {high:g}"
                    f"{', whole numbers' if self.constants[name].integer else ''}; correct it"
                )

    def macros(self, values: Mapping[str, float]) -> dict[str, str]:
        """Returns the compiler's macros; constants without a value have their defaults."""
        return self._texts("macro", values)

    def environment(self, values: Mapping[str, float]) -> dict[str, str]:
        """Returns the environment of the sender."""
        return self._texts("environment", values)

    def _texts(self, way: str, values: Mapping[str, float]) -> dict[str, str]:
        return {
            getattr(constant, way): constant.text(values.get(name, constant.default))
            for name, constant in self.constants.items()
            if getattr(constant, way) is not None
        }


def load_entry_file(folder: Path) -> EntryFile:
    """Reads an entry's kneepoint.yaml, if there is one.

    Raises:
        KneepointError: the file is malformed.
    """
    path = folder / ENTRY_FILE
    return read_config(path, EntryFile) if path.is_file() else EntryFile()

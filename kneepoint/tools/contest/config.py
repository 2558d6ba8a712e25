"""Configuration model: a contest."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.config.study import Setting
from kneepoint.entries.config import Arguments, CName, Text
from kneepoint.entries.confine import MAX_CPU_S
from kneepoint.entries.score import Score, ScoreName, score_of
from kneepoint.networks.config import Name, Sha256

IN_FLIGHT = "in flight"
"""Label of an entry's window on a page: packets in flight, as entries do not report a window."""


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
        description="networks that determine the ranking; none: the practice networks",
    )
    disguise: bool = Field(
        default=True,
        description="disguise the recordings of the final networks by a secret seed; false: the "
        "recordings themselves are secret",
    )
    secret_sha256: Sha256 | None = Field(
        default=None, description="SHA-256 of the file with the secret seed; null: any seed"
    )
    host_latency_us: int | None = Field(
        default=None,
        ge=0,
        description="additional latency of the emulated host in each direction (us), on all "
        "networks; null: the value of each network",
    )
    other_host_latency_us: int | None = Field(
        default=None,
        ge=0,
        description="latency of a second host (us), whose scores are shown beside the ranking; "
        "null: none",
    )
    deadline: Annotated[str, AfterValidator(_check_moment)] | None = Field(
        default=None,
        description="deadline of submissions, such as 2026-12-01T23:59+01:00; later submissions "
        "are marked, and ranked like the others",
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
        default=MAX_CPU_S, ge=1, le=86_400, description="CPU time of an entry's build (s)"
    )
    environment: Mapping[CName, Text] = Field(
        default={},
        max_length=50,
        description="environment variables of all entries, unless an entry's kneepoint.yaml sets "
        "them",
    )
    arguments: Arguments = Field(
        default=(),
        max_length=20,
        description="arguments of all senders, after host and port, unless an entry's "
        "kneepoint.yaml sets arguments",
    )
    behaviour: bool = Field(
        default=False,
        description="identify the published rule that each entry behaves like on the first "
        "practice network, as `kneepoint identify` does; engine emulator only",
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
        """All networks, the practice networks first."""
        return *self.practice, *self.final

    @property
    def ranked_on(self) -> tuple[str, ...]:
        """The networks that determine the ranking."""
        return self.final or self.practice

    @property
    def is_disguised(self) -> bool:
        """Whether a secret seed disguises the final networks."""
        return self.disguise and bool(self.final)

    def is_late(self, arrived_s: float) -> bool:
        """Returns whether a submission arrived after the deadline."""
        deadline = self.deadline
        return deadline is not None and arrived_s > datetime.fromisoformat(deadline).timestamp()

    @property
    def scored_by(self) -> Score:
        """The scoring rule."""
        return score_of(self.score)

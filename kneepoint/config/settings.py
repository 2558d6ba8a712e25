"""Configuration models of the workflow's own file, config.yaml."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.config.report import Report
from kneepoint.config.study import Host, Setting
from kneepoint.networks.config import (
    Name,
    Names,
    TraceSources,
)


class Hardening(ConfigModel):
    """A controller tuned against its own worst cases, in rounds."""

    title: str = Field(min_length=1, description="title in reports")
    tune: Name = Field(description="study that tunes the controller, on the networks of round 0")
    worst_case: Name = Field(
        description="study that searches for the worst case; tuned parameters replace its constants"
    )
    rounds: int = Field(default=3, ge=1, description="worst cases to add to the networks")
    repeats: int = Field(default=5, ge=1, description="replicates of all rounds, for their spread")


class Showcase(Setting):
    """The run whose rate and delay over time the report shows."""

    network: Name = Field(description="file of config/networks")


class HoldOut(ConfigModel):
    """Held-out networks, on which published and tuned settings run."""

    training: Name = Field(description="network on which the settings were found")
    networks: Names = Field(min_length=1, description="held-out networks: files of networks/")
    published: Literal["all", "best"] = Field(
        default="all", description="every replayed row, or only the best of each controller"
    )
    defaults: bool = Field(
        default=False,
        description="whether the defaults of each tuned controller count as published settings",
    )
    repeats: int = Field(
        default=5,
        ge=1,
        description="replicates of tuned settings and of each controller's best row on each "
        "network; other rows run once",
    )

    @model_validator(mode="after")
    def _networks_differ(self) -> Self:
        for name in self.networks:
            if name == self.training:
                raise ValueError(f"networks lists {name}, which is the training network; remove it")
        return self


class HostProbe(Setting):
    """The run that measures how many real-time runs a host sustains at once."""

    network: Name = Field(description="file of config/networks")
    duration_s: float = Field(default=20, gt=0, description="duration of each run (s)")
    alone: int = Field(default=5, ge=2, description="runs made one at a time, for comparison")
    most: int = Field(default=32, ge=1, description="largest number of simultaneous runs to try")


class Calibration(ConfigModel):
    """Fits the emulated host to real runs of fixed windows."""

    windows: tuple[float, ...] = Field(min_length=1, description="fixed windows to fit (packets)")
    host: Host = Field(
        min_length=1, description="parameters of the emulated host to search: see Study.host"
    )
    runs_per_trial: int = Field(
        default=10, ge=1, description="replicates of each window in a trial"
    )
    wake_spread: tuple[Annotated[float, Field(ge=0, le=3)], ...] = Field(
        default=(0,),
        min_length=1,
        description="candidate spreads of wake_mean_us between runs (standard deviation of its "
        "logarithm); the fit chooses the one that best reproduces the spread of the real runs",
    )

    @model_validator(mode="after")
    def _is_a_grid(self) -> Self:
        for name, searched in self.host.items():
            if searched.values is None:
                raise ValueError(
                    f"host: {name} has low and high, but calibration is a grid; give values"
                )
        return self


class Confirm(ConfigModel):
    """Settings that `make confirm` runs in real mahimahi."""

    network: Name = Field(description="file of config/networks")
    repeats: int = Field(default=3, ge=1, description="real runs of each setting")
    again: int = Field(
        default=3,
        ge=0,
        description="further real runs of a setting whose mean deviates from the emulator's "
        "without explanation",
    )
    best: bool = Field(
        default=True,
        description="include the best published and the best tuned setting of every controller",
    )
    contradicted: bool = Field(
        default=True, description="include every row that the audit contradicts"
    )
    settings: tuple[Setting, ...] = Field(default=(), description="further settings")
    emulated: int = Field(default=30, ge=2, description="emulated runs of each setting")
    calibration: Calibration = Field(description="fit of the emulated host to compare with")


def _is_usable(path: Path) -> Path:
    """Rejects what Snakemake reads as a wildcard and programs read as an option."""
    text = str(path)
    if text.startswith("-") or re.search(r"[{}\s]", text.replace(" ", "")):
        raise ValueError("it must not begin with - or contain a brace, tab or line break")
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("no such user; give the full path") from None


class Audit(ConfigModel):
    """Limits on the runs behind a published row's verdict."""

    runs: tuple[Annotated[int, Field(ge=2)], ...] = Field(
        default=(10, 30),
        description="while the verdict on a row is unclear, its runs grow to each of these "
        "numbers in turn; the last is the limit; empty: use those of the studies only",
    )

    @field_validator("runs")
    @classmethod
    def _grow(cls, runs: tuple[int, ...]) -> tuple[int, ...]:
        if list(runs) != sorted(set(runs)):
            raise ValueError("the numbers must increase; sort them and remove duplicates")
        return runs


def _is_address(text: str) -> str:
    if not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}", text):
        raise ValueError(f"{text!r} is not HOST:PORT; give what ray start --head prints")
    return text


class RealTime(ConfigModel):
    """How this host makes real-time runs."""

    busy_us: float = Field(
        default=1000,
        gt=0,
        description="repeat a run whose 99th percentile of scheduling delay exceeds this (us)",
    )
    keep_awake: bool = Field(
        default=True,
        description="keep processors from idling during real runs, because an idle processor is "
        "slow to wake up",
    )
    probe: HostProbe | None = Field(
        default=None, description="how to measure the number of real-time slots"
    )


class Settings(ConfigModel):
    """The workflow's configuration file."""

    seed: int = Field(ge=0, description="root of every random stream")
    results: Annotated[Path, AfterValidator(_is_usable)] = Field(
        default=Path("results"), description="folder of the results"
    )
    cache: str | None = Field(
        default=None,
        description="folder of cached traces; null: $KNEEPOINT_CACHE, or kneepoint/ in "
        "$XDG_CACHE_HOME or ~/.cache",
    )
    ray_address: Annotated[str, AfterValidator(_is_address)] | None = Field(
        default=None,
        description="HOST:PORT of a Ray to join; null: $KNEEPOINT_RAY_ADDRESS, or one of its own",
    )
    storage: str | None = Field(
        default=None,
        description="URL of a database for a copy of all studies for Optuna's tools, such as "
        "postgresql+psycopg://HOST/NAME; null: $KNEEPOINT_STORAGE, or none",
    )
    traces: TraceSources = Field(default=TraceSources(), description="sources of packaged traces")
    studies: Names = Field(default=(), description="names of files in config/studies")
    repeats: Names = Field(default=(), description="names of files in config/repeats")
    comparisons: Names = Field(default=(), description="names of files in config/comparisons")
    hold_out: HoldOut | None = Field(
        default=None,
        description="held-out networks, on which published and tuned settings also run",
    )
    hardening: Mapping[Name, Hardening] = Field(
        default={}, description="controllers tuned against their own worst cases, by name"
    )
    report: Report | None = Field(default=None, description="the report's own words")
    audit: Audit = Field(default=Audit(), description="verdicts on published rows")
    showcase: Showcase | None = Field(
        default=None, description="run that the report shows over time"
    )
    real_time: RealTime = Field(default=RealTime(), description="runs in real mahimahi")
    confirm: Confirm | None = Field(default=None, description="settings to run in real mahimahi")

    @property
    def storage_url(self) -> str | None:
        """URL of the database for a copy of all studies, if any."""
        return self.storage or os.environ.get("KNEEPOINT_STORAGE") or None

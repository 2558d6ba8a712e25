"""Configuration models of the main file, config.yaml: the keys of the core.

Questions declare models of further keys; kneepoint.runs.settings combines all of them into the
model of the whole file.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.config.report import Report
from kneepoint.networks.config import Name, Names, TraceSources

Keys = TypeVar("Keys")


class HoldOut(ConfigModel):
    """Held-out networks, on which published and tuned settings run."""

    training: Name = Field(description="network on which the settings were found")
    networks: Names = Field(min_length=1, description="held-out networks: files of networks/")

    @model_validator(mode="after")
    def _networks_differ(self) -> Self:
        for name in self.networks:
            if name == self.training:
                raise ValueError(f"networks lists {name}, which is the training network; remove it")
        return self


def _is_usable(path: Path) -> Path:
    """Rejects paths that Snakemake reads as wildcards, or that programs read as options."""
    text = str(path)
    if text.startswith("-") or re.search(r"[{}\s]", text.replace(" ", "")):
        raise ValueError("it must not begin with - or contain a brace, tab or line break")
    try:
        return path.expanduser()
    except RuntimeError:
        raise ValueError("no such user; give the full path") from None


def _is_address(text: str) -> str:
    if not re.fullmatch(r"(\[[0-9a-fA-F:]+\]|[\w.-]+):\d{1,5}", text):
        raise ValueError(f"{text!r} is not HOST:PORT; give what ray start --head prints")
    return text


class RealTime(ConfigModel):
    """The conditions of real-time runs on this host."""

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
        description="HOST:PORT of a Ray cluster to join; null: $KNEEPOINT_RAY_ADDRESS, or a new "
        "local cluster",
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
    report: Report | None = Field(
        default=None, description="title, authors and texts of the report"
    )
    real_time: RealTime = Field(default=RealTime(), description="runs in real mahimahi")

    def part(self, keys: type[Keys]) -> Keys:
        """Returns the keys of a question as an instance of its model."""
        assert isinstance(self, keys)
        return self

    @property
    def storage_url(self) -> str | None:
        """The URL of the database for a copy of all studies, if configured."""
        return self.storage or os.environ.get("KNEEPOINT_STORAGE") or None

"""Models of networks and of the sources of their traces, as a user writes them in YAML."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, RootModel, model_validator

from common.config_file import ConfigModel, matching, read_config
from common.errors import KneepointError

_NAME = r"[a-z0-9][a-z0-9_-]{0,99}"
_NAMES = "lower-case letters, digits, - and _ only"
Name = Annotated[str, matching(_NAME, _NAMES)]
"""What files of the configuration may be called, without their suffix."""

TraceName = Annotated[
    str, matching(r"(?a:\w[\w.-]{0,99})", "a file's name: letters, digits, ., - and _ only")
]
Sha256 = Annotated[str, matching(r"[0-9a-f]{64}", "64 digits, 0 to 9 and a to f")]
_ARGUMENTS = r"(?a:\w+=[\w.]+(,\w+=[\w.]+)*)"
Queue = Annotated[
    str,
    matching(
        rf"infinite|(droptail|drophead|codel|pie)(:{_ARGUMENTS})?",
        "infinite, droptail, drophead, codel or pie, with its settings like droptail:packets=100",
    ),
]
HostModel = Annotated[
    str,
    matching(
        rf"ideal|event-loop(:{_ARGUMENTS})?",
        "ideal, event-loop, or event-loop:KEY=VALUE,KEY=VALUE",
    ),
]


class TraceSources(ConfigModel):
    """Where the traces come from that the cache does not hold yet."""

    source: Literal["auto", "folder", "debian", "git"] = Field(
        default="auto",
        description="auto: the folder if one is given, then the Debian package, then git",
    )
    folder: Path | None = Field(default=None, description="a folder that holds the trace files")
    git_url: str = Field(
        default="https://github.com/ravinet/mahimahi",
        description="a git repository with the traces in its folder traces/",
    )
    git_commit: Annotated[
        str, matching(r"[0-9a-f]{40}", "all 40 digits of a commit, 0 to 9 and a to f")
    ] = Field(
        default="ae477d437615b972217498ba52be07db17a15618",
        description="the commit of that repository to take, all 40 digits",
    )

    @model_validator(mode="after")
    def _folder_is_named(self) -> Self:
        if self.source == "folder" and self.folder is None:
            raise ValueError("source is folder, but no folder is named; add the key folder")
        return self


class FetchSettings(BaseModel, frozen=True):
    """The two keys of the workflow's configuration that fetching reads; it ignores the others."""

    traces: TraceSources = Field(default=TraceSources(), description="sources of packaged traces")
    cache: Path | None = Field(
        default=None,
        description="folder of the cache; null: $KNEEPOINT_CACHE, or kneepoint/ in "
        "$XDG_CACHE_HOME or ~/.cache",
    )


class TraceEntry(ConfigModel):
    """What is known of one packaged trace."""

    sha256: Sha256 = Field(description="SHA-256 of the trace file")


class TraceCatalogue(RootModel[dict[TraceName, TraceEntry]]):
    """The packaged traces by name: config/traces.yaml."""


class Cut(ConfigModel):
    """A part of a trace: opportunities after start_s, up to and including end_s, moved to 0.

    An opportunity at the very start could carry nothing: a packet that arrives at a millisecond
    leaves strictly after it.
    """

    start_s: float = Field(default=0.0, ge=0, description="where the part begins (s)")
    end_s: float = Field(gt=0, description="where the part ends (s)")

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if self.end_s <= self.start_s:
            raise ValueError(f"end_s {self.end_s:g} must be greater than start_s {self.start_s:g}")
        return self


class Synthetic(ConfigModel):
    """A cellular link: Poisson deliveries at a Brownian rate, with outages (the Sprout paper)."""

    seed: int = Field(ge=0, description="seed of the random stream; the same seed, the same trace")
    duration_s: float = Field(gt=0, description="length of the trace (s)")
    start_rate_mbps: float = Field(gt=0, description="rate at the start (Mbit/s)")
    max_rate_mbps: float = Field(gt=0, description="the rate stays below (Mbit/s)")
    sigma_packets_per_s: float = Field(
        default=200.0,
        ge=0,
        description="noise power of the Brownian motion (packets/s per sqrt(s))",
    )
    outage_escape_per_s: float = Field(
        default=1.0, gt=0, description="rate at which an outage ends (1/s)"
    )

    @model_validator(mode="after")
    def _starts_below_its_bound(self) -> Self:
        if self.max_rate_mbps < self.start_rate_mbps:
            raise ValueError(
                f"max_rate_mbps {self.max_rate_mbps:g} is below "
                f"start_rate_mbps {self.start_rate_mbps:g}"
            )
        return self


class LinkTrace(ConfigModel):
    """The delivery opportunities of one direction: exactly one of trace, constant, synthetic."""

    trace: TraceName | None = Field(default=None, description="a trace of config/traces.yaml")
    cut: Cut | None = Field(default=None, description="the part of the trace to use; null: all")
    constant_mbps: float | None = Field(default=None, gt=0, description="a constant rate (Mbit/s)")
    synthetic: Synthetic | None = Field(default=None, description="a seeded cellular link")
    sha256: Sha256 | None = Field(default=None, description="pin of the resulting trace file")

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        kinds = (self.trace, self.constant_mbps, self.synthetic)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError("give exactly one of trace, constant_mbps, synthetic")
        if self.cut and self.trace is None:
            raise ValueError("cut goes with trace only; remove it")
        return self


class Network(ConfigModel):
    """One network: config/networks/NAME.yaml."""

    title: str = Field(min_length=1, description="name in reports")
    uplink: LinkTrace = Field(description="the link that carries the data")
    downlink: LinkTrace = Field(description="the link that carries the ACKs")
    delay_ms: int = Field(default=20, ge=0, description="fixed one-way delay, each way (ms)")
    uplink_queue: Queue = Field(
        default="infinite", description="infinite, or a policy like droptail:packets=100"
    )
    downlink_queue: Queue = Field(
        default="infinite", description="infinite, or a policy like droptail:packets=100"
    )
    duration_s: float | None = Field(
        default=None, gt=0, description="length of a run (s); null: once through the trace"
    )
    host_model: HostModel = Field(
        default="event-loop", description="ideal, event-loop, or event-loop:KEY=VALUE,..."
    )
    host_latency_us: int = Field(
        default=0, ge=0, description="further latency of the host in each direction (us)"
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        constant = self.uplink.constant_mbps or self.downlink.constant_mbps
        if constant and self.duration_s is None:
            raise ValueError("duration_s: is missing; a constant rate has no end of its own")
        return self

    @property
    def trace_names(self) -> tuple[str, ...]:
        """The packaged traces that this network needs, sorted."""
        return tuple(sorted({link.trace for link in (self.uplink, self.downlink) if link.trace}))

    @property
    def is_synthetic(self) -> bool:
        """Whether a link of it is made by build/synthesize."""
        return any(link.synthetic for link in (self.uplink, self.downlink))


def load_network(config: Path, name: str) -> Network:
    """Reads networks/`name`.yaml beside the configuration file `config`.

    Raises:
        KneepointError: no such network, or it is not well-formed.
    """
    path = config.parent / "networks" / f"{name}.yaml"
    if not re.fullmatch(_NAME, name):
        raise KneepointError(f"{path}: rename it; {_NAMES}")
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml"))) or "none"
        raise KneepointError(f"{path}: no network is called {name!r}; known: {known}")
    return read_config(path, Network)


def load_trace_catalogue(config: Path) -> dict[str, TraceEntry]:
    """Reads traces.yaml beside the configuration file `config`.

    Raises:
        KneepointError: the file is missing or not well-formed.
    """
    return read_config(config.parent / "traces.yaml", TraceCatalogue).root

"""Configuration models of networks and of trace sources."""

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, Field, RootModel, model_validator

from kneepoint.common.config_file import ConfigModel, matching, names_in, read_config
from kneepoint.common.errors import KneepointError, require_known
from kneepoint.common.places import SHIPPED
from kneepoint.networks.declared import Notation, declared, read_notation
from kneepoint.networks.scenario import DELAYS, DELAYS_MS

NAME = r"[a-z0-9][a-z0-9_-]{0,99}"
NAMES = "lower-case letters, digits, - and _ only"
Name = Annotated[str, matching(NAME, NAMES)]
"""Name of a configuration file, without its suffix."""


def _each_once(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} appears twice; remove one")
    return names


EACH_ONCE = AfterValidator(_each_once)
Names = Annotated[tuple[Name, ...], EACH_ONCE]

TraceName = Annotated[
    str, matching(r"(?a:\w[\w.-]{0,99})", "a file's name: letters, digits, ., - and _ only")
]
Sha256 = Annotated[str, matching(r"[0-9a-f]{64}", "64 digits, 0 to 9 and a to f")]
Queue = Annotated[str, AfterValidator(lambda text: str(read_notation("queues", text)))]
Impairment = Annotated[str, AfterValidator(lambda text: str(read_notation("impairments", text)))]
HostModel = Annotated[str, AfterValidator(lambda text: str(read_notation("host_models", text)))]


class TraceSources(ConfigModel):
    """Sources of traces that are not in the cache."""

    source: Literal["auto", "folder", "debian", "git"] = Field(
        default="auto",
        description="auto: the folder if given, then the Debian package, then git",
    )
    folder: Path | None = Field(
        default=None,
        description="folder with the trace files, relative to the folder of the configuration",
    )
    git_url: str = Field(
        default="https://github.com/ravinet/mahimahi",
        description="git repository with the traces in its folder traces/",
    )
    git_commit: Annotated[
        str, matching(r"[0-9a-f]{40}", "all 40 digits of a commit, 0 to 9 and a to f")
    ] = Field(
        default="ae477d437615b972217498ba52be07db17a15618",
        description="commit of that repository, all 40 digits",
    )

    @model_validator(mode="after")
    def _folder_is_named(self) -> Self:
        if self.source == "folder" and self.folder is None:
            raise ValueError("source is folder, but the key folder is missing; add it")
        return self


class FetchSettings(BaseModel, frozen=True):
    """The keys of config.yaml that the trace cache reads."""

    traces: TraceSources = Field(default=TraceSources(), description="sources of packaged traces")
    cache: Path | None = Field(
        default=None,
        description="folder of the cache; null: $KNEEPOINT_CACHE, or kneepoint/ in "
        "$XDG_CACHE_HOME or ~/.cache",
    )


class TraceEntry(ConfigModel):
    """Catalogue entry of one packaged trace."""

    sha256: Sha256 = Field(description="SHA-256 of the trace file")


class TraceCatalogue(RootModel[dict[TraceName, TraceEntry]]):
    """The packaged traces by name: config/traces.yaml."""


class Cut(ConfigModel):
    """Part of a trace: the opportunities in (start_s, end_s], shifted to start at 0.

    start_s itself is excluded: a packet departs strictly later than the millisecond in which it
    arrives, so an opportunity at time 0 could carry no packet.
    """

    start_s: float = Field(default=0.0, ge=0, description="start of the part (s)")
    end_s: float = Field(gt=0, description="end of the part (s)")

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if self.end_s <= self.start_s:
            raise ValueError(f"end_s {self.end_s:g} must be greater than start_s {self.start_s:g}")
        return self


class Synthetic(ConfigModel):
    """Cellular link model of the Sprout paper: Poisson deliveries, Brownian rate, outages."""

    seed: int = Field(ge=0, description="seed of the random stream; equal seeds give equal traces")
    duration_s: float = Field(gt=0, description="duration of the trace (s)")
    start_rate_mbps: float = Field(gt=0, description="initial rate (Mbit/s)")
    max_rate_mbps: float = Field(gt=0, description="upper bound of the rate (Mbit/s)")
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
                f"max_rate_mbps {self.max_rate_mbps:g} must be at least "
                f"start_rate_mbps {self.start_rate_mbps:g}"
            )
        return self

    @property
    def options(self) -> list[str]:
        """The options of `synthesize` that make the trace."""
        given = self.model_dump().items()
        return [
            word for name, value in given for word in (f"--{name.replace('_', '-')}", str(value))
        ]


class RateChange(ConfigModel):
    """A change of the rate at a time."""

    at_s: float = Field(gt=0, description="time in a run (s)")
    mbps: float = Field(ge=0, description="rate from that time on (Mbit/s)")


class LinkTrace(ConfigModel):
    """Delivery opportunities of one direction: a trace, a constant rate or a synthetic link."""

    trace: TraceName | None = Field(default=None, description="name of a trace in traces.yaml")
    cut: Cut | None = Field(default=None, description="part of the trace to use; null: all")
    constant_mbps: float | None = Field(
        default=None, gt=0, description="constant rate (Mbit/s), as a trace of whole packets"
    )
    changes: tuple[RateChange, ...] = Field(
        default=(), description="changes of constant_mbps within a run, in the order of time"
    )
    rate_mbps: float | None = Field(
        default=None,
        ge=0.001,
        le=100_000,
        description="constant rate (Mbit/s), exact to the byte, like the port of a router, "
        "without a trace; not in mahimahi",
    )
    synthetic: Synthetic | None = Field(default=None, description="synthetic cellular link")
    sha256: Sha256 | None = Field(
        default=None, description="expected SHA-256 of the resulting trace file"
    )
    loss_probability: float = Field(
        default=0, ge=0, le=1, description="probability that a packet is lost"
    )
    loss_period: int | None = Field(
        default=None, ge=2, description="n, if every n-th packet is lost"
    )
    loss_after_link: bool = Field(
        default=False,
        description="place of these losses: true: after the link's queue, as with mm-loss outside "
        "mm-link; false: before the link and its impairments",
    )
    impairments: tuple[Impairment, ...] = Field(
        default=(),
        description="impairments of packets before the link, in this order: on_off:on=5,off=1, "
        "jitter-normal:mean=10,deviation=3, reordering:share=0.1,delay=5; not in mahimahi",
    )

    @model_validator(mode="after")
    def _has_one_kind(self) -> Self:
        kinds = (self.trace, self.constant_mbps, self.synthetic, self.rate_mbps)
        if sum(kind is not None for kind in kinds) != 1:
            raise ValueError(
                "needs exactly one of trace, constant_mbps, synthetic and rate_mbps; give one"
            )
        if self.cut and self.trace is None:
            raise ValueError("cut applies to trace only; remove it")
        if self.sha256 and self.rate_mbps is not None:
            raise ValueError("rate_mbps has no trace; remove sha256")
        if self.loss_after_link and not (self.loss_probability or self.loss_period):
            raise ValueError("loss_after_link: nothing is lost; add loss_probability, or remove it")
        if self.changes and self.constant_mbps is None:
            raise ValueError("changes apply to constant_mbps only; remove them")
        for before, after in pairwise(self.changes):
            if after.at_s <= before.at_s:
                raise ValueError(
                    f"changes: at_s {after.at_s:g} does not follow {before.at_s:g}; order them"
                )
        return self


class Network(ConfigModel):
    """One network: config/networks/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    uplink: LinkTrace = Field(description="link that carries the data")
    downlink: LinkTrace = Field(description="link that carries the ACKs")
    delay_ms: float = Field(
        default=20,
        ge=0,
        le=60_000,
        description="one-way propagation delay in each direction (ms); whole milliseconds unless "
        "both links have rate_mbps",
    )
    delay_step_ms: float | None = Field(
        default=None,
        ge=0,
        le=60_000,
        description="addition to delay_ms in the second half of each delay_period_s (ms), in "
        "each direction; a whole number if delay_ms must be one; not in mahimahi",
    )
    delay_period_s: float | None = Field(
        default=None,
        ge=0.01,
        le=86_400,
        description="period of the changes of the delay (s); twice the time of a single step",
    )
    uplink_queue: Queue = Field(
        default="infinite", description="infinite, or a discipline such as droptail:packets=100"
    )
    downlink_queue: Queue = Field(
        default="infinite", description="infinite, or a discipline such as droptail:packets=100"
    )
    duration_s: float | None = Field(
        default=None, gt=0, description="duration of a run (s); null: one pass of the trace"
    )
    host_model: HostModel = Field(
        default="event-loop", description="ideal, event-loop, or event-loop:KEY=VALUE,..."
    )
    host_latency_us: int = Field(
        default=0, ge=0, description="additional host latency in each direction (us)"
    )
    host_from: Name | None = Field(
        default=None,
        description="study that searches parameters of the host; the values of its best trial "
        "replace values in host_model and host_latency_us",
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        links = (self.uplink, self.downlink)
        constant = any(link.constant_mbps or link.rate_mbps for link in links)
        if constant and self.duration_s is None:
            raise ValueError("duration_s: is missing; a constant rate needs one, add it")
        for change in (each for link in links for each in link.changes):
            if self.duration_s is not None and change.at_s >= self.duration_s:
                raise ValueError(
                    f"changes: at_s {change.at_s:g} is not before the end of a run, duration_s "
                    f"{self.duration_s:g}; remove it"
                )
        for key in DELAYS_MS:
            delay_ms = getattr(self, key) or 0
            if delay_ms % 1 and not all(link.rate_mbps for link in links):
                raise ValueError(f"{key}: {delay_ms:g} must be whole, as mahimahi's delays are")
        if (self.delay_step_ms is None) != (self.delay_period_s is None):
            raise ValueError(
                "delay_step_ms and delay_period_s belong together; give both or neither"
            )
        if self.host_from and self.host_model == "ideal":
            raise ValueError("host_from: an ideal host has no parameters to fit; remove host_model")
        return self

    @property
    def host(self) -> Mapping[str, float | str]:
        """All settings of the emulated host, defaults included."""
        notation = Notation.parse(self.host_model)
        known = declared("host_models")[notation.kind].parameters
        defaults = {name: each.default for name, each in known.items() if each.default is not None}
        stated = {
            name: text if known[name].type == "times" else float(text)
            for name, text in notation.parameters.items()
        }
        return {
            "model": notation.kind,
            "host_latency_us": float(self.host_latency_us),
            **defaults,
            **stated,
        }

    @property
    def links(self) -> Mapping[str, Mapping[str, object]]:
        """Both links, with the delays and the queue of the network."""
        delays = {name: getattr(self, name) for name in DELAYS}
        return {
            name: {**dict(link), **delays, "queue": queue}
            for name, link, queue in (
                ("uplink", self.uplink, self.uplink_queue),
                ("downlink", self.downlink, self.downlink_queue),
            )
        }

    @property
    def trace_names(self) -> tuple[str, ...]:
        """Sorted names of the packaged traces that this network needs."""
        return tuple(sorted({link.trace for link in (self.uplink, self.downlink) if link.trace}))

    @property
    def recordings(self) -> tuple[str, ...]:
        """Sorted names of the recordings that it replays; NAME.up and NAME.down are one."""
        return tuple(sorted({name.rpartition(".")[0] or name for name in self.trace_names}))

    def made_of(self, digests: Mapping[str, str]) -> str:
        """Returns all inputs of its preparation as text, given the SHA-256 of each trace."""
        return json.dumps({**self.model_dump(mode="json"), "traces": dict(digests)})

    @property
    def is_synthetic(self) -> bool:
        """Whether either link is synthetic."""
        return any(link.synthetic for link in (self.uplink, self.downlink))


OF_SYNTHETIC = "synthetic."
"""Prefix of a study's parameters of a synthetic uplink, as in synthetic.max_rate_mbps."""
SYNTHETIC_PARAMETERS = tuple(
    OF_SYNTHETIC + name for name in Synthetic.model_fields if name != "duration_s"
)


def changed(network: Network, values: Mapping[str, float]) -> Network:
    """Returns a network with these values of its parameters; raises ValueError if it lacks one.

    Parameters are DELAYS and, of the uplink, rate_mbps, loss_probability, queue.NAME and
    synthetic.NAME.
    """
    content = network.model_dump()
    uplink = content["uplink"]
    for name, value in values.items():
        kind, _, setting = name.partition(".")
        if name in DELAYS:
            content[name] = value
        elif kind == "queue":
            queue = Notation.parse(content["uplink_queue"])
            content["uplink_queue"] = str(queue.with_value(setting, f"{value:g}"))
        elif kind != "synthetic":
            uplink[name] = value
        elif uplink[kind] is None:
            raise ValueError("its uplink is not synthetic; name a network with a synthetic uplink")
        else:
            uplink[kind][setting] = value
    return Network.model_validate(content)


def network_file(config: Path, name: str) -> Path:
    """Returns networks/`name`.yaml beside `config` or, without this file, the shipped file."""
    own, shipped = (each / "networks" / f"{name}.yaml" for each in (config.parent, SHIPPED))
    return shipped if shipped.is_file() and not own.is_file() else own


def known_networks(config: Path) -> list[str]:
    """Returns the names of the networks beside `config`, then of the shipped networks."""
    folders = (config.parent / "networks", SHIPPED / "networks")
    return list(dict.fromkeys(name for folder in folders for name in names_in(folder)))


def load_network(config: Path, name: str, named_in: str | None = None) -> Network:
    """Reads networks/`name`.yaml beside the configuration file `config`, or the shipped file.

    Raises KneepointError without such a file; the message begins with `named_in`, the file that
    names the network.
    """
    where = f"{named_in}: " if named_in else ""
    if not re.fullmatch(NAME, name):
        raise KneepointError(f"{where}network {name!r}: invalid name; use {NAMES}")
    require_known(name, known_networks(config), f"{where}unknown network {name!r}")
    return read_config(network_file(config, name), Network)


def catalogue_files(config: Path) -> list[Path]:
    """Returns the catalogues of the traces that a configuration may name."""
    paths = [folder / "traces.yaml" for folder in (SHIPPED, config.parent)]
    return list({path.resolve(): path for path in paths if path.is_file()}.values())


def load_trace_catalogue(config: Path) -> dict[str, TraceEntry]:
    """Reads the shipped traces.yaml and the traces.yaml beside `config`, which has precedence."""
    found: dict[str, TraceEntry] = {}
    for path in catalogue_files(config):
        found |= read_config(path, TraceCatalogue).root
    return found

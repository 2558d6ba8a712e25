"""Configuration models of studies, repeats and the workflow, and cross-file checks."""

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from common.config_file import ConfigModel, matching, read_config
from common.errors import KneepointError
from common.files import require_folder
from engines.base import FLOW_METRICS, LINK_METRICS, PROBE_METRICS
from engines.catalogue import Catalogue, Controller, require_sources
from engines.kernel.scenario import Queue as KernelQueue
from engines.mahimahi.queues import queue_of
from experiments.published import Metric, PublishedTable, load_table
from networks.config import (
    LinkTrace,
    Name,
    Network,
    TraceSources,
    load_network,
    load_trace_catalogue,
)
from networks.notation import Notation
from networks.queues import check_queue
from networks.scenario import NETWORK_PARAMETERS, OF_QUEUE
from networks.traffic import TrafficFile, TrafficFlow

ADDED_RUNS = "added_runs"
"""The experiment that adds runs to published rows whose verdict is unclear."""
_RESERVED = (
    *("comparisons", "kernel"),
    *("repeats", "hold_out", "showcase", "figures", "tables"),
    *("probe", "confirm", "calibration", "agreement", "again", "real_showcase"),
    ADDED_RUNS,
)
"""Folder names in the results that studies may not use."""


class Range(ConfigModel):
    """Search range of a parameter: an interval or a list of values."""

    low: float | None = Field(default=None, description="lower bound")
    high: float | None = Field(default=None, description="upper bound")
    log: bool | None = Field(
        default=None, description="logarithmic scale; null: as the controller declares"
    )
    values: tuple[float, ...] | None = Field(
        default=None, description="list of values, instead of low and high"
    )

    @model_validator(mode="after")
    def _is_interval_or_list(self) -> Self:
        if self.values is not None:
            if self.low is not None or self.high is not None or self.log is not None:
                raise ValueError("has both values and low or high; give only one of them")
            if not self.values or len(set(self.values)) != len(self.values):
                raise ValueError(f"values {list(self.values)} must be non-empty and distinct")
        elif self.low is None or self.high is None:
            raise ValueError("has no range; give low and high, or values")
        elif self.low >= self.high:
            raise ValueError(f"low {self.low:g} must be less than high {self.high:g}")
        elif self.log and self.low <= 0:
            raise ValueError(f"low {self.low:g} must be above 0 on a logarithmic scale")
        return self

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and greatest values."""
        if self.values is not None:
            return min(self.values), max(self.values)
        assert self.low is not None and self.high is not None
        return self.low, self.high

    def contains(self, value: float) -> bool:
        """Whether the range contains the value."""
        least, greatest = self.bounds
        return least <= value <= greatest and (self.values is None or value in self.values)


class Sampler(ConfigModel):
    """How a study chooses its trials."""

    kind: Literal[
        "grid", "ternary", "golden", "tpe", "random", "qmc", "cmaes", "nsga2", "nsga3"
    ] = Field(
        description="grid: every point; ternary, golden: one unimodal parameter; nsga2, nsga3: "
        "objective front"
    )
    trials: int | None = Field(
        default=None,
        ge=1,
        description="number of trials, for samplers without a natural end",
    )
    startup_trials: int | None = Field(
        default=None, ge=1, description="random trials before TPE or CMA-ES starts to learn"
    )
    population: int | None = Field(
        default=None, ge=2, description="trials of a generation of NSGA-II or NSGA-III; null: 50"
    )

    @model_validator(mode="after")
    def _ends(self) -> Self:
        ends_itself = self.kind in ("grid", "ternary", "golden")
        if ends_itself and self.trials is not None:
            end = "at the end of its grid or table" if self.kind == "grid" else "at the peak"
            raise ValueError(
                f"trials is {self.trials}, but sampler {self.kind} stops on its own {end}; "
                "remove trials"
            )
        if not ends_itself and self.trials is None:
            raise ValueError(f"sampler {self.kind} does not stop on its own; add trials")
        if self.startup_trials is not None and self.kind not in ("tpe", "cmaes"):
            raise ValueError(f"sampler {self.kind} has no startup phase; remove startup_trials")
        if self.population is not None and not self.is_genetic:
            raise ValueError(f"sampler {self.kind} has no population; remove population")
        return self

    @property
    def is_genetic(self) -> bool:
        """Whether it breeds generations of trials."""
        return self.kind in ("nsga2", "nsga3")


class Start(ConfigModel):
    """Trials that a search begins with instead of the defaults; those outside its space do not."""

    tables: tuple[Name, ...] = Field(default=(), description="rows of these published tables")
    studies: tuple[Name, ...] = Field(default=(), description="the best of these studies")

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.tables or self.studies)


class Race(ConfigModel):
    """Stops trials that can no longer win, so that their runs go to those that can."""

    pruner: Literal["elitist", "wilcoxon", "median", "hyperband"] = Field(
        default="elitist",
        description="which test stops a trial: elitist, a paired t test against the best at hand, "
        "as in irace; the others are Optuna's",
    )
    first: int = Field(default=2, ge=1, description="pairs that every trial runs")
    p: float = Field(
        default=0.3, gt=0, le=0.5, description="p value that stops a trial; elitist and wilcoxon"
    )


HOST_SETTINGS = (
    "host_latency_us",
    "wake_us",
    "wake_mean_us",
    "packet_us",
    "read_us",
    "receiver_us",
    "delay_scale",
)
"""The host latency of a network and the parameters of the event-loop model."""


def _known_on_host(host: Mapping[str, Range]) -> Mapping[str, Range]:
    for name in host:
        if name not in HOST_SETTINGS:
            raise ValueError(f"{name!r} is not a host parameter; known: {', '.join(HOST_SETTINGS)}")
    return host


Host = Annotated[Mapping[str, Range], AfterValidator(_known_on_host)]
"""Search ranges of the emulated host's parameters."""


Over = Literal["mean", "worst", "mean_log", "cvar"]
"""How runs on several networks make one value."""


class Objective(ConfigModel):
    """What a study optimises: power, throughput, a front, or the misfit to published tables."""

    power: Over | None = Field(
        default=None,
        description="maximise power over networks: its mean, worst case, mean log, or mean over "
        "the worst runs (cvar)",
    )
    throughput: Over | None = Field(
        default=None, description="maximise throughput over networks; needs delay_ms"
    )
    delay_ms: float | None = Field(
        default=None, gt=0, description="with throughput: bound of the signal delay"
    )
    front: Literal["mean", "worst", "mean_log"] | None = Field(
        default=None,
        description="maximise throughput and minimise signal delay over networks: a Pareto front",
    )
    tail: float | None = Field(
        default=None, gt=0, le=1, description="with cvar: the share of the worst runs; null: 0.25"
    )
    flows: Literal["sum_log", "worst", "share"] | None = Field(
        default=None,
        description="maximise over the flows of the traffic: the sum of the logarithms of their "
        "goodputs, the least goodput, or the share of the controller under study",
    )
    least: str | None = Field(
        default=None, description="minimise this searched parameter, which needs keeping"
    )
    keeping: Mapping[Literal["utilization", "throughput_mbps", "power"], float] = Field(
        default={}, description="with least: metrics and the means that they must reach"
    )
    fit: tuple[Name, ...] = Field(
        default=(), description="minimise the misfit to one published table, or jointly to several"
    )
    robust: bool = Field(default=True, description="with fit: bound the influence of outlier rows")

    @field_validator("fit", mode="before", json_schema_input_type=Name | tuple[Name, ...])
    @classmethod
    def _one_table_needs_no_list(cls, value: Any) -> Any:
        if not isinstance(value, str | list | tuple):
            raise ValueError(f"{value!r} is not a table name; name one or more files of published/")
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        given = [self.power, self.throughput, self.front, self.flows, self.least, self.fit or None]
        if sum(each is not None for each in given) != 1:
            raise ValueError(
                "needs exactly one of power, throughput, front, flows, least and fit; give one"
            )
        if (self.throughput is None) != (self.delay_ms is None):
            raise ValueError("throughput and delay_ms belong together; give both or neither")
        if self.tail is not None and "cvar" not in (self.power, self.throughput):
            raise ValueError("tail is of cvar; remove it")
        if (self.least is None) != (not self.keeping):
            raise ValueError("least and keeping belong together; give both or neither")
        if len(set(self.fit)) != len(self.fit):
            raise ValueError("fit lists a table twice; remove one")
        return self

    @property
    def minimises(self) -> bool:
        """Whether a smaller value is better."""
        return bool(self.fit) or self.least is not None

    def __str__(self) -> str:
        """Returns its name in results."""
        if self.fit:
            return "fit"
        if self.flows:
            return f"{self.flows} goodput"
        if self.front:
            return f"{self.front} front"
        if self.throughput:
            return f"{self.throughput} throughput"
        return f"least {self.least}" if self.least else f"{self.power} power"


Engine = Literal["emulator", "mahimahi", "kernel"]
"""emulator: virtual time. mahimahi: real time, on hosts with mahimahi installed. kernel: the
kernel's own TCP on a link of constant rate, in real time."""
NETWORK = "network."
"""How the parameters of a network begin in a study's space."""
LEAST_OF_GRID_SEARCH = 3
"""A grid that varies so many parameters is a search; fewer are a sweep or a heat map."""
SearchEngine = Literal["emulator", "mahimahi"]
"""Engines that run the controllers of this repository."""
ComparisonEngine = Literal["emulator", "kernel"]
"""Engines that run comparisons: those that measure every flow."""
EMULATOR: Literal["emulator"] = "emulator"
MAHIMAHI: Literal["mahimahi"] = "mahimahi"
KERNEL: Literal["kernel"] = "kernel"


class Study(ConfigModel):
    """One search: config/studies/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    controller: str = Field(description="controller under study")
    engine: SearchEngine = Field(default="emulator", description="emulator or mahimahi")
    networks: tuple[Name, ...] = Field(
        min_length=1, description="names of files in config/networks"
    )
    traffic: Name | None = Field(
        default=None, description="file of config/traffic; null: one endless flow of datagrams"
    )
    constants: Mapping[str, float] = Field(default={}, description="parameters with fixed values")
    space: Mapping[str, Range] = Field(
        default={},
        description="parameters to search, with their ranges: the controller's, and those of the "
        "network: network.delay_ms, network.rate_mbps, network.loss_probability, and of its "
        "uplink's queue, as network.queue.packets",
    )
    host: Host = Field(
        default={},
        description="parameters of the emulated host to search, with objective fit only: "
        "host_latency_us, or a parameter of the event-loop model",
    )
    table: Name | None = Field(
        default=None, description="replaces space: trial i replays row i of this published table"
    )
    sampler: Sampler = Field(
        default=Sampler(kind="grid"), description="how the study chooses trials"
    )
    objective: Objective = Field(
        default=Objective(power="mean"), description="what the study optimises"
    )
    race: Race | None = Field(
        default=None,
        description="run all trials on the same pairs of network and seed, in the same shuffled "
        "order, and stop those that can no longer win",
    )
    start: Start = Field(default_factory=lambda: Start(), description="trials to begin with")
    runs_per_trial: int = Field(
        default=1, ge=1, description="replicates of a trial on each network"
    )
    ask_ahead: int = Field(
        default=4, ge=1, description="trials asked before the first of them is told"
    )
    compare: tuple[Name, ...] = Field(
        default=(), description="published tables that reports compare with this study"
    )

    @field_validator(
        "objective", mode="before", json_schema_input_type=Objective | Literal["power"]
    )
    @classmethod
    def _objective_may_be_a_word(cls, value: Any) -> Any:
        return {"power": "mean"} if value == "power" else value

    @field_validator("networks")
    @classmethod
    def _networks_differ(cls, networks: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(networks)) != len(networks):
            raise ValueError("a network appears twice; remove one")
        return networks

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.table is not None:
            if self.space or self.host or self.sampler.kind != "grid" or self.objective.fit:
                raise ValueError(
                    "table defines every trial; remove space, host, sampler and objective.fit"
                )
        elif not self.space and not self.host:
            raise ValueError("searches nothing; add space or table")
        for name in self.space:
            if name in self.constants:
                raise ValueError(
                    f"{name} is both fixed (constants) and searched (space); remove one"
                )
        for name in self.space:
            of_network = name.removeprefix(NETWORK)
            if name.startswith(NETWORK) and not (
                of_network in NETWORK_PARAMETERS or of_network.startswith(OF_QUEUE)
            ):
                known = ", ".join(NETWORK + each for each in (*NETWORK_PARAMETERS, "queue.NAME"))
                raise ValueError(f"{name!r} is no parameter of a network; known: {known}")
        if self.objective.least is not None and self.objective.least not in self.space:
            raise ValueError(
                f"objective: least is {self.objective.least!r}, which space does not search; add it"
            )
        self._check_front()
        self._check_race()
        if self.start and (self.table or self.sampler.kind in ("grid", "ternary", "golden")):
            raise ValueError(f"sampler {self.sampler.kind} chooses every trial; remove start")
        if self.objective.flows and self.traffic is None:
            raise ValueError("objective: flows needs traffic; add it")
        if self.host and self.engine != "emulator":
            raise ValueError("only the emulator has a host model; remove host or use that engine")
        if self.host and not self.objective.fit:
            raise ValueError("host needs the objective fit; remove host or add fit")
        if self.sampler.kind in ("ternary", "golden"):
            searched = [*self.space.values(), *self.host.values()]
            if len(searched) != 1 or searched[0].values is not None:
                raise ValueError(
                    f"sampler {self.sampler.kind} needs exactly one parameter with low and high"
                )
        for name, searched_range in {**self.space, **self.host}.items():
            if self.sampler.kind == "grid" and searched_range.values is None:
                raise ValueError(f"sampler grid needs values for {name}, not low and high")
            if self.sampler.kind == "cmaes" and searched_range.values is not None:
                raise ValueError(f"sampler cmaes needs low and high for {name}, not values")
        return self

    def _check_front(self) -> None:
        kind = self.sampler.kind
        if self.sampler.is_genetic and not self.objective.front:
            raise ValueError(f"sampler {kind} is for several objectives; give objective front")
        if self.objective.front and kind in ("ternary", "golden", "cmaes"):
            raise ValueError(
                f"sampler {kind} knows one objective; use tpe, nsga2 or nsga3 for a front"
            )

    def _check_race(self) -> None:
        if self.race is None:
            return
        if not self.objective.power:
            raise ValueError("race needs one objective, a power; remove race")
        if self.table or self.sampler.kind in ("ternary", "golden"):
            raise ValueError(
                "race stops trials, but ternary, golden and table need each; remove race"
            )
        pairs = len(self.networks) * self.runs_per_trial
        if pairs <= self.race.first:
            raise ValueError(
                f"race: a trial has {pairs} pairs of network and seed, and each runs the first "
                f"{self.race.first}: nothing is left to save; raise runs_per_trial or add networks"
            )

    @property
    def is_grid_search(self) -> bool:
        """Whether its grid is a search: over so many parameters that no figure shows it whole.

        A grid that is compared with a published table stands beside that table.
        """
        varied = [each for each in self.space.values() if each.values and len(each.values) > 1]
        is_grid = self.sampler.kind == "grid" and self.table is None and not self.compare
        return is_grid and not self.objective.fit and len(varied) >= LEAST_OF_GRID_SEARCH

    @property
    def tunes(self) -> bool:
        """Whether it searches for the greatest power instead of following a given list."""
        is_alone = self.traffic is None and not any(name.startswith(NETWORK) for name in self.space)
        wants_power = self.objective.power is not None and is_alone
        learns = self.sampler.kind != "grid" or self.is_grid_search
        return wants_power and not self.table and learns

    def count_runs(self, rows: int) -> int | None:
        """The number of runs, given the number of table rows; None if the sampler decides."""
        if self.table:
            trials: int | None = rows
        elif self.sampler.kind == "grid":
            searched = [*self.space.values(), *self.host.values()]
            trials = math.prod(len(each.values or ()) for each in searched)
        else:
            trials = self.sampler.trials
        each = (rows if self.objective.fit else 1) * len(self.networks) * self.runs_per_trial
        return None if trials is None else trials * each

    @property
    def tables(self) -> tuple[str, ...]:
        """The published tables that this study reads or is compared with, without duplicates."""
        needed = (self.table, *self.objective.fit, *self.compare, *self.start.tables)
        return tuple(dict.fromkeys(name for name in needed if name is not None))


class Setting(ConfigModel):
    """A controller and its parameters; omitted parameters keep their defaults."""

    controller: str = Field(description="controller")
    constants: Mapping[str, float] = Field(default={}, description="its parameters")


class PublishedSpread(ConfigModel):
    """Published statistics of repeated runs of one setting."""

    setting: int = Field(ge=0, description="index of the setting, from 0")
    metric: Metric = Field(description="metric of a run")
    mean: float = Field(description="published mean, or the single value of a table")
    standard_deviation: float | None = Field(
        default=None, ge=0, description="published standard deviation"
    )
    n: int | None = Field(default=None, ge=1, description="number of runs, if stated")
    source: str = Field(min_length=1, description="report and table, for captions")


class Repeat(ConfigModel):
    """Settings replicated with fresh seeds: config/repeats/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    engine: SearchEngine = Field(default="emulator", description="emulator or mahimahi")
    network: Name = Field(description="file of config/networks")
    repeats: int = Field(ge=1, description="replicates of each setting")
    settings: tuple[Setting, ...] = Field(min_length=1, description="settings to replicate")
    published: tuple[PublishedSpread, ...] = Field(
        default=(), description="published statistics to compare with"
    )

    @model_validator(mode="after")
    def _settings_exist(self) -> Self:
        for spread in self.published:
            if spread.setting >= len(self.settings):
                raise ValueError(
                    f"published names setting {spread.setting}, but the last one is "
                    f"{len(self.settings) - 1}; correct it"
                )
        return self


class EngineRuns(ConfigModel):
    """What an engine runs of a comparison."""

    repeats: int = Field(ge=1, description="replicates of each setting, on each network")
    networks: tuple[Name, ...] | None = Field(
        default=None, min_length=1, description="only these of the networks; null: all"
    )


class PublishedFigure(ConfigModel):
    """A published number of a comparison."""

    setting: int = Field(ge=0, description="index of the setting, from 0")
    traffic: Name | None = Field(default=None, description="null: the first")
    network: Name = Field(description="one of the networks")
    figure: Annotated[
        str,
        matching(
            r"(?a:[\w-]+\.[a-z]\w*)",
            "the name of a flow or probe, a dot and its metric, as ping.rtt_mean_ms",
        ),
    ] = Field(description="which: NAME.METRIC of a flow or probe, or link.METRIC")
    value: float = Field(description="the number")
    high: float | None = Field(default=None, description="its upper end, where a range is printed")
    step: float = Field(gt=0, description="worth of one in its last printed digit")
    n: int | None = Field(default=None, ge=1, description="measurements behind it, if stated")
    place: str = Field(min_length=1, description="where in the source it stands")
    remark: str = Field(default="", description="what its author or the reader adds")

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        if self.high is not None and self.high <= self.value:
            raise ValueError(f"high {self.high:g} must be greater than value {self.value:g}")
        return self


class Comparison(ConfigModel):
    """Settings under the same traffic on several networks: config/comparisons/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    engines: Mapping[ComparisonEngine, EngineRuns] = Field(
        min_length=1, description="where it runs, emulator or kernel, and how often"
    )
    traffic: tuple[Name, ...] = Field(
        min_length=1, description="file of config/traffic, or a list of them"
    )
    networks: tuple[Name, ...] = Field(min_length=1, description="files of config/networks")
    settings: tuple[Setting, ...] = Field(
        min_length=1, description="the controllers under study, each with its parameters"
    )
    source: str = Field(default="", description="where the published numbers come from")
    published: tuple[PublishedFigure, ...] = Field(
        default=(), description="published numbers to compare with"
    )

    @field_validator("traffic", mode="before", json_schema_input_type=Name | tuple[Name, ...])
    @classmethod
    def _one_traffic_needs_no_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        of_engines = {f"engines: {e}: networks": r.networks or () for e, r in self.engines.items()}
        named = {"networks": self.networks, "traffic": self.traffic, **of_engines}
        for key, values in named.items():
            if len(set(values)) != len(values):
                raise ValueError(f"{key} lists one twice; remove it")
        for key, values in of_engines.items():
            self._require(values, self.networks, key)
        if self.published and not self.source:
            raise ValueError("has published numbers, but no source; add it")
        for number, each in enumerate(self.published):
            if each.setting >= len(self.settings):
                raise ValueError(
                    f"published {number} names setting {each.setting}, but the last one is "
                    f"{len(self.settings) - 1}; correct it"
                )
            self._require([each.network], self.networks, f"published {number}: network")
            if each.traffic is not None:
                self._require([each.traffic], self.traffic, f"published {number}: traffic")
        return self

    @staticmethod
    def _require(values: Iterable[str], known: Iterable[str], key: str) -> None:
        for value in values:
            if value not in known:
                raise ValueError(f"{key} {value!r} is not of the comparison; add it there")

    def networks_on(self, engine: ComparisonEngine) -> tuple[str, ...]:
        """The networks on which an engine runs it."""
        return self.engines[engine].networks or self.networks


class Showcase(Setting):
    """The run whose rate and delay over time the report shows."""

    network: Name = Field(description="file of config/networks")


class HoldOut(ConfigModel):
    """Held-out networks, on which published and tuned settings run."""

    training: Name = Field(description="network on which the settings were found")
    networks: tuple[Name, ...] = Field(
        min_length=1, description="held-out networks: files of networks/"
    )
    published: Literal["all", "best"] = Field(
        default="all", description="every replayed row, or only the best of each controller"
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
            if self.networks.count(name) > 1:
                raise ValueError(f"networks lists {name} twice; remove one")
        return self


class Probe(Setting):
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
        "logarithm); the fit takes the one that best reproduces the spread of the real runs",
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
    """How many runs the verdict on a published row may take."""

    runs: tuple[Annotated[int, Field(ge=2)], ...] = Field(
        default=(10, 30),
        description="while the verdict on a row is unclear, its runs are made up to each of these "
        "numbers in turn; the last is the limit; none: those of the studies suffice",
    )

    @field_validator("runs")
    @classmethod
    def _grow(cls, runs: tuple[int, ...]) -> tuple[int, ...]:
        if list(runs) != sorted(set(runs)):
            raise ValueError("the numbers must grow; sort them, each once")
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
    probe: Probe | None = Field(
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
        description="URL of a database that gets a copy of all studies for Optuna's tools, as "
        "postgresql+psycopg://HOST/NAME; null: $KNEEPOINT_STORAGE, or none",
    )
    traces: TraceSources = Field(default=TraceSources(), description="sources of packaged traces")
    studies: tuple[Name, ...] = Field(default=(), description="names of files in config/studies")
    repeats: tuple[Name, ...] = Field(default=(), description="names of files in config/repeats")
    comparisons: tuple[Name, ...] = Field(
        default=(), description="names of files in config/comparisons"
    )
    hold_out: HoldOut | None = Field(
        default=None, description="networks on which published and tuned settings run as well"
    )
    audit: Audit = Field(default=Audit(), description="verdicts on published rows")
    showcase: Showcase | None = Field(
        default=None, description="run that the report shows over time"
    )
    real_time: RealTime = Field(default=RealTime(), description="runs in real mahimahi")
    confirm: Confirm | None = Field(default=None, description="settings to run in real mahimahi")

    @property
    def storage_url(self) -> str | None:
        """URL of the database that gets a copy of all studies; None: there is none."""
        return self.storage or os.environ.get("KNEEPOINT_STORAGE") or None

    @field_validator("studies", "repeats", "comparisons")
    @classmethod
    def _names_differ(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"{name!r} appears twice; remove one")
        return names


@dataclass(frozen=True)
class Workflow:
    """The whole configuration, read and validated."""

    path: Path
    settings: Settings
    studies: Mapping[str, Study]
    repeats: Mapping[str, Repeat]
    comparisons: Mapping[str, Comparison]
    traffic: Mapping[str, TrafficFile]
    tables: Mapping[str, PublishedTable]
    networks: Mapping[str, Network]

    @property
    def results(self) -> Path:
        """Folder of the results."""
        return self.settings.results

    @property
    def ray_address(self) -> str | None:
        """Address of the Ray to join; None: it has one of its own.

        Raises:
            KneepointError: the environment has no address.
        """
        named = os.environ.get("KNEEPOINT_RAY_ADDRESS") or None
        try:
            return self.settings.ray_address or (named and _is_address(named))
        except ValueError as error:
            raise KneepointError(f"KNEEPOINT_RAY_ADDRESS: {error}") from None

    def check_results(self) -> None:
        """Checks that every folder of the results is writable.

        Raises:
            KneepointError: a path is blocked or not writable.
        """
        folders = [
            *(*_RESERVED, *self.studies),
            *(f"repeats/{name}" for name in self.repeats),
            *(f"comparisons/{name}" for name in self.comparisons),
        ]
        for folder in ("", *folders):
            require_folder(self.results / folder)

    @property
    def showcase(self) -> Showcase | None:
        """The run shown over time."""
        return self.settings.showcase

    @property
    def hold_out(self) -> HoldOut | None:
        """Held-out networks for published and tuned settings."""
        return self.settings.hold_out

    @property
    def confirm(self) -> Confirm | None:
        """Settings to run in real mahimahi."""
        return self.settings.confirm

    @property
    def probe(self) -> Probe | None:
        """How to measure the number of real-time slots."""
        return self.settings.real_time.probe

    def of_engine(self, engine: Engine) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the studies and of the repeats that run on an engine."""
        return (
            tuple(name for name, study in self.studies.items() if study.engine == engine),
            tuple(name for name, repeat in self.repeats.items() if repeat.engine == engine),
        )

    @cached_property
    def tunings(self) -> tuple[str, ...]:
        """The studies that tune a controller on the training network."""
        return self._on_training(lambda study: study.tunes)

    @cached_property
    def replays(self) -> tuple[str, ...]:
        """The studies that replay a published table on the training network."""
        return self._on_training(lambda study: study.table is not None)

    def _on_training(self, wanted: Callable[[Study], bool]) -> tuple[str, ...]:
        if self.hold_out is None:
            return ()
        training = self.hold_out.training
        return tuple(
            name
            for name, study in self.studies.items()
            if wanted(study) and training in study.networks and study.engine == "emulator"
        )

    @cached_property
    def tables_beside(self) -> Mapping[str, tuple[str, ...]]:
        """For each study, the published tables that reports compare with it."""
        return {
            name: tuple(dict.fromkeys(filter(None, (study.table, *study.compare))))
            for name, study in self.studies.items()
        }

    @cached_property
    def audited(self) -> tuple[str, ...]:
        """The emulator's studies that the audit reads: what stands beside tables, and fits."""
        return tuple(n for n, s in self.studies.items() if s.tables and s.engine == EMULATOR)

    @property
    def adds_runs(self) -> bool:
        """Whether runs are added to published rows whose verdict is unclear."""
        return bool(self.settings.audit.runs and any(map(self.tables_beside.get, self.audited)))

    @cached_property
    def controllers(self) -> Mapping[str, str]:
        """Every controller in the configuration, and the first file that names it."""
        named: dict[str, str] = {}
        for name, study in self.studies.items():
            named.setdefault(study.controller, self._file("studies", name))
        for name, table in self.tables.items():
            named.setdefault(table.description.controller, self._file("published", name))
        for where, setting, _ in self._settings():
            named.setdefault(setting.controller, where)
        return named

    def controllers_beside(self, traffic: str | None) -> list[str]:
        """Controllers of a traffic's flows that are not under study."""
        flows = self.traffic[traffic].flows.values() if traffic else ()
        return [flow.controller for flow in flows if flow.controller is not None]

    @property
    def held_controllers(self) -> list[str]:
        """Controllers whose settings run on held-out networks."""
        return [self.studies[name].controller for name in (*self.replays, *self.tunings)]

    @property
    def confirmed_controllers(self) -> list[str]:
        """Controllers of all settings that `make confirm` may run."""
        if self.confirm is None:
            return []
        named = [each.controller for each in (*self.confirm.settings, *calibrating(self.confirm))]
        if self.confirm.best:
            named += self.held_controllers
        if self.confirm.contradicted:
            named += [table.description.controller for table in self.tables.values()]
        return named

    def check_against(self, catalogue: Catalogue, is_whole: bool = True) -> None:
        """Checks every controller, parameter and value in the configuration.

        Args:
            catalogue: the known controllers.
            is_whole: whether every controller must be in the catalogue. Otherwise each needs only
                a source file, and those that are broken or not yet built are skipped.

        Raises:
            KneepointError: the first mistake, with its file.
        """
        if not is_whole:
            require_sources(self.controllers)

        def counts(controller: str) -> bool:
            return is_whole or controller in catalogue.controllers

        for table in self.tables.values():
            if counts(table.description.controller):
                table.check_against(catalogue, self.path.parent / "published")
        for name, study in self.studies.items():
            if counts(study.controller):
                where = self._file("studies", name)
                _check_study(where, study, self.tables, catalogue)
                controller = catalogue.controller(study.controller, where)
                _check_fit(controller, self._flows_under_study(study.traffic), where)
        for where, setting, flows in self._settings():
            if counts(setting.controller):
                controller = catalogue.controller(setting.controller, where)
                _check_fit(controller, flows, where)
                controller.complete(setting.constants, where)

    def _flows_under_study(self, traffic: str | None) -> Sequence[TrafficFlow]:
        """The flows that a controller under study sends in a traffic; without one it is alone."""
        if traffic is None:
            return (TrafficFlow(),)
        flows = self.traffic[traffic].flows.values()
        return [flow for flow in flows if flow.controller is None]

    def _settings(self) -> Iterator[tuple[str, Setting, Sequence[TrafficFlow]]]:
        """Every setting outside the studies, the place that names it, and the flows it sends."""
        alone = self._flows_under_study(None)
        for name, repeat in self.repeats.items():
            for setting in repeat.settings:
                yield self._file("repeats", name), setting, alone
        for name, comparison in self.comparisons.items():
            compared = [
                flow for traffic in comparison.traffic for flow in self._flows_under_study(traffic)
            ]
            for setting in comparison.settings:
                yield self._file("comparisons", name), setting, compared
        for name, traffic in self.traffic.items():
            for flow in traffic.flows.values():
                if flow.controller is not None:
                    beside = Setting(controller=flow.controller, constants=flow.constants)
                    yield self._file("traffic", name), beside, (flow,)
        if self.settings.showcase:
            yield f"{self.path}, showcase", self.settings.showcase, alone
        if self.probe:
            yield f"{self.path}, real_time.probe", self.probe, alone
        if self.confirm:
            for setting in self.confirm.settings:
                yield f"{self.path}, confirm.settings", setting, alone
            for setting in calibrating(self.confirm):
                yield f"{self.path}, confirm.calibration", setting, alone

    def _file(self, folder: str, name: str) -> str:
        return str(self.path.parent / folder / f"{name}.yaml")


def calibrating(confirm: Confirm) -> tuple[Setting, ...]:
    """Returns the settings that calibrate the emulated host."""
    return tuple(
        Setting(controller="fixed_window", constants={"window": window, "keepalive_ms": 1000})
        for window in confirm.calibration.windows
    )


def study_of_calibration(confirm: Confirm) -> Study:
    """Returns the fit of the emulated host to real fixed windows, which no file describes."""
    return Study(
        title="The emulated host, fitted to real fixed windows",
        controller=calibrating(confirm)[0].controller,
        networks=(confirm.network,),
        host=confirm.calibration.host,
        objective=Objective(fit=("confirm",)),
        runs_per_trial=confirm.calibration.runs_per_trial,
    )


def load_workflow(config: Path) -> Workflow:
    """Reads the configuration and every file that it names.

    Raises:
        KneepointError: a file is missing or malformed, or two files disagree.
    """
    settings = read_config(config, Settings)
    studies = {name: _load(config, "studies", name, Study) for name in settings.studies}
    repeats = {name: _load(config, "repeats", name, Repeat) for name in settings.repeats}
    comparisons = {
        name: _load(config, "comparisons", name, Comparison) for name in settings.comparisons
    }
    used = [study.traffic for study in studies.values() if study.traffic]
    used += [name for each in comparisons.values() for name in each.traffic]
    traffic = {name: _load(config, "traffic", name, TrafficFile) for name in dict.fromkeys(used)}
    for name, study in studies.items():
        if name in _RESERVED:
            raise KneepointError(f"{config}: {name!r} is a reserved name; rename the study")
        _check_fit_networks(config, name, study)
    tables = {
        table: load_table(config, table) for study in studies.values() for table in study.tables
    }
    for name, study in studies.items():
        _check_tables(config, name, study, tables)
    named_in = _networks_named(config, settings, studies, repeats, comparisons)
    networks = {name: load_network(config, name, where) for name, where in named_in.items()}
    _check_traces(config, networks)
    for name, study in studies.items():
        _check_queues(config, name, study, networks)
    workflow = Workflow(config, settings, studies, repeats, comparisons, traffic, tables, networks)
    _check_fitted_hosts(workflow)
    _check_real_networks(workflow)
    _check_starts(workflow)
    _check_warm_starts(workflow)
    _check_comparisons(workflow)
    _check_hold_out(workflow)
    return workflow


def _networks_named(
    config: Path,
    settings: Settings,
    studies: Mapping[str, Study],
    repeats: Mapping[str, Repeat],
    comparisons: Mapping[str, Comparison],
) -> dict[str, str]:
    """Returns every network that is used, and the first file that names it."""

    def of_file(folder: str, name: str, networks: Iterable[str]) -> list[tuple[str, str]]:
        return [(each, str(config.parent / folder / f"{name}.yaml")) for each in networks]

    named: list[tuple[str, str]] = []
    for name, study in studies.items():
        named += of_file("studies", name, study.networks)
    for name, repeat in repeats.items():
        named += of_file("repeats", name, [repeat.network])
    for name, comparison in comparisons.items():
        named += of_file("comparisons", name, comparison.networks)
    held = settings.hold_out
    own = [held.training, *held.networks] if held else []
    own += [part.network for part in (settings.showcase, settings.confirm) if part]
    own += [settings.real_time.probe.network] if settings.real_time.probe else []
    named += [(network, str(config)) for network in own]
    found: dict[str, str] = {}
    for network, where in named:
        found.setdefault(network, where)
    return found


def _load(config: Path, folder: str, name: str, model: type[Any]) -> Any:
    path = config.parent / folder / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml"))) or "none"
        raise KneepointError(
            f"{config}: {folder} lists {name!r}, but {path} does not exist; known: {known}"
        )
    return read_config(path, model)


def _check_fit_networks(config: Path, name: str, study: Study) -> None:
    if study.objective.fit and len(study.networks) != 1:
        raise KneepointError(
            f"{config.parent / 'studies' / name}.yaml: a fit needs exactly one network, "
            f"not {len(study.networks)}; keep one"
        )


def _check_queues(config: Path, name: str, study: Study, networks: Mapping[str, Network]) -> None:
    for parameter, searched in study.space.items():
        if not parameter.startswith(NETWORK + OF_QUEUE):
            continue
        setting = parameter.removeprefix(NETWORK + OF_QUEUE)
        for network in study.networks:
            queue = Notation.parse(networks[network].uplink_queue)
            for value in searched.values if searched.values is not None else searched.bounds:
                try:
                    check_queue(str(queue.having(setting, f"{value:g}")))
                except ValueError as error:
                    raise KneepointError(
                        f"{config.parent / 'studies' / name}.yaml: space: {parameter} {value:g} "
                        f"on network {network}: {error}"
                    ) from error


def _check_tables(
    config: Path, name: str, study: Study, tables: Mapping[str, PublishedTable]
) -> None:
    path = config.parent / "studies" / f"{name}.yaml"
    for table_name in study.tables:
        table = tables[table_name]
        if table.description.controller != study.controller:
            raise KneepointError(
                f"{path}: controller is {study.controller}, but table {table_name} describes "
                f"{table.description.controller}; make them agree"
            )
        if table_name in (study.table, *study.objective.fit) and not table.replayable:
            raise KneepointError(
                f"{path}: no row of table {table_name} has all its parameters; choose another"
            )


def _check_fitted_hosts(workflow: Workflow) -> None:
    """Refuses a host from no fit, and a fit on a network that would wait for it."""
    for name, network in workflow.networks.items():
        where = f"{workflow.path.parent / 'networks' / name}.yaml: host_from"
        before = {name}
        while (study_name := network.host_from) is not None:
            study = workflow.studies.get(study_name)
            if study is None or not study.host:
                fits = [each for each, found in workflow.studies.items() if found.host]
                raise KneepointError(
                    f"{where}: {study_name!r} is no study of {workflow.path} that searches the "
                    f"host; known: {', '.join(fits) or 'none'}"
                )
            (fitted_on,) = study.networks
            if fitted_on in before:
                raise KneepointError(
                    f"{where}: study {study_name} itself runs on {fitted_on}, so neither could "
                    "come first; fit on a network without host_from"
                )
            before.add(fitted_on)
            network = workflow.networks[fitted_on]


def _check_real_networks(workflow: Workflow) -> None:
    """Refuses runs in mahimahi on what it does not have."""
    folder = workflow.path.parent
    own = [workflow.probe.network] if workflow.probe else []
    if workflow.confirm:
        own.append(workflow.confirm.network)
        own += [workflow.showcase.network] if workflow.showcase else []
    real = {
        **dict.fromkeys(own, workflow.path),
        **{
            network: folder / "studies" / f"{name}.yaml"
            for name, study in workflow.studies.items()
            if study.engine == MAHIMAHI
            for network in study.networks
        },
        **{
            repeat.network: folder / "repeats" / f"{name}.yaml"
            for name, repeat in workflow.repeats.items()
            if repeat.engine == MAHIMAHI
        },
    }
    for network, where in real.items():
        if not workflow.networks[network].is_mahimahi:
            raise KneepointError(
                f"{where}: network {network} has rate_mbps or loss, which mahimahi cannot emulate; "
                "give the link a trace or constant_mbps, or use the engine emulator"
            )
        for direction in ("uplink", "downlink"):
            queue = getattr(workflow.networks[network], f"{direction}_queue")
            queue_of(queue, f"{where}: network {network}, {direction}")
    for name, study in workflow.studies.items():
        if study.traffic and study.engine == MAHIMAHI:
            raise KneepointError(
                f"{folder / 'studies' / name}.yaml: traffic runs in the emulator only; remove it"
            )


def _check_warm_starts(workflow: Workflow) -> None:
    """Refuses to begin with a study that is unknown, of another controller, or that comes later."""
    for name, study in workflow.studies.items():
        path = workflow.path.parent / "studies" / f"{name}.yaml"
        seen = [name]
        waiting = list(study.start.studies)
        while waiting:
            first = waiting.pop()
            other = workflow.studies.get(first)
            if other is None:
                known = ", ".join(workflow.studies)
                raise KneepointError(
                    f"{path}: start names the study {first!r}, which {workflow.path} does not "
                    f"list; known: {known}"
                )
            if first == name:
                raise KneepointError(f"{path}: start leads back to {name} itself; remove it")
            if other.controller != study.controller:
                raise KneepointError(
                    f"{path}: start names {first}, a study of {other.controller}, but the "
                    f"controller is {study.controller}; make them agree"
                )
            if first not in seen:
                seen.append(first)
                waiting += other.start.studies


def _check_starts(workflow: Workflow) -> None:
    """Refuses what could begin when its run is over: a flow, a probe, the time that counts."""
    studies, comparisons = workflow.studies.values(), workflow.comparisons.values()
    used = [(study.traffic, study.networks) for study in studies if study.traffic]
    used += [(traffic, each.networks) for each in comparisons for traffic in each.traffic]
    for name, networks in used:
        traffic = workflow.traffic[name]
        senders = {**traffic.flows, **traffic.probes}
        starts = {
            f"{each} begins up to {sender.latest_start_s:g} s after a run's start": (
                sender.latest_start_s,
                "start_s or start_spread_s",
            )
            for each, sender in senders.items()
        }
        starts[f"measure_from_s is {traffic.measure_from_s:g}"] = (
            traffic.measure_from_s,
            "measure_from_s",
        )
        for network in networks:
            end_s = workflow.networks[network].duration_s
            for what, (start_s, remedy) in starts.items():
                if end_s is not None and start_s >= end_s:
                    raise KneepointError(
                        f"{workflow.path.parent / 'traffic' / name}.yaml: {what}, but on network "
                        f"{network} a run ends at {end_s:g} s; lower {remedy}, or raise the "
                        "network's duration_s"
                    )


def _check_comparisons(workflow: Workflow) -> None:
    """Refuses networks that the kernel cannot make, and published figures of nothing."""
    for name, comparison in workflow.comparisons.items():
        where = f"{workflow.path.parent / 'comparisons' / name}.yaml"
        for network in comparison.networks_on(KERNEL) if KERNEL in comparison.engines else ():
            _require_on_kernel(workflow.networks[network], f"{where}: kernel: network {network}")
        for number, printed in enumerate(comparison.published):
            traffic = workflow.traffic[printed.traffic or comparison.traffic[0]]
            source, _, metric = printed.figure.partition(".")
            known = {
                **dict.fromkeys(traffic.flows, FLOW_METRICS),
                **dict.fromkeys(traffic.probes, PROBE_METRICS),
                "link": LINK_METRICS,
            }
            if metric not in known.get(source, ()):
                choice = ", ".join(known.get(source, [f"{each}.METRIC" for each in known]))
                raise KneepointError(
                    f"{where}: published {number}: there is no figure {printed.figure}; "
                    f"known: {choice}"
                )


def _require_on_kernel(network: Network, where: str) -> None:
    for direction in ("uplink", "downlink"):
        link: LinkTrace = getattr(network, direction)
        if link.rate_mbps is None or link.loss_probability or link.loss_period:
            raise KneepointError(
                f"{where}: {direction}: the kernel has neither traces nor random loss; give the "
                "link rate_mbps alone, or name the networks that the kernel shall run"
            )
        try:
            KernelQueue.parse(getattr(network, f"{direction}_queue"))
        except ValueError as error:
            raise KneepointError(f"{where}: {direction}: {error}") from None


def _check_hold_out(workflow: Workflow) -> None:
    held = workflow.hold_out
    if held is None:
        return
    if not workflow.tunings:
        raise KneepointError(
            f"{workflow.path}: hold_out: no study tunes a controller on {held.training}; add one "
            "to studies, or remove hold_out"
        )
    for name, study in workflow.studies.items():
        for network in study.networks if study.tunes else ():
            if network in held.networks:
                raise KneepointError(
                    f"{workflow.path}: hold_out: study {name} tunes on the held-out network "
                    f"{network}; remove it from one of them"
                )
    _check_recordings(workflow, held)


def _check_recordings(workflow: Workflow, held: HoldOut) -> None:
    """Refuses cuts of one recording on both sides: what was tuned on is not held out."""
    tuned = {
        recording: (name, network)
        for name, study in workflow.studies.items()
        if study.tunes
        for network in study.networks
        for recording in workflow.networks[network].recordings
    }
    for network in held.networks:
        for recording in workflow.networks[network].recordings:
            if recording in tuned:
                study, own = tuned[recording]
                raise KneepointError(
                    f"{workflow.path}: hold_out: {network} is part of the recording {recording}, "
                    f"and so is {own}, on which study {study} tunes; remove one of them"
                )


def _check_traces(config: Path, networks: Mapping[str, Network]) -> None:
    catalogue = (
        load_trace_catalogue(config) if any(n.trace_names for n in networks.values()) else {}
    )
    for name, network in networks.items():
        for trace in network.trace_names:
            if trace not in catalogue:
                raise KneepointError(
                    f"{config.parent / 'networks' / name}.yaml: trace {trace!r} is not in "
                    f"traces.yaml; known: {', '.join(sorted(catalogue))}"
                )


def _check_fit(controller: Controller, flows: Iterable[TrafficFlow], where: str) -> None:
    for flow in flows:
        has_ecn = flow.tcp is not None and flow.tcp.ecn is True
        controller.require(flow.transport, where, has_ecn=has_ecn)


def _check_study(
    where: str, study: Study, tables: Mapping[str, PublishedTable], catalogue: Catalogue
) -> None:
    controller = catalogue.controller(study.controller, where)
    controller.complete(study.constants, where)
    for name, searched in study.space.items():
        if name.startswith(NETWORK):
            continue
        constant = controller.constant(name, where)
        for value in searched.values if searched.values is not None else searched.bounds:
            constant.check(value, f"{where}, space")
    for table in filter(None, (study.table, *study.objective.fit)):
        for row in tables[table].replayable:
            controller.complete({**study.constants, **row.constants}, f"{where}, table {table}")

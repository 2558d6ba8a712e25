"""Configuration models of studies: spaces, samplers, objectives, races."""

import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from common.config_file import ConfigModel
from common.errors import suggestion
from engines.expression import Expression
from engines.limits import LIMITS
from networks.config import SYNTHETIC_PARAMETERS, Name, Names
from networks.scenario import NETWORK_PARAMETERS, OF_QUEUE


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
    """Trials that a search begins with instead of the defaults, if they lie in its space."""

    tables: tuple[Name, ...] = Field(default=(), description="rows of these published tables")
    studies: tuple[Name, ...] = Field(default=(), description="best trials of these studies")

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.tables or self.studies)


class Race(ConfigModel):
    """Stops trials that can no longer win, to save their runs."""

    pruner: Literal["elitist", "wilcoxon", "median", "hyperband"] = Field(
        default="elitist",
        description="test that stops a trial: elitist, a paired t test against the best so far, "
        "as in irace; the others are Optuna's",
    )
    first: int = Field(default=2, ge=1, description="pairs that every trial runs")
    p: float = Field(
        default=0.1, gt=0, le=0.5, description="p value that stops a trial; elitist and wilcoxon"
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
            near = suggestion(name, HOST_SETTINGS)
            raise ValueError(f"{name!r} is not a host parameter; {near}")
    return host


Host = Annotated[Mapping[str, Range], AfterValidator(_known_on_host)]
"""Search ranges of the emulated host's parameters."""


Over = Literal["mean", "worst", "mean_log", "cvar"]
"""How runs on several networks are combined into one value."""


class Setting(ConfigModel):
    """A controller and its parameters; omitted parameters keep their defaults."""

    controller: str = Field(description="controller")
    constants: Mapping[str, float] = Field(default={}, description="its parameters")


class WorstCase(ConfigModel):
    """The network on which a controller does worst, relative to another sender."""

    against: Setting | None = Field(
        default=None, description="the other sender; null: the omniscient sender"
    )


def _has_a_value(text: str) -> str:
    """Refuses an expression without a value for a failed run, which must be worse than others."""
    expression = Expression(text)
    try:
        expression.of_failed_run()
    except ValueError as error:
        raise ValueError(f"it has no value for a run that delivers nothing: {error}") from None
    return text


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
    expression: Annotated[str, AfterValidator(_has_a_value)] | None = Field(
        default=None,
        description="maximise an expression over a run's metrics, such as log(throughput_mbps) - "
        "0.5 * log(signal_delay_p95_ms)",
    )
    over: Literal["mean", "worst"] | None = Field(
        default=None,
        description="with expression: its mean over networks (null), or its worst network's",
    )
    front: Literal["mean", "worst", "mean_log"] | None = Field(
        default=None,
        description="maximise throughput and minimise signal delay over networks: a Pareto front",
    )
    tail: float | None = Field(
        default=None, gt=0, le=1, description="with cvar: share of the worst runs; null: 0.25"
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
    worst_case: WorstCase | None = Field(
        default=None,
        description="search the network: minimise the power of the controller relative to that of "
        "the omniscient sender, or of another setting",
    )
    fit: Names = Field(
        default=(), description="minimise the misfit to one published table, or jointly to several"
    )
    on: Mapping[Name, Name] = Field(
        default={},
        description="with fit and several networks: for each table the network of its rows",
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
        kinds = (
            "power",
            "throughput",
            "expression",
            "front",
            "flows",
            "least",
            "worst_case",
            "fit",
        )
        if sum(getattr(self, kind) not in (None, ()) for kind in kinds) != 1:
            raise ValueError(
                f"needs exactly one of {', '.join(kinds[:-1])} and {kinds[-1]}; give one"
            )
        if (self.throughput is None) != (self.delay_ms is None):
            raise ValueError("throughput and delay_ms belong together; give both or neither")
        if self.over is not None and not self.expression:
            raise ValueError("over applies to expression only; remove it")
        if self.tail is not None and "cvar" not in (self.power, self.throughput):
            raise ValueError("tail applies to cvar only; remove it")
        if (self.least is None) != (not self.keeping):
            raise ValueError("least and keeping belong together; give both or neither")
        return self

    @property
    def minimises(self) -> bool:
        """Whether a smaller value is better."""
        return bool(self.fit) or self.least is not None or self.worst_case is not None

    @property
    def opponent(self) -> Setting | None:
        """The setting that a worst case is relative to; None: the omniscient sender."""
        return self.worst_case.against if self.worst_case else None

    def __str__(self) -> str:
        """Returns its name in results."""
        if self.fit:
            return "fit"
        if self.flows:
            return f"{self.flows} goodput"
        if self.worst_case:
            beside = self.opponent.controller if self.opponent else "the omniscient sender"
            return f"power relative to {beside}"
        if self.front:
            return f"{self.front} front"
        if self.expression:
            return f"{self.over or 'mean'} of {self.expression}"
        if self.throughput:
            return f"{self.throughput} throughput"
        return f"least {self.least}" if self.least else f"{self.power} power"


Engine = Literal["emulator", "mahimahi", "kernel"]
"""emulator: virtual time. mahimahi: real time, on hosts with mahimahi installed. kernel: the
kernel's own TCP on a link of constant rate, in real time."""


NETWORK = "network."
"""Prefix of network parameters in a study's space."""


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
    networks: Names = Field(min_length=1, description="names of files in config/networks")
    traffic: Name | None = Field(
        default=None, description="file of config/traffic; null: one endless flow of datagrams"
    )
    constants: Mapping[str, float] = Field(default={}, description="parameters with fixed values")
    space: Mapping[str, Range] = Field(
        default={},
        description="parameters to search, with their ranges: the controller's, and those of the "
        "network: network.delay_ms, network.delay_step_ms and network.delay_period_s, "
        "network.rate_mbps, network.loss_probability, and of its "
        "uplink's queue and synthetic trace, as network.queue.packets and "
        "network.synthetic.max_rate_mbps",
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
            parameters = (*NETWORK_PARAMETERS, *SYNTHETIC_PARAMETERS)
            if name.startswith(NETWORK) and not (
                of_network in parameters or of_network.startswith(OF_QUEUE)
            ):
                near = suggestion(name, (NETWORK + each for each in (*parameters, "queue.NAME")))
                raise ValueError(f"{name!r} is not a network parameter; {near}")
        if self.objective.least is not None and self.objective.least not in self.space:
            raise ValueError(
                f"objective: least is {self.objective.least!r}, which space does not search; add it"
            )
        self._check_front()
        self._check_race()
        self._check_worst_case()
        self._check_fit()
        if self.start and (self.table or self.sampler.kind in ("grid", "ternary", "golden")):
            raise ValueError(f"sampler {self.sampler.kind} chooses every trial; remove start")
        if self.objective.flows and self.traffic is None:
            raise ValueError("objective: flows needs traffic; add it")
        if self.host and LIMITS[self.engine].real_host:
            raise ValueError("only the emulator has a host model; remove host or use that engine")
        if self.host and not self.objective.fit:
            raise ValueError("host needs the objective fit; remove host or add fit")
        for name, fitted in {**self.space, **self.host}.items() if self.objective.fit else ():
            if len(fitted.values or (0, 1)) == 1:
                raise ValueError(
                    f"a fit compares values, and {name} has a single one; give several, or set "
                    f"it in {'the network' if name in self.host else 'constants'}"
                )
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
        if self.objective.expression and kind == "grid":
            raise ValueError("sampler grid compares power; give another for an expression")
        if self.sampler.is_genetic and not self.objective.front:
            raise ValueError(f"sampler {kind} is for several objectives; give objective front")
        if self.objective.front and kind in ("ternary", "golden", "cmaes"):
            raise ValueError(
                f"sampler {kind} supports one objective only; use tpe, nsga2 or nsga3 for a front"
            )

    def _check_fit(self) -> None:
        on, fit = self.objective.on, self.objective.fit
        several = bool(fit) and len(self.networks) > 1
        if several and (set(on) != set(fit) or set(on.values()) != set(self.networks)):
            raise ValueError(
                f"a fit on {len(self.networks)} networks needs to know where each table ran; give "
                f"objective.on a network for each of {', '.join(fit)}, and use all networks"
            )
        if on and not several:
            raise ValueError("objective.on applies to a fit on several networks; remove it")

    def _check_worst_case(self) -> None:
        if self.objective.worst_case is None:
            return
        if of_controller := [name for name in self.space if not name.startswith(NETWORK)]:
            raise ValueError(
                f"worst_case searches the network, but space has {', '.join(of_controller)}; move "
                "that to constants"
            )
        if len(self.networks) != 1 or self.traffic or self.table or self.engine != "emulator":
            raise ValueError(
                "worst_case needs one network of the emulator, without traffic and table"
            )

    def _check_race(self) -> None:
        if self.race is None:
            return
        if not self.objective.power:
            raise ValueError("race needs one objective, a power; remove race")
        if self.table or self.sampler.kind in ("ternary", "golden"):
            raise ValueError(
                "race stops trials, but ternary, golden and table need every one; remove race"
            )
        pairs = len(self.networks) * self.runs_per_trial
        if pairs <= self.race.first:
            raise ValueError(
                f"race: a trial has {pairs} pairs of network and seed, and runs at least the first "
                f"{self.race.first}: a race saves nothing; raise runs_per_trial or add networks"
            )

    @property
    def is_grid_search(self) -> bool:
        """Whether its grid is a search: over too many parameters for one figure.

        A grid that is compared with a published table is not.
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
        pairs = rows if self.objective.fit else len(self.networks)
        each = pairs * self.runs_per_trial
        each *= 2 if self.objective.opponent else 1
        return None if trials is None else trials * each

    @property
    def tables(self) -> tuple[str, ...]:
        """The published tables that this study reads or is compared with, without duplicates."""
        needed = (self.table, *self.objective.fit, *self.compare, *self.start.tables)
        return tuple(dict.fromkeys(name for name in needed if name is not None))

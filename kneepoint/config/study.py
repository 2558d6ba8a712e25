"""Configuration models of studies: spaces, samplers, objectives, races."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from kneepoint.common.config_file import ConfigModel, quote
from kneepoint.common.errors import suggestion
from kneepoint.engines.expression import Expression
from kneepoint.engines.limits import LIMITS
from kneepoint.networks.config import SYNTHETIC_PARAMETERS, Name, Names
from kneepoint.networks.scenario import NETWORK_PARAMETERS, OF_QUEUE


def _as_list(value: Any) -> Any:
    if not isinstance(value, str | list | tuple):
        raise ValueError("it must be a name or a list of names")
    return (value,) if isinstance(value, str) else value


OneOrMore = Annotated[
    Names, BeforeValidator(_as_list, json_schema_input_type=Name | tuple[Name, ...])
]
"""Names of files; a single name needs no list."""


class Range(ConfigModel):
    """The search range of a parameter: an interval or a list of values."""

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
        """The minimum and maximum of the range."""
        if self.values is not None:
            return min(self.values), max(self.values)
        assert self.low is not None and self.high is not None
        return self.low, self.high

    def contains(self, value: float) -> bool:
        """Returns whether the range contains the value."""
        least, greatest = self.bounds
        return least <= value <= greatest and (self.values is None or value in self.values)


class Sampler(ConfigModel):
    """The method by which a study chooses its trials."""

    kind: Literal[
        "grid", "ternary", "golden", "tpe", "random", "qmc", "cmaes", "nsga2", "nsga3"
    ] = Field(
        description="grid: all points; ternary, golden: for one parameter with a single peak; "
        "nsga2, nsga3: for objective front"
    )
    trials: int | None = Field(
        default=None,
        ge=1,
        description="number of trials; not for grid, ternary and golden, which end by themselves",
    )
    startup_trials: int | None = Field(
        default=None, ge=1, description="random trials before TPE or CMA-ES starts to learn"
    )
    population: int | None = Field(
        default=None,
        ge=2,
        description="number of trials in a generation of NSGA-II or NSGA-III; null: 50",
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
        """Whether the sampler is genetic, with generations of trials."""
        return self.kind in ("nsga2", "nsga3")


class Start(ConfigModel):
    """The first trials of a search, instead of the defaults, if they lie in its space."""

    tables: tuple[Name, ...] = Field(default=(), description="rows of these published tables")
    studies: tuple[Name, ...] = Field(default=(), description="best trials of these studies")

    def __bool__(self) -> bool:
        """Returns whether any trials are configured."""
        return bool(self.tables or self.studies)


class Race(ConfigModel):
    """A race, which stops trials that can no longer win."""

    pruner: Literal["elitist", "wilcoxon", "median", "hyperband"] = Field(
        default="elitist",
        description="test that stops a trial; elitist: a paired t test against the best so far, "
        "as in irace; others: Optuna's",
    )
    first: int = Field(default=2, ge=1, description="number of pairs that every trial runs")
    p: float = Field(
        default=0.1,
        gt=0,
        le=0.5,
        description="p value that stops a trial, for elitist and wilcoxon",
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
POWERS: tuple[str, ...] = get_args(Over)
"""The names of objectives that maximise power over networks."""


class Setting(ConfigModel):
    """A controller and its parameters; omitted parameters keep their defaults."""

    controller: str = Field(description="controller")
    parameters: Mapping[str, float] = Field(
        default={}, description="values of the controller's parameters"
    )


Engine = Literal["emulator", "mahimahi", "kernel"]
"""emulator: virtual time. mahimahi: real time, on hosts with mahimahi installed. kernel: the
kernel's TCP on a link of constant rate, in real time."""


NETWORK = "network."
"""The prefix of network parameters in a study's space."""


MIN_OF_GRID_SEARCH = 3
"""The minimum number of parameters of a grid that is a search; grids with fewer parameters are
sweeps and heat maps."""


SearchEngine = Literal["emulator", "mahimahi"]
"""Engines that run the controllers of this repository."""


ComparisonEngine = Literal["emulator", "kernel", "mahimahi"]
"""Engines of comparisons. `kernel` and `mahimahi` both run the kernel's TCP."""


EMULATOR: Literal["emulator"] = "emulator"


MAHIMAHI: Literal["mahimahi"] = "mahimahi"


KERNEL: Literal["kernel"] = "kernel"


Direction = Literal["maximize", "minimize"]


class Goal(ConfigModel):
    """The objective of a study; each kind has its own key.

    `kneepoint.search.plan` scores trials by it.
    """

    directions: ClassVar[tuple[Direction, ...]] = ("maximize",)
    columns: ClassVar[tuple[str, ...]] = ()
    """Columns of trials.parquet, besides the value."""
    words: ClassVar[str]
    """The template of the objective's name in results, filled with its fields."""

    def __str__(self) -> str:
        return self.words.format(**dict(self))

    @property
    def minimises(self) -> bool:
        """Whether a smaller value is better."""
        return self.directions == ("minimize",)

    def check(self, study: "Study") -> None:
        """Raises ValueError if a study cannot optimise the objective."""


Tail = Annotated[
    float | None, Field(gt=0, le=1, description="share of the worst runs for cvar; null: 0.25")
]


def _check_tail(over: Over, tail: float | None) -> None:
    if tail is not None and over != "cvar":
        raise ValueError("tail applies to cvar only; remove it")


class Power(Goal):
    """The greatest power over networks."""

    words = "{power} power"

    power: Over = Field(
        description="maximise power over networks: the mean, the worst network's mean, the mean "
        "of logarithms, or the mean of the worst runs (cvar)"
    )
    tail: Tail = None

    @model_validator(mode="after")
    def _has_a_tail(self) -> Self:
        _check_tail(self.power, self.tail)
        return self


class Bounded(Goal):
    """The greatest throughput under a bound of the delay."""

    columns = ("violation",)
    words = "{throughput} throughput"

    throughput: Over = Field(description="maximise throughput over networks; needs delay_ms")
    delay_ms: float = Field(gt=0, description="bound of the signal delay")
    tail: Tail = None

    @model_validator(mode="after")
    def _has_a_tail(self) -> Self:
        _check_tail(self.throughput, self.tail)
        return self


def _has_a_value(text: str) -> str:
    """Refuses an expression without a value for failed runs, which must rank worst."""
    expression = Expression(text)
    try:
        expression.of_failed_run()
    except ValueError as error:
        raise ValueError(f"it has no value for a run that delivers nothing: {error}") from None
    return text


class Formula(Goal):
    """The greatest value of an expression."""

    words = "{over} of {expression}"

    expression: Annotated[str, AfterValidator(_has_a_value)] = Field(
        description="maximise an expression over a run's metrics, such as log(throughput_mbps) - "
        "0.5 * log(signal_delay_p95_ms)"
    )
    over: Literal["mean", "worst"] = Field(
        default="mean", description="mean over networks, or value of the worst network"
    )

    def check(self, study: "Study") -> None:
        """Raises ValueError for a grid."""
        if study.sampler.kind == "grid":
            raise ValueError("sampler grid compares power; give another sampler for an expression")


class Front(Goal):
    """Throughput against delay: a Pareto front."""

    directions = ("maximize", "minimize")
    columns = ("objective_throughput_mbps", "objective_signal_delay_p95_ms")
    words = "{front} front"

    front: Literal["mean", "worst", "mean_log"] = Field(
        description="maximise throughput and minimise signal delay over networks: a Pareto front"
    )

    def check(self, study: "Study") -> None:
        """Raises ValueError for a sampler of one objective."""
        kind = study.sampler.kind
        if kind in ("ternary", "golden", "cmaes"):
            raise ValueError(
                f"sampler {kind} supports one objective only; use tpe, nsga2 or nsga3 for a front"
            )


class Flows(Goal):
    """The goodput of several flows."""

    words = "{flows} goodput"

    flows: Literal["sum_log", "worst", "share"] = Field(
        description="maximise over the flows of the traffic: the sum of the logarithms of their "
        "goodputs, the minimum goodput, or the share of the controller under study"
    )

    def check(self, study: "Study") -> None:
        """Raises ValueError without traffic."""
        if study.traffic is None:
            raise ValueError("objective: flows needs traffic; add it")


class Least(Goal):
    """The minimum value of a parameter that keeps bounds on metrics."""

    directions = ("minimize",)
    words = "least {least}"

    least: str = Field(description="minimise this searched parameter under the bounds of keeping")
    keeping: Mapping[Literal["utilization", "throughput_mbps", "power"], float] = Field(
        min_length=1, description="metrics with the means that they must reach"
    )

    def check(self, study: "Study") -> None:
        """Raises ValueError for a parameter that is not searched."""
        if self.least not in study.space:
            raise ValueError(
                f"objective: least is {self.least!r}, which space does not search; add it"
            )


class Rival(ConfigModel):
    """The sender to which a worst case is relative."""

    against: Setting | None = Field(
        default=None, description="the other sender; null: the omniscient sender"
    )


class WorstCase(Goal):
    """The network on which a controller does worst, relative to another sender."""

    directions = ("minimize",)

    worst_case: Rival = Field(
        description="search the network on which the controller's power, relative to the "
        "omniscient sender's or another setting's, is lowest"
    )

    def __str__(self) -> str:
        against = self.worst_case.against
        return f"power relative to {against.controller if against else 'the omniscient sender'}"

    def check(self, study: "Study") -> None:
        """Raises ValueError for anything but a search of one network."""
        if of_controller := [name for name in study.space if not name.startswith(NETWORK)]:
            raise ValueError(
                f"worst_case searches the network, but space has {', '.join(of_controller)}; move "
                "that to parameters"
            )
        if len(study.networks) != 1 or study.traffic or study.table or study.engine != EMULATOR:
            raise ValueError(
                "worst_case needs one network of the emulator, without traffic and table"
            )


class Fit(Goal):
    """The minimum misfit to published tables."""

    directions = ("minimize",)
    words = "fit"

    fit: OneOrMore = Field(
        min_length=1, description="minimise the misfit to one or several published tables"
    )
    on: Mapping[Name, Name] = Field(
        default={}, description="network of each table, for a fit on several networks"
    )
    robust: bool = Field(default=True, description="bound the influence of outlier rows")

    def check(self, study: "Study") -> None:
        """Raises ValueError if a table has no network, or a range has a single value."""
        several = len(study.networks) > 1
        if several and (
            set(self.on) != set(self.fit) or set(self.on.values()) != set(study.networks)
        ):
            raise ValueError(
                f"a fit on {len(study.networks)} networks needs to know where each table ran; give "
                f"objective.on a network for each of {', '.join(self.fit)}, and use all networks"
            )
        if self.on and not several:
            raise ValueError("objective.on applies to a fit on several networks; remove it")
        for name, fitted in study.searched.items():
            if len(fitted.values or (0, 1)) == 1:
                raise ValueError(
                    f"a fit compares values, and {name} has a single value; give several, or set "
                    f"it in {'the network' if name in study.host else 'parameters'}"
                )


Objective = Power | Bounded | Formula | Front | Flows | Least | WorstCase | Fit
_GOALS: Mapping[str, type[Goal]] = {
    next(iter(kind.model_fields)): kind for kind in get_args(Objective)
}
"""The kinds of objectives by their keys; a kind's key is its first field."""


def _of_its_kind(value: Any) -> Any:
    """Reads an objective of the kind that its key names."""
    if isinstance(value, Goal):
        return value
    given = {"power": "mean"} if value == "power" else value
    if isinstance(given, str):
        raise ValueError(f"it must be power or a mapping; {suggestion(given, _GOALS)}")
    given = {k: v for k, v in given.items() if v is not None} if isinstance(given, dict) else {}
    kinds = [key for key in _GOALS if key in given]
    if len(kinds) != 1:
        fields = {name for goal in _GOALS.values() for name in goal.model_fields}
        unknown = next((str(key) for key in given if key not in fields), None)
        if not kinds and unknown is not None:
            raise ValueError(f"unknown key {quote(unknown)}; {suggestion(unknown, _GOALS)}")
        *others, last = _GOALS
        raise ValueError(f"needs exactly one of {', '.join(others)} and {last}; give one")
    return _GOALS[kinds[0]].model_validate(given)


class Study(ConfigModel):
    """One search: config/studies/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    controller: str = Field(description="controller under study")
    engine: SearchEngine = Field(default="emulator", description="emulator or mahimahi")
    networks: Names = Field(min_length=1, description="names of files in config/networks")
    traffic: Name | None = Field(
        default=None, description="file of config/traffic; null: one endless flow of datagrams"
    )
    parameters: Mapping[str, float] = Field(default={}, description="parameters with fixed values")
    space: Mapping[str, Range] = Field(
        default={},
        description="parameters to search, with their ranges: parameters of the controller; "
        "network.delay_ms, network.delay_step_ms, network.delay_period_s, network.rate_mbps and "
        "network.loss_probability; and parameters of the uplink's queue and synthetic trace, "
        "such as network.queue.packets and network.synthetic.max_rate_mbps",
    )
    host: Host = Field(
        default={},
        description="parameters of the emulated host to search, with objective fit only: "
        "host_latency_us, or a parameter of the event-loop model",
    )
    table: Name | None = Field(
        default=None, description="replaces space: trial i replays row i of this published table"
    )
    sampler: Sampler = Field(default=Sampler(kind="grid"), description="method that chooses trials")
    objective: Annotated[
        Objective,
        BeforeValidator(_of_its_kind, json_schema_input_type=Objective | Literal["power"]),
    ] = Field(default=Power(power="mean"), description="objective of the study")
    race: Race | None = Field(
        default=None,
        description="run all trials on the same pairs of network and seed, in the same shuffled "
        "order, and stop trials that can no longer win",
    )
    start: Start = Field(default_factory=lambda: Start(), description="first trials of the search")
    runs_per_trial: int = Field(
        default=1, ge=1, description="replicates of a trial on each network"
    )
    ask_ahead: int = Field(
        default=4,
        ge=1,
        description="number of trials that the sampler proposes before it learns the result of "
        "the first",
    )
    compare: tuple[Name, ...] = Field(
        default=(), description="published tables that reports compare with this study"
    )
    repeat_best: int | None = Field(
        default=None,
        ge=1,
        description="maximum number of repeats, over all leading trials, that determine the best "
        "of them",
    )
    guide: Literal["emulator"] | None = Field(
        default=None,
        description="first search in virtual time on the host calibrated to this machine, then "
        "spend real_runs on the leading settings; engine mahimahi",
    )
    real_runs: int | None = Field(
        default=None, ge=1, description="maximum number of real runs of a guided study"
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.table is not None:
            if self.space or self.host or self.sampler.kind != "grid" or self.fit:
                raise ValueError(
                    "table defines every trial; remove space, host, sampler and objective.fit"
                )
        elif not self.space and not self.host:
            raise ValueError("searches nothing; add space or table")
        for name in self.space:
            if name in self.parameters:
                raise ValueError(
                    f"{name} is both fixed (parameters) and searched (space); remove one"
                )
        for name in self.space:
            of_network = name.removeprefix(NETWORK)
            parameters = (*NETWORK_PARAMETERS, *SYNTHETIC_PARAMETERS)
            if name.startswith(NETWORK) and not (
                of_network in parameters or of_network.startswith(OF_QUEUE)
            ):
                near = suggestion(name, (NETWORK + each for each in (*parameters, "queue.NAME")))
                raise ValueError(f"{name!r} is not a network parameter; {near}")
        self.objective.check(self)
        if self.sampler.is_genetic and not isinstance(self.objective, Front):
            raise ValueError(
                f"sampler {self.sampler.kind} is for several objectives; give objective front"
            )
        self._check_race()
        self._check_guide()
        self._check_repeats()
        if self.start and (self.table or self.sampler.kind in ("grid", "ternary", "golden")):
            raise ValueError(f"sampler {self.sampler.kind} chooses every trial; remove start")
        if self.traffic and LIMITS[self.engine].is_real_time:
            raise ValueError("traffic runs in the emulator only; remove it")
        if self.host and LIMITS[self.engine].real_host:
            raise ValueError("only the emulator has a host model; remove host or use that engine")
        if self.host and not self.fit:
            raise ValueError("host needs the objective fit; remove host or add fit")
        ranges = [each.values for each in self.searched.values()]
        if self.sampler.kind in ("ternary", "golden") and ranges != [None]:
            raise ValueError(
                f"sampler {self.sampler.kind} needs exactly one parameter with low and high"
            )
        for name, searched in self.searched.items():
            if self.sampler.kind == "grid" and searched.values is None:
                raise ValueError(f"sampler grid needs values for {name}, not low and high")
            if self.sampler.kind == "cmaes" and searched.values is not None:
                raise ValueError(f"sampler cmaes needs low and high for {name}, not values")
        return self

    def _check_race(self) -> None:
        if self.race is None:
            return
        if not isinstance(self.objective, Power):
            raise ValueError("race needs power as the only objective; remove race")
        if self.table or self.sampler.kind in ("ternary", "golden"):
            raise ValueError(
                "race stops trials, but ternary, golden and table need every trial; remove race"
            )
        pairs = len(self.networks) * self.runs_per_trial
        if pairs <= self.race.first:
            raise ValueError(
                f"race: a trial has {pairs} pairs of network and seed, and runs at least the first "
                f"{self.race.first}: a race saves nothing; raise runs_per_trial or add networks"
            )

    def _check_guide(self) -> None:
        if self.guide is None and self.real_runs is not None:
            raise ValueError("real_runs is the budget of a guided study; add guide, or remove it")
        if self.guide is None:
            return
        if not LIMITS[self.engine].is_real_time:
            raise ValueError(f"guide saves real runs, and {self.engine} has none; remove guide")
        if self.real_runs is None:
            raise ValueError("guide needs a budget; add real_runs")
        at_once = self.ask_ahead * len(self.networks)
        if self.real_runs < at_once:
            raise ValueError(
                f"real_runs is {self.real_runs}, but {at_once} runs are requested at once; raise "
                "it, or lower ask_ahead"
            )
        if self.race or self.runs_per_trial > 1 or not self.tunes:
            raise ValueError(
                "guide chooses the repeats of a search over a controller's parameters for the "
                "greatest power; remove guide, or race, runs_per_trial and network.*"
            )

    def _check_repeats(self) -> None:
        if self.repeat_best is None:
            return
        if self.race or self.guide or not self.tunes:
            raise ValueError(
                "repeat_best needs a search over a controller's parameters for the greatest "
                "power, and a guide chooses the repeats itself; remove repeat_best, or race and "
                "guide"
            )
        if self.repeat_best < self.ask_ahead:
            raise ValueError(
                f"repeat_best is {self.repeat_best}, but {self.ask_ahead} repeats are requested "
                "at once; raise it, or lower ask_ahead"
            )

    @property
    def searched(self) -> Mapping[str, Range]:
        """The ranges of all searched parameters, by name."""
        return {**self.space, **self.host}

    @property
    def fit(self) -> tuple[str, ...]:
        """The published tables to which the study fits parameters."""
        return self.objective.fit if isinstance(self.objective, Fit) else ()

    @property
    def opponent(self) -> Setting | None:
        """The setting to which a worst case is relative; None: the omniscient sender."""
        goal = self.objective
        return goal.worst_case.against if isinstance(goal, WorstCase) else None

    @property
    def is_grid_search(self) -> bool:
        """Whether the study is a grid with too many parameters for one figure.

        A grid with an objective other than power is also a search, because sweeps and heat maps
        show power. A grid that is compared with a published table is no search.
        """
        varied = [each for each in self.space.values() if each.values and len(each.values) > 1]
        is_grid = self.sampler.kind == "grid" and self.table is None and not self.compare
        is_no_sweep = not self.judges_power or len(varied) >= MIN_OF_GRID_SEARCH
        return is_grid and not self.fit and is_no_sweep

    @property
    def judges_power(self) -> bool:
        """Whether the best trial on one network is the trial with the greatest mean power."""
        goal = self.objective
        return isinstance(goal, Power) and goal.power != "cvar"

    @property
    def tunes(self) -> bool:
        """Whether the study searches for the greatest power instead of running a given list."""
        is_alone = self.traffic is None and not any(name.startswith(NETWORK) for name in self.space)
        wants_power = isinstance(self.objective, Power) and is_alone
        learns = self.sampler.kind != "grid" or self.is_grid_search
        return wants_power and not self.table and learns

    @property
    def tables(self) -> tuple[str, ...]:
        """The distinct published tables that the study reads or is compared with."""
        needed = (self.table, *self.fit, *self.compare, *self.start.tables)
        return tuple(dict.fromkeys(name for name in needed if name is not None))

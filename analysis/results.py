"""Reads what the workflow wrote: the one place that knows the folders of results.

Each method reads when it is called; what takes real time may be absent, and is None then.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import pandas as pd

from analysis import labels
from analysis.flow_log import FlowLog, read_flow_log
from analysis.frames import CONSTANT, STEP, with_constants
from analysis.link_log import LinkLog, read_link_log
from analysis.spread import Selection
from common.errors import unusable
from common.files import read_json
from common.study_record import StudyRecord
from engines.catalogue import Catalogue, Controller, load_catalogue
from engines.limits import LIMITS
from experiments.config import load_workflow
from experiments.models.comparison import Comparison, PublishedFigure
from experiments.models.study import (
    EMULATOR,
    KERNEL,
    MAHIMAHI,
    Bounded,
    ComparisonEngine,
    Engine,
    Fit,
    Flows,
    Formula,
    Front,
    Least,
    Objective,
    Power,
    Range,
    Setting,
    Study,
    WorstCase,
)
from experiments.published import PublishedTable, TableDescription
from experiments.results import read_frame
from experiments.workflow import (
    ADDED_RUNS,
    FLOW_LOG,
    FOLDERS,
    LOG,
    REAL_SHOWCASE,
    Workflow,
    study_of_calibration,
)
from networks.config import Network
from networks.fitted_host import HOST, column_of_host, read_fitted_host
from networks.scenario import DELAYS
from networks.traffic import TrafficFile
from search.spaces import searched_ranges

Method = TypeVar("Method", bound=Callable[..., Any])

EMULATE = Path("build/emulate")
FRONT, BOUNDED, WORST_CASE = "front", "bounded", "worst_case"
"""Objectives: a front of throughput and delay, throughput under a bound on the delay, the network
on which a controller does worst."""
OF_NETWORK = "network_"
"""How the columns of a network's parameters begin."""


@dataclass(frozen=True)
class Searched:
    """A constant that a study searched, with its range; [least, most] are the possible values."""

    name: str
    low: float
    high: float
    logarithmic: bool = False
    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class StudyRuns:
    """One study's results, and what its configuration says of it.

    `trials` and `runs` follow the results schema; runs carry a column `constant_<name>` for each
    constant, and so do trials for those searched (a searched setting of the engine counts as one).
    `objective` is that of power (mean, worst, mean_log), "misfit", to the tables `fit`,
    "expression", that of flows (sum_log, worst_flow, share) or "least", of a parameter that keeps
    some metrics at their bounds (`keeping`); a `robust` one bounds the influence of a row.
    `traffic` is the title of its traffic, `table` the published table that it replays;
    `is_grid_search` says that it searches on a grid (see `experiments.models.study`). `bound_ms` is
    that of the signal delay; `pairs` is how many runs a trial of a race has that is not stopped, 0
    without a race; `omniscient` has the bounds of the networks of a front. `opponent` is the
    controller that a worst case is relative to, None the omniscient sender; its runs are not among
    `runs`. `delays` are those of its first network, which trials may search. `fresh` has the power
    of its best trial with fresh seeds on each network, with the ends of its interval.
    """

    name: str
    title: str
    controller: str
    networks: tuple[str, ...]
    sampler: str
    objective: str
    fit: tuple[str, ...]
    robust: bool
    searched: tuple[Searched, ...]
    compare: tuple[str, ...]
    seed: int
    trials: pd.DataFrame
    runs: pd.DataFrame
    expression: str | None = None
    keeping: Mapping[str, float] = field(default_factory=dict)
    traffic: str | None = None
    table: str | None = None
    is_grid_search: bool = False
    bound_ms: float = math.nan
    pairs: int = 0
    omniscient: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    opponent: str | None = None
    delays: Mapping[str, float] = field(default_factory=lambda: dict.fromkeys(DELAYS, 0.0))
    fresh: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def minimised(self) -> bool:
        """Whether a smaller value is better."""
        return self.objective in ("misfit", "least", WORST_CASE)

    @property
    def is_alone(self) -> bool:
        """Whether it is about a controller that has a network to itself, as it is."""
        return self.traffic is None and not self.of_network

    @property
    def of_network(self) -> tuple[Searched, ...]:
        """What it searches of the network."""
        return tuple(each for each in self.searched if each.name.startswith(OF_NETWORK))

    @property
    def is_of_host(self) -> bool:
        """Whether it searches the emulated host, and nothing of a controller."""
        return all(each.name.startswith(HOST) for each in self.searched)


@dataclass(frozen=True)
class Repeats:
    """Settings that were run many times.

    `settings` has columns setting (unique over all repeats), controller, network, label; `runs` a
    column setting; `published` columns setting, metric, source and those of a published spread.
    """

    name: str
    title: str
    settings: pd.DataFrame
    published: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class ShowcaseRun:
    """One run with its link log and, if it ran in virtual time, its sender's log."""

    controller: str
    constants: Mapping[str, float]
    network: str
    log: LinkLog
    flow: FlowLog | None = None


@dataclass(frozen=True)
class HeldOutRuns:
    """Settings on held-out networks: frames as `experiments.planners.held_out` writes them.

    Settings have a column `constant_<name>` for each constant; networks a column title.
    """

    settings: pd.DataFrame
    networks: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Source:
    """Where a published table stands, what it holds, what of that is unsaid and fitted to it.

    `remark` is what its author says elsewhere; `report` the name by which it is cited; `selection`
    says that its rows were printed as the best or the worst of many runs.
    """

    text: str = ""
    report: str = ""
    selection: Selection | None = None
    held: Mapping[str, float] = field(default_factory=dict)
    unstated: Mapping[str, str] = field(default_factory=dict)
    fitted: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True)
class ProbedHost:
    """How many real runs the host takes at once; `busy_us` spoils a run.

    `levels` has columns level, concurrency, agrees, reason, in the order in which they were tried;
    `runs` has the level as its trial, the first of them being of runs that had the host alone.
    """

    slots: int
    cores: int
    busy_us: float
    levels: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Confirmation:
    """Settings that were run in real mahimahi.

    `settings` has columns trial, controller, constants, origins, rows (of published tables,
    as "TABLE ROW") and constant_<name>; `runs` has the setting as its trial.
    """

    settings: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class NetworkSweep:
    """A study that varies one parameter of a network, its trials as if they were settings.

    `bdp_packets` is the bandwidth-delay product of the network; NaN where the uplink has a trace.
    """

    study: StudyRuns
    compared: "Compared"
    bdp_packets: float


@dataclass(frozen=True)
class HardeningRuns:
    """A controller tuned against its own worst cases: frames as `search.hardening` writes them.

    `networks` are those of its first round, `trials` those of a tuning and of a search for the
    worst case.
    """

    name: str
    title: str
    controller: str
    networks: tuple[str, ...]
    opponent: str | None
    trials: tuple[int, int]
    rounds: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Compared:
    """A comparison on one engine.

    `runs` has the setting as its trial, and columns label, traffic_title, network_title; `settings`
    are the labels in order, `networks` titles; durations are those that the configuration states.
    """

    name: str
    engine: Engine
    title: str
    source: str
    wanted_engines: tuple[str, ...]
    settings: tuple[str, ...]
    traffic: Mapping[str, TrafficFile]
    networks: Mapping[str, str]
    duration_s: Mapping[str, float | None]
    published: tuple[PublishedFigure, ...]
    runs: pd.DataFrame


def once(method: Method) -> Method:
    """Reads when it is first asked for; nobody changes what it gave."""

    @wraps(method)
    def read(self: "Results", *args: str) -> Any:
        key = (method.__name__, *args)
        if key not in self.known:
            self.known[key] = method(self, *args)
        return self.known[key]

    return cast(Method, read)


class Results:
    """The results of a configuration, each read once, however many stages ask for it.

    Every method raises KneepointError where a file is missing that must be there, or damaged.
    """

    def __init__(self, workflow: Workflow, catalogue: Catalogue) -> None:
        self.workflow = workflow
        self._catalogue = catalogue
        self.known: dict[tuple[str, ...], Any] = {}
        self._added: pd.DataFrame | None = None

    @classmethod
    def of(cls, config: Path, emulate: Path = EMULATE) -> "Results":
        """Those of a configuration file.

        Raises:
            KneepointError: the configuration is wrong.
        """
        return cls(load_workflow(config), load_catalogue(emulate))

    @property
    def folder(self) -> Path:
        """Where they are."""
        return self.workflow.results

    @property
    def names(self) -> Mapping[str, str]:
        """Parameters and controllers as the report wants them printed."""
        own = self.workflow.settings.report
        return own.names if own else {}

    @property
    def networks(self) -> Mapping[str, str]:
        """The titles of networks."""
        return {name: network.title for name, network in self.workflow.networks.items()}

    @property
    def hosts(self) -> Mapping[str, Mapping[str, float | str]]:
        """The emulated host of each network: every setting, as a fit names it."""
        return {
            name: {
                column_of_host(setting): value
                for setting, value in {**network.host, **self._fitted(network)}.items()
            }
            for name, network in self.workflow.networks.items()
        }

    def _fitted(self, network: Network) -> Mapping[str, float]:
        if network.host_from is None:
            return {}
        return read_fitted_host(self.folder / network.host_from / "study.json")

    @property
    def units(self) -> Mapping[tuple[str, str], str]:
        """The unit of a (controller, constant)."""
        return {
            (controller.name, constant.name): "" if constant.unit == "1" else constant.unit
            for controller in self._catalogue.controllers.values()
            for constant in controller.constants.values()
        }

    def unit(self, controller: str, constant: str) -> str:
        """The unit of a value that a study of the controller can search, as figures write it."""
        declared = self.units.get((controller, constant), labels.unit(constant))
        return {"us": "µs", "0 or 1": ""}.get(declared, declared)

    @property
    def is_real(self) -> bool:
        """Whether anything is configured to run in real mahimahi."""
        studies, repeats = self.workflow.of_engine(MAHIMAHI)
        settings = self.workflow.settings
        return bool(settings.real_time.probe or settings.confirm or studies or repeats)

    # What the emulator ran; studies and repeats of real mahimahi are those that are finished.

    def studies(self, engine: Engine = EMULATOR) -> list[StudyRuns]:
        """The studies of an engine."""
        names, _ = self.workflow.of_engine(engine)
        is_made = not LIMITS[engine].is_real_time
        present = [name for name in names if is_made or self._is_there(name)]
        return [self._study(name) for name in present]

    def audited(self) -> list[StudyRuns]:
        """The studies that the audit reads: replays of published tables, and fits to them."""
        return [self._study(name) for name in self.workflow.audited]

    @once
    def repeats(self, engine: Engine = EMULATOR) -> list[Repeats]:
        """The repeated settings of an engine."""
        _, names = self.workflow.of_engine(engine)
        is_made = not LIMITS[engine].is_real_time
        present = [name for name in names if is_made or self._is_there(f"repeats/{name}")]
        return [self._repeats(name) for name in present]

    @once
    def comparisons(self) -> list[Compared]:
        """The comparisons, the engines of each in order: those on the kernel that have run."""
        found = []
        for name, wanted in self.workflow.comparisons.items():
            for engine in FOLDERS:
                is_wanted = engine in wanted.engines
                path = self.folder / FOLDERS[engine] / name / "runs.parquet"
                if is_wanted and (not LIMITS[engine].is_real_time or path.exists()):
                    found.append(self._comparison(name, wanted, engine, path))
        return found

    def _comparison(
        self,
        name: str,
        wanted: Comparison,
        engine: ComparisonEngine,
        path: Path,
    ) -> Compared:
        settings = tuple(
            labels.setting(setting.controller, _differing(setting, wanted.settings))
            for setting in wanted.settings
        )
        runs = read_frame(path)
        runs["label"] = [settings[trial] for trial in runs["trial"]]
        return self._compared(
            name, wanted, _shown(engine), runs, settings=settings, published=wanted.published
        )

    @once
    def network_sweeps(self) -> list[NetworkSweep]:
        """The studies that vary one parameter of a network, under traffic, and nothing else."""
        found = []
        for study in self.studies(EMULATOR):
            wanted = self.workflow.studies[study.name]
            if study.traffic and len(study.searched) == len(study.of_network) == 1:
                runs = study.runs.assign(label=labels.words(study.controller))
                compared = self._compared(study.name, wanted, EMULATOR, runs, (), ())
                network = self.workflow.networks[study.networks[0]]
                found.append(NetworkSweep(study, compared, _bdp_packets(network)))
        return found

    def _compared(
        self,
        name: str,
        wanted: Comparison | Study,
        engine: Engine,
        runs: pd.DataFrame,
        settings: tuple[str, ...],
        published: tuple[PublishedFigure, ...],
    ) -> Compared:
        named = (wanted.traffic,) if isinstance(wanted.traffic, str) else wanted.traffic or ()
        traffic = {each: self.workflow.traffic[each] for each in named}
        networks = {each: self.workflow.networks[each] for each in wanted.networks}
        runs["traffic_title"] = [traffic[each].title for each in runs["traffic"]]
        runs["network_title"] = [networks[each].title for each in runs["network"]]
        return Compared(
            name=name,
            engine=engine,
            title=wanted.title,
            source=getattr(wanted, "source", ""),
            wanted_engines=tuple(map(_shown, getattr(wanted, "engines", ()))),
            settings=settings,
            traffic=traffic,
            networks={each: network.title for each, network in networks.items()},
            duration_s={each: network.duration_s for each, network in networks.items()},
            published=published,
            runs=runs,
        )

    @once
    def hold_out(self) -> HeldOutRuns | None:
        """Settings on held-out networks."""
        if self.workflow.settings.hold_out is None:
            return None
        settings, networks, runs = (
            read_frame(self.folder / "hold_out" / f"{name}.parquet")
            for name in ("settings", "networks", "runs")
        )
        networks["title"] = [self.networks[name] for name in networks["network"]]
        return HeldOutRuns(with_constants(settings), networks, with_constants(runs))

    def showcase(self, engine: Engine = EMULATOR) -> ShowcaseRun | None:
        """The run that is shown over time."""
        shown = self.workflow.settings.showcase
        folder = self.folder / ("showcase" if engine == EMULATOR else REAL_SHOWCASE)
        path = folder / LOG
        if shown is None or (engine == MAHIMAHI and not (self.is_real and path.exists())):
            return None
        log = read_link_log(path)
        flow = read_flow_log(folder / FLOW_LOG) if engine == EMULATOR else None
        return ShowcaseRun(shown.controller, shown.constants, shown.network, log, flow)

    def worst_case_log(self, study: str) -> LinkLog | None:
        """The uplink's log of the worst case that a study found; None: that run failed."""
        path = self.folder / study / LOG
        return read_link_log(path) if path.stat().st_size else None

    @once
    def hardenings(self) -> list[HardeningRuns]:
        """The controllers that were tuned against their own worst cases."""
        found = []
        for name, wanted in self.workflow.settings.hardening.items():
            folder = self.folder / "hardening" / name
            tune, worst = (self.workflow.studies[n] for n in (wanted.tune, wanted.worst_case))
            opponent = worst.opponent
            found.append(
                HardeningRuns(
                    name,
                    wanted.title,
                    tune.controller,
                    tune.networks,
                    opponent.controller if opponent else None,
                    (tune.sampler.trials or 0, worst.sampler.trials or 0),
                    read_frame(folder / "rounds.parquet"),
                    with_constants(read_frame(folder / "runs.parquet")),
                )
            )
        return found

    # Published tables.

    def added_runs(self) -> pd.DataFrame:
        """The runs added to those of studies until verdicts are clear: see `added_frame`."""
        return self._finished_added() if self._added is None else self._added

    @once
    def _finished_added(self) -> pd.DataFrame:
        folder = self.folder / ADDED_RUNS
        if not self.workflow.adds_runs:
            return pd.DataFrame()
        hosts = read_frame(folder / "settings.parquet")["host"]
        return added_frame(read_frame(folder / "runs.parquet"), hosts.tolist())

    def having(self, added: pd.DataFrame) -> "Results":
        """The same results with these added runs, which stand in no folder yet."""
        found = copy(self)
        found._added = added
        return found

    @once
    def published(self) -> pd.DataFrame:
        """All rows of the published tables that a study names.

        Returns:
            Columns table, report (the name by which it is cited), kind (published or measured),
            mark (numbers the reports in the order of the tables), row, controller, network,
            replayable, constant_*, the metrics, and step_<metric>, the worth of one in a metric's
            last printed digit.
        """
        return published_frame(self._tables())

    @once
    def sources(self) -> dict[str, Source]:
        """The description of each published table."""
        tables = {table.name: table for table in self._tables()}
        said = {name: table.description for name, table in tables.items()}
        return {
            name: Source(
                s.source,
                tables[name].report,
                _selection(s),
                s.constants,
                s.unstated,
                s.fitted,
                s.remark,
            )
            for name, s in said.items()
        }

    @once
    def _tables(self) -> list[PublishedTable]:
        return sorted(self.workflow.tables.values(), key=lambda table: f"{table.name}.yaml")

    # What took real time.

    @once
    def probe(self) -> ProbedHost | None:
        """How many real runs the host takes at once."""
        path = self.folder / "probe" / "probe.json"
        if not (self.is_real and path.exists()):
            return None
        try:
            found = read_json(path)
            levels = pd.DataFrame(found["levels"])[["concurrency", "agrees", "reason"]]
            slots, cores = int(found["slots"]), int(found["cores"])
        except (OSError, ValueError, KeyError, TypeError):
            raise unusable(path, "it is damaged") from None
        levels.insert(0, "level", range(len(levels)))
        busy_us = self.workflow.settings.real_time.busy_us
        return ProbedHost(slots, cores, busy_us, levels, read_frame(path.with_name("runs.parquet")))

    @once
    def confirmation(self) -> Confirmation | None:
        """The settings that ran in real mahimahi."""
        settings = self._there("confirm/settings.parquet")
        if settings is None:
            return None
        for column in ("origins", "rows"):
            settings[column] = [tuple(filter(None, text.split(","))) for text in settings[column]]
        runs = read_frame(self.folder / "confirm" / "runs.parquet")
        return Confirmation(with_constants(settings), with_constants(runs))

    @once
    def calibration(self) -> StudyRuns | None:
        """The fit of the emulated host to real fixed windows, which no file describes."""
        wanted = self.workflow.settings.confirm
        if wanted is None or not (self.folder / "calibration" / "study.json").exists():
            return None
        return self._read_study("calibration", study_of_calibration(wanted))

    def delays(self) -> pd.DataFrame | None:
        """The waits for the processor that the calibration takes over (see search.calibration)."""
        return self._there("calibration/delays.parquet")

    def spread(self) -> pd.DataFrame | None:
        """The fit of the differences between runs (see search.calibration)."""
        return self._there("calibration/spread.parquet")

    @once
    def emulated(self) -> pd.DataFrame | None:
        """The emulator's runs of the confirmed settings, on the calibrated host."""
        return self._runs_there("agreement/runs.parquet")

    def again(self) -> pd.DataFrame | None:
        """Further real runs of settings that the emulator does not predict."""
        return self._runs_there("again/runs.parquet")

    def missing(self) -> list[str]:
        """The experiments configured to run in real mahimahi that have no results."""
        studies, repeats = self.workflow.of_engine(MAHIMAHI)
        names = [name for name in studies if not self._is_there(name)]
        names += [name for name in repeats if not self._is_there(f"repeats/{name}")]
        settings = self.workflow.settings
        if settings.real_time.probe and not (self.folder / "probe" / "probe.json").exists():
            names.append("probe")
        if settings.confirm and not (self.folder / "confirm" / "settings.parquet").exists():
            names.append("confirm")
        return names

    def _is_there(self, name: str) -> bool:
        last = "runs.parquet" if name.startswith("repeats/") else "study.json"
        return (self.folder / name / last).exists()

    def _there(self, name: str) -> pd.DataFrame | None:
        path = self.folder / name
        return read_frame(path) if self.is_real and path.exists() else None

    def _runs_there(self, name: str) -> pd.DataFrame | None:
        found = self._there(name)
        return None if found is None else with_constants(found)

    @once
    def _study(self, name: str) -> StudyRuns:
        return self._read_study(name, self.workflow.studies[name])

    def _read_study(self, name: str, study: Study) -> StudyRuns:
        folder = self.folder / name
        trials = read_frame(folder / "trials.parquet")
        controller = self._catalogue.controller(study.controller, f"study {name}")
        goal, opponent = study.objective, study.opponent
        runs = read_frame(folder / "runs.parquet")
        if opponent:  # whose runs follow, on the one network
            runs = runs[runs["run"] < study.runs_per_trial].reset_index(drop=True)
        record = StudyRecord.load(folder / "study.json")
        network = self.workflow.networks[study.networks[0]]
        return StudyRuns(
            name=name,
            title=study.title,
            controller=study.controller,
            networks=study.networks,
            sampler=study.sampler.kind,
            objective=_objective(goal),
            fit=study.fit,
            expression=goal.expression if isinstance(goal, Formula) else None,
            keeping=(
                {str(metric): bound for metric, bound in goal.keeping.items()}
                if isinstance(goal, Least)
                else {}
            ),
            robust=not isinstance(goal, Fit) or goal.robust,
            traffic=self.workflow.traffic[study.traffic].title if study.traffic else None,
            table=study.table,
            is_grid_search=study.is_grid_search,
            searched=tuple(
                _searched(column, searched, logarithmic, controller)
                for column, (searched, _, logarithmic) in searched_ranges(study, controller).items()
            ),
            compare=self.workflow.tables_beside.get(name, ()),
            seed=record.seed,
            bound_ms=goal.delay_ms if isinstance(goal, Bounded) else math.nan,
            pairs=len(study.networks) * study.runs_per_trial if study.race else 0,
            omniscient=record.bounds,
            opponent=opponent.controller if opponent else None,
            delays={each: getattr(network, each) or 0.0 for each in DELAYS},
            fresh=record.fresh.networks if record.fresh else {},
            trials=trials.rename(
                columns={
                    name: CONSTANT + name
                    for name in trials.columns
                    if name.startswith((HOST, OF_NETWORK))
                }
            ),
            runs=with_constants(runs),
        )

    def _repeats(self, name: str) -> Repeats:
        repeat = self.workflow.repeats[name]
        names = self._setting_labels()
        runs = with_constants(read_frame(self.folder / "repeats" / name / "runs.parquet"))
        keys = [f"{name}:{position}" for position in range(len(repeat.settings))]
        settings = pd.DataFrame(
            {
                "setting": keys,
                "controller": [setting.controller for setting in repeat.settings],
                "network": repeat.network,
                "label": [names[key] for key in keys],
            }
        )
        published = pd.DataFrame(
            [{**p.model_dump(), "setting": keys[p.setting]} for p in repeat.published],
            columns=["setting", "metric", *_SPREAD, "source"],
        ).astype(dict.fromkeys(_SPREAD, float))
        steps = published["standard_deviation_step"].fillna(published["step"])
        published["standard_deviation_step"] = steps
        runs["setting"] = [keys[trial] for trial in runs["trial"]]
        return Repeats(name, repeat.title, settings, published, runs)

    def _setting_labels(self) -> dict[str, str]:
        """Each repeated setting, by what distinguishes it from the others of its controller."""
        settings = {
            f"{name}:{position}": setting
            for name, repeat in self.workflow.repeats.items()
            for position, setting in enumerate(repeat.settings)
        }
        return {
            key: labels.setting(setting.controller, _differing(setting, settings.values()))
            for key, setting in settings.items()
        }


_SPREAD = ["mean", "standard_deviation", "n", "step", "standard_deviation_step"]
"""The numbers of `experiments.models.comparison.PublishedSpread`."""


def _searched(column: str, searched: Range, logarithmic: bool, controller: Controller) -> Searched:
    name = column.removeprefix(CONSTANT)
    declared = controller.constants.get(name) if column.startswith(CONSTANT) else None
    least, most = (declared.least, declared.most) if declared else (0.0, math.inf)
    return Searched(name, *searched.bounds, logarithmic, least, most)


def _shown(engine: ComparisonEngine) -> ComparisonEngine:
    """The kernel's own TCP counts as one engine, whatever links carry it."""
    return KERNEL if LIMITS[engine].has_kernels_tcp else engine


def _bdp_packets(network: Network) -> float:
    """The uplink's rate times the round-trip propagation delay, in packets of 1504 bytes."""
    rate_mbps = network.uplink.rate_mbps or network.uplink.constant_mbps
    return math.nan if rate_mbps is None else rate_mbps * 2e3 * network.delay_ms / (8 * 1504)


def _objective(objective: Objective) -> str:
    match objective:
        case Power():
            return objective.power
        case Flows():
            return "worst_flow" if objective.flows == "worst" else objective.flows
    names = {
        Bounded: BOUNDED,
        Formula: "expression",
        Front: FRONT,
        Least: "least",
        WorstCase: WORST_CASE,
        Fit: "misfit",
    }
    return names[type(objective)]


def _selection(described: TableDescription) -> Selection | None:
    if described.selected is None:
        return None
    return Selection(described.selected, *described.selected_of or ())


def added_frame(runs: pd.DataFrame, hosts: Sequence[str]) -> pd.DataFrame:
    """Added runs with what they change of their network's host, as JSON; "" for nothing.

    Args:
        runs: those of `analysis.added_runs`.
        hosts: of each of their trials.
    """
    return with_constants(runs).assign(host=[hosts[trial] for trial in runs["trial"]])


_PUBLISHED = ["table", "report", "kind", "mark", "row", "controller", "network", "replayable"]


def published_frame(tables: Iterable[PublishedTable]) -> pd.DataFrame:
    """All rows of the tables, as `Results.published` describes them."""
    tables = list(tables)
    marks = {report: mark for mark, report in enumerate(dict.fromkeys(t.report for t in tables))}
    rows = [
        {
            "table": table.name,
            "report": table.report,
            "kind": table.description.kind,
            "mark": marks[table.report],
            "row": row.number,
            "controller": table.description.controller,
            "network": table.networks[row.number],
            "replayable": row.has_all_constants,
            **{CONSTANT + name: value for name, value in row.constants.items()},
            **row.metrics,
            **{STEP + metric: step for metric, step in row.steps.items()},
        }
        for table in tables
        for row in table.rows
    ]
    return pd.DataFrame(rows, columns=None if rows else _PUBLISHED)


def _differing(setting: Setting, others: Iterable[Setting]) -> dict[str, float]:
    alike = [other.constants for other in others if other.controller == setting.controller]
    return {
        name: value
        for name, value in setting.constants.items()
        if any(other.get(name) != value for other in alike)
    }

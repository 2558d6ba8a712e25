"""Reads the results of a workflow: only this module knows the folders of results.

A result combines its part of the configuration with the frames of its runs.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.frames import PARAMETER, STEP, with_parameters
from kneepoint.analysis.link_log import LinkLog, read_link_log
from kneepoint.common.made_by import require_as_written
from kneepoint.common.study_record import StudyRecord
from kneepoint.common.tables import Table, read_frame
from kneepoint.common.units import unit_of
from kneepoint.config.comparison import Comparison, Repeat
from kneepoint.config.published import PublishedTable, TableDescription
from kneepoint.config.study import (
    EMULATOR,
    KERNEL,
    MAHIMAHI,
    Engine,
    Range,
    Setting,
    Study,
    WorstCase,
)
from kneepoint.config.workflow import FOLDERS, UPLINK_LOG, Workflow
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import Catalogue, Controller, load_catalogue
from kneepoint.engines.limits import LIMITS
from kneepoint.networks.config import Network
from kneepoint.networks.fitted_host import HOST, column_of_host, read_fitted_host
from kneepoint.networks.traffic import TrafficFile
from kneepoint.runs.load import load_workflow
from kneepoint.runs.question import Experiment
from kneepoint.runs.registry import experiments_of
from kneepoint.runs.results import RUNS, TRIALS
from kneepoint.search.spaces import searched_ranges

Part = TypeVar("Part")
OF_NETWORK = "network_"
"""Prefix of the columns of a network's parameters."""


@dataclass(frozen=True)
class Searched:
    """A parameter that a study searched, with its range; [min, max] are the possible values."""

    name: str
    low: float
    high: float
    logarithmic: bool = False
    min: float = -math.inf
    max: float = math.inf


@dataclass(frozen=True)
class StudyRuns:
    """A study and its results.

    `trials` and `runs` follow the results schema; `runs` has a column `parameter_<name>` for each
    parameter; `trials` has such a column for each searched parameter, also of a network or host.
    `runs` does not contain runs of a worst case's opponent.
    """

    name: str
    config: Study
    searched: tuple[Searched, ...]
    record: StudyRecord
    trials: pd.DataFrame
    runs: pd.DataFrame

    @property
    def compare(self) -> tuple[str, ...]:
        """The published tables with which the study is compared."""
        return tuple(dict.fromkeys(filter(None, (self.config.table, *self.config.compare))))

    @property
    def is_alone(self) -> bool:
        """Whether a single flow runs on networks that are not searched."""
        return self.config.traffic is None and not self.of_network

    @property
    def of_network(self) -> tuple[Searched, ...]:
        """The searched parameters of the network."""
        return tuple(each for each in self.searched if each.name.startswith(OF_NETWORK))


@dataclass(frozen=True)
class Repeats:
    """Repeated settings.

    `runs` has columns setting (see `key`) and label, which distinguishes it from other settings.
    """

    name: str
    config: Repeat
    runs: pd.DataFrame

    def key(self, position: int) -> str:
        """Returns the identifier of a setting among the settings of all repeats."""
        return f"{self.name}:{position}"


@dataclass(frozen=True)
class Compared:
    """A comparison on one engine; the kernel's TCP counts as one engine, on any links.

    The trial of a run in `runs` is its setting; further columns are label, traffic_title,
    network_title.
    """

    name: str
    config: Comparison
    engine: Engine
    traffic: Mapping[str, TrafficFile]
    networks: Mapping[str, Network]
    runs: pd.DataFrame


class Results:
    """The results of a configuration, each read once, on first access.

    Studies and repeats in real mahimahi are included if finished; other real-time results are None
    until finished. Reading raises KneepointError if a required file is missing or damaged.
    """

    def __init__(self, workflow: Workflow, catalogue: Catalogue) -> None:
        self.workflow = workflow
        self._catalogue = catalogue
        self._parts: dict[Callable[[Results], Any], Any] = {}
        self._tables: dict[str, pd.DataFrame | None] = {}

    @classmethod
    def of(cls, config: Path) -> "Results":
        """Opens the results of a configuration file.

        Raises:
            KneepointError: the configuration is wrong.
        """
        return cls(load_workflow(config), load_catalogue(EMULATE))

    def part(self, read: Callable[["Results"], Part]) -> Part:
        """Returns the cached result of a question's own reading function."""
        if read not in self._parts:
            self._parts[read] = read(self)
        found: Part = self._parts[read]
        return found

    def with_part(self, read: Callable[["Results"], Part], part: Part) -> "Results":
        """Returns the results with one part replaced by `part`."""
        found = copy(self)
        found._parts = {**self._parts, read: part}
        return found

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.workflow.results

    @cached_property
    def names(self) -> Mapping[str, str]:
        """The report's printed names of parameters and controllers."""
        own = self.workflow.settings.report
        return own.names if own else {}

    @cached_property
    def networks(self) -> Mapping[str, str]:
        """The titles of networks, by name."""
        return {name: network.title for name, network in self.workflow.networks.items()}

    def title(self, network: str) -> str:
        """Returns the title of a network, or its name if only a published table names it."""
        return self.networks.get(network, network)

    @cached_property
    def hosts(self) -> Mapping[str, Mapping[str, float | str]]:
        """The parameters of each network's emulated host, named as in fits."""
        found = {}
        for name, network in self.workflow.networks.items():
            fit = network.host_from
            fitted = read_fitted_host(self.folder / fit / "study.json") if fit else {}
            settings = {**network.host, **fitted}
            found[name] = {column_of_host(each): value for each, value in settings.items()}
        return found

    @cached_property
    def units(self) -> Mapping[tuple[str, str], str]:
        """The unit of each (controller, parameter) of the workflow."""
        return {
            (controller.name, parameter.name): "" if parameter.unit == "1" else parameter.unit
            for controller in self._catalogue.controllers.values()
            if controller.name in self.workflow.controllers
            for parameter in controller.parameters.values()
        }

    def unit(self, controller: str, parameter: str) -> str:
        """Returns the unit of a searched parameter, as printed in figures."""
        declared = self.units.get((controller, parameter), unit_of(parameter))
        return {"us": "µs", "0 or 1": ""}.get(declared, declared)

    @cached_property
    def is_real(self) -> bool:
        """Whether anything is configured to run in real mahimahi."""
        made = self.experiments.values()
        return any(each.engine == MAHIMAHI and not each.is_extra for each in made)

    @cached_property
    def experiments(self) -> Mapping[str, Experiment]:
        """The experiments of the configuration, by their folders in the results."""
        return experiments_of(self.workflow)

    def table(self, experiment: str, schema: Table = RUNS) -> pd.DataFrame | None:
        """Returns a table of an experiment; None if it runs in real time and has not run."""
        file = f"{experiment}/{schema.file}"
        if file not in self._tables:
            wanted = self.experiments.get(experiment)
            is_there = wanted and (not wanted.needs_confirm or self.real_file(file) is not None)
            self._tables[file] = read(self.folder / file, schema) if is_there else None
        return self._tables[file]

    # Emulated runs.

    @cached_property
    def studies(self) -> list[StudyRuns]:
        """The studies."""
        return self._studies(EMULATOR)

    @cached_property
    def repeats(self) -> list[Repeats]:
        """The repeated settings."""
        return self._repeated(EMULATOR)

    @cached_property
    def comparisons(self) -> list[Compared]:
        """The comparisons on each engine; on the kernel, only finished comparisons."""
        found = []
        for name, wanted in self.workflow.comparisons.items():
            for engine in (each for each in FOLDERS if each in wanted.engines):
                path = self.folder / FOLDERS[engine] / name / "runs.parquet"
                if not LIMITS[engine].is_real_time or path.exists():
                    runs = self.titled(read_frame(path, RUNS))
                    settings = [_label(each, wanted.settings) for each in wanted.settings]
                    runs["label"] = [settings[trial] for trial in runs["trial"]]
                    traffic, networks = self.workflow.traffic, self.workflow.networks
                    found.append(Compared(name, wanted, shown(engine), traffic, networks, runs))
        return found

    def titled(self, runs: pd.DataFrame) -> pd.DataFrame:
        """Adds the titles of traffic and networks to runs."""
        traffic, networks = self.workflow.traffic, self.workflow.networks
        return runs.assign(
            traffic_title=[traffic[each].title for each in runs["traffic"]],
            network_title=[networks[each].title for each in runs["network"]],
        )

    @cached_property
    def worst_case_logs(self) -> Mapping[str, LinkLog]:
        """The uplink's log of each study's worst case, by study, unless the run failed."""
        paths = {
            name: self.folder / name / UPLINK_LOG
            for name, study in self.workflow.studies.items()
            if isinstance(study.objective, WorstCase)
        }
        return {name: read_link_log(path) for name, path in paths.items() if path.stat().st_size}

    # Published tables.

    @cached_property
    def published(self) -> pd.DataFrame:
        """All rows of the published tables that a study names: see `published_frame`."""
        tables = self.workflow.tables.values()
        return published_frame(sorted(tables, key=lambda table: f"{table.name}.yaml"))

    @cached_property
    def sources(self) -> Mapping[str, TableDescription]:
        """The description of each published table."""
        return {name: table.description for name, table in self.workflow.tables.items()}

    # Real-time runs.

    @cached_property
    def real_studies(self) -> list[StudyRuns]:
        """The studies in real mahimahi."""
        return self._studies(MAHIMAHI)

    @cached_property
    def real_repeats(self) -> list[Repeats]:
        """The settings repeated in real mahimahi."""
        return self._repeated(MAHIMAHI)

    def real_file(self, file: str) -> Path | None:
        """Returns the path of a real-time result, None if it is not configured or has not run.

        Only `make confirm` remakes such files, so a changed file raises KneepointError.
        """
        path = self.folder / file
        if not (self.is_real and path.exists()):
            return None
        require_as_written(path)
        return path

    def _studies(self, engine: Engine) -> list[StudyRuns]:
        names, _ = self.workflow.of_engine(engine)
        return [
            self.study(name, self.workflow.studies[name])
            for name in names
            if engine == EMULATOR or self.real_file(f"{name}/study.json") is not None
        ]

    def study(self, name: str, study: Study) -> StudyRuns:
        """Reads the results of a study from the folder of this name."""
        folder = self.folder / name
        trials = read_frame(folder / "trials.parquet", TRIALS)
        controller = self._catalogue.controller(study.controller, f"study {name}")
        runs = read_frame(folder / "runs.parquet", RUNS)
        if study.opponent:  # the opponent's runs follow the controller's
            runs = runs[runs["run"] < study.runs_per_trial].reset_index(drop=True)

        def prefix(column: str) -> str:
            return PARAMETER if column.startswith((HOST, OF_NETWORK)) else ""

        return StudyRuns(
            name=name,
            config=study,
            searched=tuple(
                _searched(column, searched, logarithmic, controller)
                for column, (searched, _, logarithmic) in searched_ranges(study, controller).items()
            ),
            record=StudyRecord.load(folder / "study.json"),
            trials=trials.rename(columns=lambda column: prefix(column) + column),
            runs=with_parameters(runs),
        )

    def _repeated(self, engine: Engine) -> list[Repeats]:
        every = [each for repeat in self.workflow.repeats.values() for each in repeat.settings]
        found = []
        for name in self.workflow.of_engine(engine)[1]:
            runs = self.table(f"repeats/{name}")
            if runs is not None:
                repeats = Repeats(name, self.workflow.repeats[name], runs)
                names = [_label(setting, every) for setting in repeats.config.settings]
                keys = [repeats.key(trial) for trial in runs["trial"]]
                labels = [names[trial] for trial in runs["trial"]]
                found.append(replace(repeats, runs=runs.assign(setting=keys, label=labels)))
        return found


def read(path: Path, schema: Table = RUNS) -> pd.DataFrame:
    """Reads a table of an experiment, with the parameters of its rows as columns."""
    found = read_frame(path, schema)
    return with_parameters(found) if "parameters" in found else found


def _searched(column: str, searched: Range, logarithmic: bool, controller: Controller) -> Searched:
    name = column.removeprefix(PARAMETER)
    declared = controller.parameters.get(name) if column.startswith(PARAMETER) else None
    possible = (declared.min, declared.max) if declared else (0.0, math.inf)
    return Searched(name, *searched.bounds, logarithmic, *possible)


def shown(engine: Engine) -> Engine:
    """Returns the engine that reports name: `kernel` for every engine with the kernel's TCP."""
    return KERNEL if LIMITS[engine].has_kernels_tcp else engine


_PUBLISHED = ["table", "report", "kind", "mark", "row", "controller", "network", "replayable"]


def published_frame(tables: Iterable[PublishedTable]) -> pd.DataFrame:
    """Returns all rows of the tables.

    Returns:
        Columns table, report (the name by which the report is cited), kind (published or measured),
        mark (number of the report in the order of the tables), row, controller, network,
        replayable, parameter_*, the metrics, and step_<metric>, one unit in a metric's last printed
        digit.
    """
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
            "replayable": row.has_all_parameters,
            **{PARAMETER + name: value for name, value in row.parameters.items()},
            **row.metrics,
            **{STEP + metric: step for metric, step in row.steps.items()},
        }
        for table in tables
        for row in table.rows
    ]
    return pd.DataFrame(rows, columns=None if rows else _PUBLISHED)


def _label(setting: Setting, others: Iterable[Setting]) -> str:
    """Returns the label of a setting: the parameters that distinguish it from the others."""
    alike = (other.parameters for other in others if other.controller == setting.controller)
    return labels.setting(setting.controller, labels.differing(setting.parameters, alike))

"""The declaration of a question: its experiments, tables, figures and sections.

Each folder of kneepoint/questions is a question.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

from kneepoint.common.config_file import ConfigModel
from kneepoint.common.errors import KneepointError, require_known
from kneepoint.config.study import EMULATOR, Engine, Setting
from kneepoint.config.workflow import Workflow
from kneepoint.engines.limits import LIMITS

PACKAGE = "kneepoint.questions"
FOLDER = Path(__file__).parent.parent / "questions"


class Phase(IntEnum):
    """The order in which `make confirm` makes experiments: one phase after another.

    Real runs need a quiet machine, so no emulated run is in progress during their phases.
    """

    EMULATED = 0
    HOST = 1
    """Measures how many real runs the host sustains at once."""
    REAL = 2
    EMULATED_AFTER_REAL = 3
    """Emulated runs that depend on real runs."""
    REAL_AFTER_EMULATED = 4
    """Real runs that depend on emulated runs of the phase before."""


@dataclass(frozen=True)
class ExperimentKind:
    """One kind of experiment.

    Args:
        rule: name of the workflow's rule.
        files: its outputs besides runs.parquet and made_by.json.
        message: the rule's message.
        planner: the function that plans the experiment, `module:function`.
        phase: phase of `make confirm`; None: EMULATED or REAL, by the experiment's engine.
        needs_whole_host: whether no other job may run at the same time.
        network_of: returns a recorded run's network if its name does not determine it:
            `module:function`, called with the job and the row of runs.parquet.
    """

    rule: str
    files: tuple[str, ...]
    message: str
    planner: str
    phase: Phase | None = None
    needs_whole_host: bool = False
    network_of: str = ""

    @property
    def step(self) -> str:
        """The module of its planner."""
        return self.planner.partition(":")[0]


@dataclass(frozen=True)
class Experiment:
    """The workflow's description of an experiment.

    Args:
        name: name of the experiment, and of its folder in the results.
        kind: its kind.
        engine: engine of its runs.
        controllers: names of its controllers.
        networks: names of its networks.
        needs: experiments whose results it reads.
        tables: tables of the analysis that it reads; their stages feed experiments.
        config_files: configuration files that it reads, including files of its networks, without
            the main file.
        settings: its settings in the main file, as text.
        file: configuration file that describes it.
        group: its group of results in the analysis; "": a group of its own name.
        is_extra: its networks must suit its engine only if another experiment uses this engine.
    """

    name: str
    kind: ExperimentKind
    engine: Engine = EMULATOR
    controllers: Sequence[str] = ()
    networks: Sequence[str] = ()
    needs: Sequence[str] = ()
    tables: Sequence[str] = ()
    config_files: Sequence[Path] = ()
    settings: str = ""
    file: Path = Path()
    group: str = ""
    is_extra: bool = False

    @property
    def phase(self) -> Phase:
        """The phase of `make confirm` that makes the experiment."""
        by_engine = Phase.REAL if LIMITS[self.engine].is_real_time else Phase.EMULATED
        return by_engine if self.kind.phase is None else self.kind.phase

    @property
    def needs_confirm(self) -> bool:
        """Whether only `make confirm` makes the experiment, because it needs real-time results."""
        return self.phase > Phase.EMULATED

    @property
    def rule(self) -> str:
        """The workflow's rule; experiments outside the emulator have separate rules."""
        return self.kind.rule if self.engine == EMULATOR else f"{self.kind.rule}_real"

    @property
    def files(self) -> tuple[str, ...]:
        """All outputs; the last output marks the experiment as complete."""
        return ("runs.parquet", *self.kind.files, "made_by.json")


@dataclass(frozen=True)
class Stage:
    """A step of the analysis.

    Args:
        tables: names of the tables that it makes.
        groups: groups of results that it reads (see `Experiment`), and `published`.
        from_tables: tables of other stages that it reads, by their question; if that question's
            folder is missing, its tables are empty.
        feeds_experiments: whether experiments read its tables, so that it waits for no other stage.
        module: module with TABLES and `compute`, in the question's folder; `stages` returns its
            full name.
    """

    tables: tuple[str, ...]
    groups: tuple[str, ...] = ()
    from_tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    feeds_experiments: bool = False
    module: str = "tables"

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of all tables of other stages that it reads."""
        return tuple(chain.from_iterable(self.from_tables.values()))


@dataclass(frozen=True)
class CountedRuns:
    """Runs that the inventory counts.

    Args:
        order: position among the rows of all questions.
        groups: groups of results with these runs.
        function: yields entries of the inventory from Results (see `kneepoint.analysis.inventory`);
            `module:function` in the question's folder.
    """

    order: int
    groups: tuple[str, ...]
    function: str = "tables:inventory_entries"


@dataclass(frozen=True)
class Section:
    """A section's place in the report: the part, and the order among the part's sections.

    `says` names the macro of section.md.jinja that writes the section.
    """

    part: str
    order: int
    says: str = "section"


def _none(_: Workflow) -> tuple[()]:
    return ()


def _refuses_nothing(_: Workflow) -> None:
    pass


@dataclass(frozen=True)
class Question:
    """A question's declaration.

    Args:
        sections: its sections; tables and figures are in the first section's part of the report.
        experiments: returns its experiments in a configuration; raises KneepointError if its
            settings are invalid.
        settings: model of its keys in config.yaml: new keys, or a key of the core extended.
        named_settings: returns the controllers' settings that these keys name, each with its key.
        folders: its folders in the results, whose names studies may not use.
        stages: its stages of the analysis.
        figures: names of its figures.
        counts: its runs in the inventory.
        order: position among all questions in lists of experiments.
        check: raises KneepointError if its settings contradict others of the configuration.
    """

    sections: tuple[Section, ...] = ()
    experiments: Callable[[Workflow], Iterable[Experiment]] = _none
    settings: type[ConfigModel] | None = None
    named_settings: Callable[[Workflow], Iterable[tuple[str, Setting]]] = _none
    folders: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    figures: tuple[str, ...] = ()
    counts: tuple[CountedRuns, ...] = ()
    order: int = 100
    check: Callable[[Workflow], None] = _refuses_nothing

    @property
    def tables(self) -> tuple[str, ...]:
        """The tables of all its stages."""
        return tuple(table for stage in self.stages for table in stage.tables)


@cache
def questions() -> Mapping[str, Question]:
    """Returns all questions by the names of their folders, in their order.

    Raises:
        KneepointError: a folder declares no question, or two declare a table, figure, folder or
            key of the same name.
    """
    folders = import_module(PACKAGE).__path__
    found = {each.name: _question(each.name) for each in iter_modules(folders) if each.ispkg}
    ordered = dict(sorted(found.items(), key=lambda each: (each[1].order, each[0])))
    _check_names(ordered)
    _check_tables(ordered)
    return ordered


def _question(name: str) -> Question:
    found = getattr(import_module(f"{PACKAGE}.{name}"), "QUESTION", None)
    if not isinstance(found, Question):
        raise KneepointError(
            f"{FOLDER / name}/__init__.py: declares no QUESTION; add it, or remove the folder"
        )
    return found


def _check_names(questions: Mapping[str, Question]) -> None:
    """Refuses tables, figures, folders and keys that two questions declare."""
    owners: dict[tuple[str, str], str] = {}
    for name, question in questions.items():
        keys = question.settings.model_fields if question.settings else ()
        for declared in (
            *(("table", table) for table in question.tables),
            *(("figure", figure) for figure in question.figures),
            *(("folder of results", folder) for folder in question.folders),
            *(("key", key) for key in keys),
        ):
            other = owners.setdefault(declared, name)
            if other != name:
                raise KneepointError(
                    f"{FOLDER / name}/__init__.py: the {declared[0]} {declared[1]!r} is also "
                    f"declared by {other}; rename it"
                )


def _check_tables(questions: Mapping[str, Question]) -> None:
    """Refuses a stage that reads a table which the named question, if present, does not make."""
    for name, question in questions.items():
        for stage in question.stages:
            for other in stage.from_tables.keys() & questions.keys():
                for table in stage.from_tables[other]:
                    problem = f"{FOLDER / name}/__init__.py: {other} makes no table {table!r}"
                    require_known(table, questions[other].tables, problem)


@cache
def stages() -> Mapping[str, Stage]:
    """Returns all stages by their names, each after the stages whose tables it reads.

    The stage of a question's module `tables` has the question's name.

    Raises:
        KneepointError: stages read tables in a cycle.
    """
    found = {
        name if stage.module == "tables" else f"{name}.{stage.module}": replace(
            stage, module=f"{PACKAGE}.{name}.{stage.module}"
        )
        for name, question in questions().items()
        for stage in question.stages
    }
    made_in = {table: name for name, stage in found.items() for table in stage.tables}
    before = {
        name: [made_in[table] for table in stage.reads if table in made_in]
        for name, stage in found.items()
    }
    try:
        return {name: found[name] for name in TopologicalSorter(before).static_order()}
    except CycleError as error:
        raise KneepointError(
            f"{FOLDER}: stages read each other's tables in a cycle, {', '.join(error.args[1])}; "
            "remove one"
        ) from None


@cache
def modules(name: str) -> Mapping[str, ModuleType]:
    """Returns the module `name` of each question that has this module."""
    paths = {question: f"{PACKAGE}.{question}.{name}" for question in questions()}
    return {each: import_module(path) for each, path in paths.items() if find_spec(path)}


def reserved() -> list[str]:
    """Returns the names of folders in the results that studies may not use."""
    return ["figures", "tables", *(name for each in questions().values() for name in each.folders)]


def makes(table: str) -> bool:
    """Returns whether a stage of any question makes a table."""
    return any(table in stage.tables for stage in stages().values())


def counts() -> list[CountedRuns]:
    """Returns all runs that the inventory counts, in their order; functions by their full names."""
    found = [
        replace(counted, function=f"{PACKAGE}.{name}.{counted.function}")
        for name, question in questions().items()
        for counted in question.counts
    ]
    return sorted(found, key=lambda counted: counted.order)

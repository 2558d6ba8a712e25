"""Questions of a report: their experiments, tables, figures and sections, as folders declare them.

A folder of kneepoint/questions is a question: see there.
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
from typing import Any

from kneepoint.common.config_file import ConfigModel
from kneepoint.common.errors import KneepointError, require_known
from kneepoint.config.study import EMULATOR, Engine, Setting
from kneepoint.config.workflow import Workflow
from kneepoint.engines.limits import LIMITS

PACKAGE = "kneepoint.questions"
FOLDER = Path(__file__).parent.parent / "questions"


class Phase(IntEnum):
    """When `make confirm` makes an experiment: after those of all phases before.

    Real runs need a quiet machine: emulated ones wait outside theirs.
    """

    EMULATED = 0
    HOST = 1
    """Measures how many real runs the host sustains at once."""
    REAL = 2
    EMULATED_AFTER_REAL = 3
    """Emulated runs that depend on real ones."""
    REAL_AFTER_EMULATED = 4
    """Real runs that depend on those."""


@dataclass(frozen=True)
class Kind:
    """One kind of experiment.

    Args:
        rule: name of the rule that makes it.
        files: its outputs besides runs.parquet and made_by.json.
        message: of its job.
        planner: the function that plans it, `module:function`.
        phase: of `make confirm`; None: EMULATED or REAL, by the engine of its experiment.
        needs_whole_host: whether no other job may run beside one of its jobs.
        network_of: the network of a recorded run, where it is not that of the run's name:
            `module:function` of the job and the row of runs.parquet.
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
    """What the workflow needs to know about an experiment.

    Args:
        name: its folder in the results.
        kind: its kind.
        engine: where its runs are made.
        controllers: that it runs.
        networks: that it runs on.
        needs: experiments whose results it reads.
        tables: of the analysis that it reads; their stages feed experiments.
        config_files: that it reads besides the main one: those of its networks, too.
        settings: its settings in the main one, as text.
        file: of the configuration, that describes it.
        group: of results to which the analysis counts it; "": its own name.
        is_extra: whether its engine must have its networks only if others run there, too.
    """

    name: str
    kind: Kind
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
        """The phase of `make confirm` that makes it."""
        by_engine = Phase.REAL if LIMITS[self.engine].is_real_time else Phase.EMULATED
        return by_engine if self.kind.phase is None else self.kind.phase

    @property
    def needs_confirm(self) -> bool:
        """Whether `make confirm` alone makes it: in real time, or from results of real time."""
        return self.phase > Phase.EMULATED

    @property
    def rule(self) -> str:
        """The rule that makes it; runs outside the emulator have one of their own."""
        return self.kind.rule if self.engine == EMULATOR else f"{self.kind.rule}_real"

    @property
    def files(self) -> tuple[str, ...]:
        """All its outputs; the last marks it as complete."""
        return ("runs.parquet", *self.kind.files, "made_by.json")


@dataclass(frozen=True)
class Stage:
    """A step of the analysis.

    Args:
        tables: names of those that it makes.
        groups: of results that it reads: see `Experiment`, and `published`.
        from_tables: those of other stages that it reads, by their questions; without a question
            its tables are empty.
        feeds_experiments: whether experiments read its tables, so that it waits for no other stage.
        module: with TABLES and `compute`, in its question's folder; of `stages`, its whole name.
    """

    tables: tuple[str, ...]
    groups: tuple[str, ...] = ()
    from_tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    feeds_experiments: bool = False
    module: str = "tables"

    @property
    def reads(self) -> tuple[str, ...]:
        """All tables of other stages that it reads."""
        return tuple(chain.from_iterable(self.from_tables.values()))


@dataclass(frozen=True)
class Counted:
    """Runs that the inventory counts.

    Args:
        order: among those of all questions.
        groups: of results in which they are.
        function: yields them from Results, each lot with what it is (see
            `kneepoint.analysis.inventory`); `module:function` in its question's folder.
    """

    order: int
    groups: tuple[str, ...]
    function: str = "tables:made"


@dataclass(frozen=True)
class Section:
    """Its place in the report: a part of it, and the order among the part's sections.

    `says` is the macro of section.md.jinja that writes it.
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
    """What a report asks.

    Args:
        sections: what it says; the first one's part is that of its tables and figures.
        experiments: those of a configuration; raises KneepointError if its settings are wrong.
        settings: the model of its keys of config.yaml: a further key, or one of the core with more
            keys of its own.
        named_settings: of controllers, as these keys name them, each with its key.
        folders: that these have in the results, which studies may not use.
        stages: of the analysis.
        figures: their kinds.
        counts: runs in the inventory.
        order: among all questions, by which experiments are listed.
        check: raises KneepointError if its settings contradict others of a configuration.
    """

    sections: tuple[Section, ...] = ()
    experiments: Callable[[Workflow], Iterable[Experiment]] = _none
    settings: type[ConfigModel] | None = None
    named_settings: Callable[[Workflow], Iterable[tuple[str, Setting]]] = _none
    folders: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    figures: tuple[str, ...] = ()
    counts: tuple[Counted, ...] = ()
    order: int = 100
    check: Callable[[Workflow], None] = _refuses_nothing


@cache
def questions() -> Mapping[str, Question]:
    """All questions by the names of their folders, in their order.

    Raises:
        KneepointError: a folder declares none, or two declare the same.
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
    """Refuses what two questions declare by the same name."""
    owners: dict[tuple[str, str], str] = {}
    for name, question in questions.items():
        keys = question.settings.model_fields if question.settings else ()
        for declared in (
            *(("table", table) for stage in question.stages for table in stage.tables),
            *(("figure", figure) for figure in question.figures),
            *(("folder of results", folder) for folder in question.folders),
            *(("key", key) for key in keys),
        ):
            other = owners.setdefault(declared, name)
            if other != name:
                raise KneepointError(
                    f"{FOLDER / name}/__init__.py: the {declared[0]} {declared[1]!r} is one of "
                    f"{other}, too; rename it"
                )


def _check_tables(questions: Mapping[str, Question]) -> None:
    """Refuses tables that a question which is there does not make."""
    made = {
        name: [table for stage in question.stages for table in stage.tables]
        for name, question in questions.items()
    }
    for name, question in questions.items():
        for stage in question.stages:
            for other in stage.from_tables.keys() & made.keys():
                for table in stage.from_tables[other]:
                    problem = f"{FOLDER / name}/__init__.py: {other} makes no table {table!r}"
                    require_known(table, made[other], problem)


@cache
def stages() -> Mapping[str, Stage]:
    """All stages by their names, none before one whose tables it reads.

    The stage of a question's module `tables` has the question's name.

    Raises:
        KneepointError: stages read each other's tables.
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
            f"{FOLDER}: stages read tables in a circle, {' of '.join(error.args[1])}; cut it"
        ) from None


def in_tables(what: str) -> Mapping[str, Mapping[str, Any]]:
    """DERIVED or WORDS of each question's `tables`, by the question's name, if it has them."""
    paths = {name: f"{PACKAGE}.{name}.tables" for name in questions()}
    modules = {name: import_module(path) for name, path in paths.items() if find_spec(path)}
    return {name: vars(module)[what] for name, module in modules.items() if what in vars(module)}


def reserved() -> list[str]:
    """Names of folders in the results that studies may not use."""
    return ["figures", "tables", *(name for each in questions().values() for name in each.folders)]


def makes(table: str) -> bool:
    """Whether a question that is there makes a table."""
    return any(table in stage.tables for stage in stages().values())


def counts() -> list[Counted]:
    """All runs that the inventory counts, in their order; functions by their whole names."""
    found = [
        replace(counted, function=f"{PACKAGE}.{name}.{counted.function}")
        for name, question in questions().items()
        for counted in question.counts
    ]
    return sorted(found, key=lambda counted: counted.order)

"""Questions of a report: their experiments, tables, figures and sections, as folders declare them.

A folder of kneepoint/questions is a question: see there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from kneepoint.common.config_file import ConfigModel
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
        takes_all: whether each of its jobs needs the whole host.
        network_of: the network of a recorded run, where it is not that of the run's name:
            `module:function` of the job and the row of runs.parquet.
    """

    rule: str
    files: tuple[str, ...]
    message: str
    planner: str
    phase: Phase | None = None
    takes_all: bool = False
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
        lists: further files of the results that it reads.
        reads: files of the configuration, besides the main one, that it reads: those of its
            networks, too.
        settings: its settings in the main one, as text.
        file: of the configuration, that describes it.
        results: the group of results to which the analysis counts it; "": its own name.
        is_extra: whether its engine must have its networks only if others run there, too.
    """

    name: str
    kind: Kind
    engine: Engine = EMULATOR
    controllers: Sequence[str] = ()
    networks: Sequence[str] = ()
    needs: Sequence[str] = ()
    lists: Sequence[str] = ()
    reads: Sequence[Path] = ()
    settings: str = ""
    file: Path = Path()
    results: str = ""
    is_extra: bool = False

    @property
    def phase(self) -> Phase:
        """The phase of `make confirm` that makes it."""
        by_engine = Phase.REAL if LIMITS[self.engine].is_real_time else Phase.EMULATED
        return by_engine if self.kind.phase is None else self.kind.phase

    @property
    def is_real(self) -> bool:
        """Whether it runs in real time or depends on real-time runs."""
        return self.phase > Phase.EMULATED

    @property
    def rule(self) -> str:
        """The rule that makes it; runs outside the emulator have one of their own."""
        return self.kind.rule if self.engine == EMULATOR else f"{self.kind.rule}_real"

    @property
    def group(self) -> str:
        """The group of results to which the analysis counts it."""
        return self.results or self.name

    @property
    def files(self) -> tuple[str, ...]:
        """All its outputs; the last marks it as complete."""
        return ("runs.parquet", *self.kind.files, "made_by.json")


@dataclass(frozen=True)
class Stage:
    """A step of the analysis.

    Args:
        results: groups of results that it reads: see `Experiment`, and `published`.
        tables: names of those that it makes.
        reads: tables of other stages.
        is_alone: whether experiments read its tables, so that it waits for no other stage.
        module: with TABLES and `compute`, in its question's folder; of `stages`, its whole name.
    """

    results: tuple[str, ...]
    tables: tuple[str, ...]
    reads: tuple[str, ...] = ()
    is_alone: bool = False
    module: str = "tables"


@dataclass(frozen=True)
class Counted:
    """Runs that the inventory counts.

    Args:
        place: their order among those of all questions.
        results: groups of results in which they are.
        function: yields them from Results, each lot with what it is (see
            `kneepoint.analysis.inventory`); `module:function` in its question's folder.
    """

    place: int
    results: tuple[str, ...]
    function: str = "tables:made"


@dataclass(frozen=True)
class Section:
    """Its place in the report: a part of it, and the order among the part's sections.

    `says` is the macro of section.md.jinja that writes it.
    """

    part: str
    place: int
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
        experiments: those of a configuration.
        settings: the model of its keys of config.yaml: a further key, or one of the core with more
            keys of its own.
        named: settings of controllers that these keys name, each with its key.
        folders: that these have in the results, which studies may not use.
        stages: of the analysis.
        figures: their kinds.
        counts: runs in the inventory.
        place: its order among all questions, by which experiments are listed.
        check: raises KneepointError if its settings contradict others of a configuration.
        words: a module whose names its templates call by the question's, as `audit.SURE`.
    """

    sections: tuple[Section, ...] = ()
    experiments: Callable[[Workflow], Iterable[Experiment]] = _none
    settings: type[ConfigModel] | None = None
    named: Callable[[Workflow], Iterable[tuple[str, Setting]]] = _none
    folders: tuple[str, ...] = ()
    stages: tuple[Stage, ...] = ()
    figures: tuple[str, ...] = ()
    counts: tuple[Counted, ...] = ()
    place: int = 100
    check: Callable[[Workflow], None] = _refuses_nothing
    words: str = ""


@cache
def questions() -> Mapping[str, Question]:
    """All questions by the names of their folders, in their order."""
    folders = import_module(PACKAGE).__path__
    found = [each.name for each in iter_modules(folders) if each.ispkg]
    every = [(import_module(f"{PACKAGE}.{name}").QUESTION, name) for name in found]
    every.sort(key=lambda each: (each[0].place, each[1]))
    return {name: question for question, name in every}


@cache
def stages() -> Mapping[str, Stage]:
    """All stages by their names, none before one whose tables it reads.

    The stage of a question's module `tables` has the question's name.
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
    return {name: found[name] for name in TopologicalSorter(before).static_order()}


def words() -> Mapping[str, str]:
    """The module of each question's words, by the question's name."""
    found = {name: question.words for name, question in questions().items()}
    return {name: f"{PACKAGE}.{name}.{module}" for name, module in found.items() if module}


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
    return sorted(found, key=lambda counted: counted.place)

"""Does tuning a controller against its worst cases make these cases milder?"""

from collections.abc import Iterator, Mapping

from pydantic import Field

from kneepoint.common.config_file import ConfigModel
from kneepoint.common.errors import KneepointError, require_known
from kneepoint.config.study import EMULATOR, WorstCase
from kneepoint.config.workflow import Workflow
from kneepoint.networks.config import Name
from kneepoint.reports.parts import ELSEWHERE
from kneepoint.runs.question import (
    CountedRuns,
    Experiment,
    ExperimentKind,
    Question,
    Section,
    Stage,
)

_HARDENING = ExperimentKind(
    "harden_controller",
    ("rounds.parquet",),
    "Tuning against worst cases, in rounds",
    f"{__name__}.plan:plan",
    network_of=f"{__name__}.plan:network_of",
)


class Hardening(ConfigModel):
    """A controller tuned against its own worst cases, in rounds."""

    title: str = Field(min_length=1, description="title in reports")
    tune: Name = Field(description="study that tunes the controller, on the networks of round 0")
    worst_case: Name = Field(
        description="study that searches for the worst case, of the tuned controller"
    )
    rounds: int = Field(default=3, ge=1, description="worst cases to add to the networks")
    repeats: int = Field(default=5, ge=1, description="replicates of all rounds, for their spread")


class Settings(ConfigModel):
    """The question's keys of config.yaml."""

    hardening: Mapping[Name, Hardening] = Field(
        default={}, description="controllers tuned against their own worst cases, by name"
    )


def _check(workflow: Workflow, name: str, wanted: Hardening) -> None:
    """Refuses rounds without a tuning and a worst-case search of the same controller."""
    where = f"{workflow.path}: hardening: {name}"
    for key in ("tune", "worst_case"):
        study_name = getattr(wanted, key)
        problem = f"{where}: {key} names {study_name!r}, which is not among studies"
        require_known(study_name, workflow.studies, problem)
    tune, worst = workflow.studies[wanted.tune], workflow.studies[wanted.worst_case]
    if not tune.tunes or tune.engine != EMULATOR:
        raise KneepointError(
            f"{where}: study {wanted.tune} does not tune a controller for power in the emulator; "
            "name a study that does"
        )
    if not isinstance(worst.objective, WorstCase):
        raise KneepointError(
            f"{where}: study {wanted.worst_case} does not search for a worst case; give it the "
            "objective worst_case, or name another"
        )
    if worst.controller != tune.controller:
        raise KneepointError(
            f"{where}: {wanted.tune} tunes {tune.controller}, but {wanted.worst_case} searches a "
            f"worst case of {worst.controller}; make them agree"
        )


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    studies = workflow.path.parent / "studies"
    for name, wanted in workflow.settings.part(Settings).hardening.items():
        _check(workflow, name, wanted)
        both = {each: workflow.studies[each] for each in (wanted.tune, wanted.worst_case)}
        opponents = [each.opponent for each in both.values()]
        controllers = [each.controller for each in both.values()]
        yield Experiment(
            f"hardening/{name}",
            _HARDENING,
            controllers=[*controllers, *(each.controller for each in opponents if each)],
            networks=list(dict.fromkeys(n for each in both.values() for n in each.networks)),
            needs=[each for study in both.values() for each in study.start.studies],
            config_files=[studies / f"{each}.yaml" for each in both],
            settings=str(wanted),
            group="hardening",
        )


QUESTION = Question(
    sections=(Section(ELSEWHERE, 21),),
    experiments=_experiments,
    settings=Settings,
    folders=("hardening",),
    stages=(
        Stage(
            groups=("hardening",),
            tables=("hardening_rounds",),
        ),
    ),
    counts=(CountedRuns(50, ("hardening",)),),
    order=35,
)

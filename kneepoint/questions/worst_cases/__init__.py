"""On which network does a controller do worst, and does tuning against that make it milder?"""

from collections.abc import Iterator

from kneepoint.config.workflow import Workflow
from kneepoint.reports.parts import ELSEWHERE
from kneepoint.runs.question import Counted, Experiment, Kind, Question, Section, Stage

_HARDENING = Kind(
    "harden_controller",
    ("rounds.parquet",),
    "Tuning against worst cases, in rounds",
    f"{__name__}.plan:plan",
)


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    studies = workflow.path.parent / "studies"
    for name, wanted in workflow.settings.hardening.items():
        both = {each: workflow.studies[each] for each in (wanted.tune, wanted.worst_case)}
        opponents = [each.opponent for each in both.values()]
        controllers = [each.controller for each in both.values()]
        yield Experiment(
            f"hardening/{name}",
            _HARDENING,
            controllers=[*controllers, *(each.controller for each in opponents if each)],
            networks=list(dict.fromkeys(n for each in both.values() for n in each.networks)),
            needs=[each for study in both.values() for each in study.start.studies],
            reads=[studies / f"{each}.yaml" for each in both],
            settings=str(wanted),
            results="hardening",
        )


QUESTION = Question(
    sections=(Section(ELSEWHERE, 20),),
    experiments=_experiments,
    folders=("hardening",),
    stages=(
        Stage(
            results=("studies", "published", "hardening"),
            tables=("worst_cases", "hardening_rounds"),
        ),
    ),
    figures=("worst-case",),
    counts=(Counted(50, ("hardening",)),),
    place=35,
)

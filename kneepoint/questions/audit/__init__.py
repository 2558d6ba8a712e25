"""Do our runs reproduce what reports print, and what speaks against a row?"""

from collections.abc import Iterator

from kneepoint.config.workflow import ADDED_RUNS, Workflow
from kneepoint.reports.parts import AT_A_GLANCE, FINDINGS, PUBLISHED
from kneepoint.runs.question import Counted, Experiment, Kind, Question, Section, Stage

_MORE_RUNS = Kind(
    "add_runs",
    ("settings.parquet",),
    "Adding runs until verdicts on published rows are clear",
    f"{__name__}.plan:plan",
)


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    if workflow.adds_runs:
        studies = [workflow.studies[name] for name in workflow.audited]
        tables = dict.fromkeys(table for study in studies for table in study.tables)
        yield Experiment(
            ADDED_RUNS,
            _MORE_RUNS,
            controllers=list(dict.fromkeys(study.controller for study in studies)),
            networks=list(dict.fromkeys(name for study in studies for name in study.networks)),
            needs=workflow.audited,
            reads=workflow.files_of_tables(tables),
            settings=str(workflow.settings.audit),
        )


QUESTION = Question(
    sections=(
        Section(PUBLISHED, 10),
        Section(FINDINGS, 10, "finding"),
        Section(AT_A_GLANCE, 10, "glance"),
    ),
    experiments=_experiments,
    folders=(ADDED_RUNS,),
    stages=(
        Stage(
            results=("studies", "published", "added_runs"),
            tables=("audit", "audit_evidence", "audit_tables"),
            is_alone=True,
        ),
    ),
    figures=("at-a-glance", "published-against-ours"),
    words="words",
    counts=(Counted(60, ("added_runs",)),),
    place=50,
)

"""Do our runs reproduce published rows, and is there evidence against a row?"""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, field_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.common.errors import KneepointError
from kneepoint.config.study import EMULATOR
from kneepoint.config.workflow import Workflow
from kneepoint.reports.parts import AT_A_GLANCE, DONE, FINDINGS, PUBLISHED
from kneepoint.runs.question import (
    CountedRuns,
    Experiment,
    ExperimentKind,
    Question,
    Section,
    Stage,
)

ADDED_RUNS = "added_runs"
"""The experiment that adds runs to published rows whose verdict is unclear."""
_MORE_RUNS = ExperimentKind(
    "add_runs",
    ("settings.parquet",),
    "Adding runs until verdicts on published rows are clear",
    f"{__name__}.plan:plan",
)


class Audit(ConfigModel):
    """Limits on the number of runs behind the verdict on a published row."""

    runs: tuple[Annotated[int, Field(ge=2)], ...] = Field(
        default=(10, 30),
        description="while the verdict on a row is unclear, its runs grow to each of these "
        "numbers in turn; the last is the limit; empty: use only the runs of the studies",
    )

    @field_validator("runs")
    @classmethod
    def _grow(cls, runs: tuple[int, ...]) -> tuple[int, ...]:
        if list(runs) != sorted(set(runs)):
            raise ValueError("the numbers must increase; sort them and remove duplicates")
        return runs


class Settings(ConfigModel):
    """The question's keys of config.yaml."""

    audit: Audit = Field(default=Audit(), description="verdicts on published rows")


def audited(workflow: Workflow) -> list[str]:
    """The emulator's studies that the audit reads: replays of published tables, and fits."""
    return [n for n, s in workflow.studies.items() if s.tables and s.engine == EMULATOR]


def adds_runs(workflow: Workflow) -> bool:
    """Returns whether runs are added to published rows whose verdict is unclear."""
    studies = [workflow.studies[name] for name in audited(workflow)]
    return bool(
        workflow.settings.part(Settings).audit.runs
        and any(study.table or study.compare for study in studies)
    )


def _check(workflow: Workflow) -> None:
    """Refuses replays under traffic, because the audit adds runs without traffic."""
    if not workflow.settings.part(Settings).audit.runs:
        return
    for name, study in workflow.studies.items():
        if study.table and study.traffic:
            raise KneepointError(
                f"{workflow.file('studies', name)}: the audit adds runs without traffic; write "
                f"audit: {{runs: []}} into {workflow.path}"
            )


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    if adds_runs(workflow):
        names = audited(workflow)
        studies = [workflow.studies[name] for name in names]
        tables = dict.fromkeys(table for study in studies for table in study.tables)
        yield Experiment(
            ADDED_RUNS,
            _MORE_RUNS,
            controllers=list(dict.fromkeys(study.controller for study in studies)),
            networks=list(dict.fromkeys(name for study in studies for name in study.networks)),
            needs=names,
            config_files=workflow.files_of_tables(tables),
            settings=str(workflow.settings.part(Settings).audit),
        )


QUESTION = Question(
    sections=(
        Section(PUBLISHED, 10),
        Section(FINDINGS, 10, "finding"),
        Section(AT_A_GLANCE, 10, "glance"),
        Section(DONE, 10, "done"),
    ),
    experiments=_experiments,
    settings=Settings,
    check=_check,
    folders=(ADDED_RUNS,),
    stages=(
        Stage(
            groups=("studies", "published", "added_runs"),
            tables=("audit", "audit_evidence", "audit_tables"),
            feeds_experiments=True,
        ),
    ),
    figures=("at-a-glance", "published-against-ours"),
    counts=(CountedRuns(60, ("added_runs",)),),
    order=50,
)

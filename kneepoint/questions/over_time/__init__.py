"""What happens during a run of the example, of a comparison, or of a worst case?"""

from collections.abc import Iterator

from pydantic import Field

from kneepoint.common.config_file import ConfigModel
from kneepoint.config.study import EMULATOR, MAHIMAHI, Setting
from kneepoint.config.workflow import FLOW_LOG, UPLINK_LOG, Workflow
from kneepoint.networks.config import Name
from kneepoint.reports.parts import BEHAVES
from kneepoint.runs.question import Experiment, ExperimentKind, Question, Section, Stage

REAL = "real_showcase"
"""The experiment that runs the example in real mahimahi."""
_EXAMPLE = ExperimentKind(
    "run_example",
    (UPLINK_LOG, FLOW_LOG),
    "Running the example with its logs",
    f"{__name__}.plan:plan",
)
_REAL_EXAMPLE = ExperimentKind(
    "run_example",
    (UPLINK_LOG,),
    "Running the example in real mahimahi with its log",
    _EXAMPLE.planner,
)


class Showcase(Setting):
    """The run whose rate and delay over time the report shows."""

    network: Name = Field(description="file of config/networks")


class Settings(ConfigModel):
    """The question's keys of config.yaml."""

    showcase: Showcase | None = Field(
        default=None, description="run that the report shows over time"
    )


def _named(workflow: Workflow) -> Iterator[tuple[str, Setting]]:
    if run := workflow.settings.part(Settings).showcase:
        yield "showcase", run


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    if run := workflow.settings.part(Settings).showcase:
        where = [run.controller], [run.network]
        yield Experiment("showcase", _EXAMPLE, EMULATOR, *where, settings=str(run))
        yield Experiment(
            REAL,
            _REAL_EXAMPLE,
            MAHIMAHI,
            *where,
            settings=str(run),
            is_extra=True,
        )


QUESTION = Question(
    sections=(Section(BEHAVES, 10),),
    experiments=_experiments,
    settings=Settings,
    named_settings=_named,
    folders=("showcase", REAL),
    stages=(
        Stage(
            groups=("showcase", "real_showcase", "comparisons", "kernel", "studies"),
            tables=("showcase", "series"),
            from_tables={"comparisons": ("comparison_runs",), "worst_cases": ("worst_cases",)},
        ),
    ),
    figures=("run-over-time",),
    order=70,
)

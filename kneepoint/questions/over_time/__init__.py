"""What does a run do, moment by moment: the example of the configuration, and runs of others?"""

from collections.abc import Iterator

from kneepoint.config.study import EMULATOR, MAHIMAHI
from kneepoint.config.workflow import FLOW_LOG, LOG, REAL_SHOWCASE, Workflow
from kneepoint.reports.parts import BEHAVES
from kneepoint.runs.question import Experiment, Kind, Question, Section, Stage

_EXAMPLE = Kind(
    "run_example", (LOG, FLOW_LOG), "Running the example with its logs", f"{__name__}.plan:plan"
)
_REAL_EXAMPLE = Kind(
    "run_example", (LOG,), "Running the example in real mahimahi with its log", _EXAMPLE.planner
)


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    if run := workflow.settings.showcase:
        where = [run.controller], [run.network]
        yield Experiment("showcase", _EXAMPLE, EMULATOR, *where, settings=str(run))
        yield Experiment(
            REAL_SHOWCASE,
            _REAL_EXAMPLE,
            MAHIMAHI,
            *where,
            settings=str(run),
            is_wanted=bool(workflow.settings.confirm),
        )


QUESTION = Question(
    sections=(Section(BEHAVES, 10),),
    experiments=_experiments,
    folders=("showcase", REAL_SHOWCASE),
    stages=(
        Stage(
            results=("showcase", "real_showcase", "comparisons", "kernel", "studies"),
            tables=("showcase", "series"),
            reads=("comparison_runs", "worst_cases"),
        ),
    ),
    figures=("run-over-time",),
    place=70,
)

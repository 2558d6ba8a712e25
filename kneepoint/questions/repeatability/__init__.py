"""How repeatable are runs, with fresh seeds and everything else equal, emulated and real?"""

from collections.abc import Iterator

from kneepoint.config.workflow import Workflow
from kneepoint.engines.limits import LIMITS
from kneepoint.reports.parts import DONE, TRUSTED
from kneepoint.runs.question import (
    CountedRuns,
    Experiment,
    ExperimentKind,
    Question,
    Section,
    Stage,
)

_REPLICATES = ExperimentKind("replicate_settings", (), "Replicating", f"{__name__}.plan:plan")


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    for name, repeat in workflow.repeats.items():
        yield Experiment(
            f"repeats/{name}",
            _REPLICATES,
            repeat.engine,
            [setting.controller for setting in repeat.settings],
            [repeat.network],
            config_files=[workflow.path.parent / f"repeats/{name}.yaml"],
            group="real_repeats" if LIMITS[repeat.engine].is_real_time else "repeats",
        )


QUESTION = Question(
    sections=(
        Section(TRUSTED, 10),
        Section(TRUSTED, 30, "in_real_time"),
        Section(DONE, 30, "done"),
    ),
    experiments=_experiments,
    folders=("repeats",),
    stages=(
        Stage(
            groups=("repeats", "real_repeats", "calibration"),
            tables=("repeatability_runs", "repeatability_published"),
        ),
    ),
    figures=("repeatability",),
    counts=(CountedRuns(20, ("repeats", "real_repeats")),),
    order=30,
)

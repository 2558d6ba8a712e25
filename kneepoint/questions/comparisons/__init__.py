"""What do settings do under the same traffic, in virtual time and on the kernel's TCP?"""

from collections.abc import Iterator

from kneepoint.config.workflow import FOLDERS, Workflow
from kneepoint.reports.parts import BEHAVES, TRUSTED, WORKS
from kneepoint.runs.question import Counted, Experiment, Kind, Question, Section, Stage

_COMPARISON = Kind("compare_settings", (), "Running the comparison", f"{__name__}.plan:plan")


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    config = workflow.path.parent
    for name, comparison in workflow.comparisons.items():
        under_study = [setting.controller for setting in comparison.settings]
        beside = [c for each in comparison.traffic for c in workflow.controllers_beside(each)]
        traffic = [config / f"traffic/{each}.yaml" for each in comparison.traffic]
        for engine in comparison.engines:
            yield Experiment(
                f"{FOLDERS[engine]}/{name}",
                _COMPARISON,
                engine,
                [*under_study, *beside],
                comparison.networks_on(engine),
                config_files=[config / f"comparisons/{name}.yaml", *traffic],
                group=FOLDERS[engine],
            )


QUESTION = Question(
    sections=(Section(BEHAVES, 20), Section(TRUSTED, 60, "kernel"), Section(WORKS, 10, "works")),
    experiments=_experiments,
    folders=("comparisons", "kernel"),
    stages=(
        Stage(
            groups=("comparisons", "kernel", "studies"),
            tables=(
                "traffic_figures",
                "comparison_published",
                "comparison_shares",
                "comparison_runs",
            ),
        ),
    ),
    figures=(
        *("comparison-figures", "comparison-flows", "comparison-shares", "comparison-windows"),
        "network-sweep",
    ),
    counts=(Counted(30, ("comparisons", "kernel")),),
    order=40,
)

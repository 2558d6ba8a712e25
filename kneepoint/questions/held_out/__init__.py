"""Do settings hold on networks that no search has seen, and what does tuning on several cost?"""

from collections.abc import Iterator

from kneepoint.config.workflow import Workflow
from kneepoint.reports.parts import AT_A_GLANCE, ELSEWHERE, FINDINGS
from kneepoint.runs.question import Counted, Experiment, Kind, Question, Section, Stage

_HELD_OUT = Kind(
    "hold_out_settings",
    ("settings.parquet", "networks.parquet"),
    "Running published and tuned settings on held-out networks",
    f"{__name__}.plan:plan",
)


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    held = workflow.settings.hold_out
    if held:
        yield Experiment(
            "hold_out",
            _HELD_OUT,
            controllers=workflow.held_controllers,
            networks=[held.training, *held.networks],
            needs=[*workflow.replays, *workflow.tunings],
            settings=str(held),
        )


QUESTION = Question(
    sections=(
        Section(ELSEWHERE, 10),
        Section(FINDINGS, 20, "finding.md.jinja"),
        Section(FINDINGS, 50, "taken.md.jinja"),
        Section(AT_A_GLANCE, 20, "glance.md.jinja"),
    ),
    experiments=_experiments,
    stages=(
        Stage(
            results=("hold_out", "studies", "published"),
            tables=(
                "held_out_settings",
                "held_out_gains",
                "held_out_profiles",
                "held_out_duels",
                "held_out_networks",
                "held_out_power",
                "generality",
            ),
        ),
    ),
    figures=("plane", "held-out-gain", "held-out-map"),
    counts=(Counted(40, ("hold_out",)),),
    place=60,
)

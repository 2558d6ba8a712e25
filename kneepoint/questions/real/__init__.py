"""Do real runs in mahimahi agree with the emulator, and do they confirm verdicts on rows?"""

from collections.abc import Iterator

from kneepoint.config.confirm import Confirming, controllers
from kneepoint.config.study import EMULATOR, MAHIMAHI, Setting
from kneepoint.config.workflow import CALIBRATED, Workflow
from kneepoint.reports.parts import FINDINGS, TRUSTED
from kneepoint.runs.question import (
    CountedRuns,
    Experiment,
    ExperimentKind,
    Phase,
    Question,
    Section,
    Stage,
    makes,
)

_CONFIRMATION = ExperimentKind(
    "confirm_settings",
    ("settings.parquet",),
    "Running settings in real mahimahi",
    f"{__name__}.plan:plan",
)
_AGREEMENT = ExperimentKind(
    "emulate_confirmed",
    (),
    "Running the confirmed settings on the fitted host",
    f"{__name__}.plan:plan_agreement",
    phase=Phase.EMULATED_AFTER_REAL,
    network_of=f"{__name__}.plan:network_of",
)
_FURTHER_RUNS = ExperimentKind(
    "run_again",
    (),
    "Running further real runs of settings that deviate from the emulator",
    f"{__name__}.plan:plan_further_runs",
    phase=Phase.REAL_AFTER_EMULATED,
)


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    wanted = workflow.settings.part(Confirming).confirm
    if not wanted:
        return
    held = ["hold_out"] if workflow.settings.hold_out and makes("held_out_settings") else []
    audited = ["audit"] if wanted.contradicted and makes("audit") else []
    of = controllers(workflow), [wanted.network]
    text = str(wanted)
    yield Experiment("confirm", _CONFIRMATION, MAHIMAHI, *of, held, audited, settings=text)
    if makes("calibration"):
        needs, tables = ["confirm", CALIBRATED], ["agreement"]
        yield Experiment(
            "agreement", _AGREEMENT, EMULATOR, *of, needs, settings=text, group=CALIBRATED
        )
        yield Experiment("again", _FURTHER_RUNS, MAHIMAHI, *of, ["confirm"], tables, settings=text)


def _named(workflow: Workflow) -> Iterator[tuple[str, Setting]]:
    if wanted := workflow.settings.part(Confirming).confirm:
        for setting in wanted.settings:
            yield "confirm.settings", setting


QUESTION = Question(
    sections=(Section(TRUSTED, 20), Section(FINDINGS, 60, "finding")),
    experiments=_experiments,
    settings=Confirming,
    named_settings=_named,
    folders=("confirm", "agreement", "again"),
    stages=(
        Stage(groups=("confirm", "calibration"), tables=("agreement",), feeds_experiments=True),
        Stage(
            groups=("calibration", "again"),
            tables=("again",),
            from_tables={"real": ("agreement",)},
            module="again",
        ),
    ),
    figures=("agreement",),
    counts=(CountedRuns(71, ("confirm",)),),
    order=82,
)

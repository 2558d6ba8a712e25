"""Which parameters of the emulated host reproduce the real runs of this host?"""

from collections.abc import Iterator

from kneepoint.common.errors import KneepointError
from kneepoint.config.confirm import Confirm, Confirming, calibrating, controllers
from kneepoint.config.study import Fit, Setting, Study
from kneepoint.config.workflow import CALIBRATED, Workflow
from kneepoint.reports.parts import TRUSTED
from kneepoint.runs.question import (
    Experiment,
    ExperimentKind,
    Phase,
    Question,
    Section,
    Stage,
    makes,
)

_CALIBRATION = ExperimentKind(
    "calibrate_host",
    ("study.json", "trials.parquet", "delays.parquet", "spread.parquet", "network.json"),
    "Fitting the emulated host to real runs",
    f"{__name__}.plan:plan",
    phase=Phase.EMULATED_AFTER_REAL,
)


def wanted_of(workflow: Workflow) -> Confirm | None:
    """Returns the settings to confirm, None unless an installed question confirms settings."""
    return workflow.settings.part(Confirming).confirm if makes("agreement") else None


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    if wanted := wanted_of(workflow):
        yield Experiment(
            CALIBRATED,
            _CALIBRATION,
            controllers=controllers(workflow),
            networks=[wanted.network],
            needs=["confirm"],
            settings=str(wanted),
        )


def _named(workflow: Workflow) -> Iterator[tuple[str, Setting]]:
    if wanted := wanted_of(workflow):
        for setting in calibrating(wanted):
            yield "confirm.calibration", setting


def _check(workflow: Workflow) -> None:
    """Refuses a guided study without the calibration that guides it."""
    if wanted_of(workflow) or not makes("agreement"):
        return
    for name, study in workflow.studies.items():
        if study.guide:
            raise KneepointError(
                f"{workflow.file('studies', name)}: guide needs this host's calibration, which "
                f"real runs of fixed windows make; add confirm to {workflow.path}, or remove guide"
            )


def study_of_calibration(confirm: Confirm) -> Study:
    """Returns the study that fits the emulated host to real fixed windows; it has no file."""
    return Study(
        title="The emulated host, fitted to real fixed windows",
        controller=calibrating(confirm)[0].controller,
        networks=(confirm.network,),
        host=confirm.calibration.host,
        objective=Fit(fit=("confirm",)),
        runs_per_trial=confirm.calibration.runs_per_trial,
    )


QUESTION = Question(
    sections=(Section(TRUSTED, 51),),
    experiments=_experiments,
    named_settings=_named,
    check=_check,
    folders=(CALIBRATED,),
    stages=(
        Stage(
            groups=("calibration",),
            tables=("scheduling_delays", "calibration", "wake_spread"),
        ),
    ),
    order=81,
)

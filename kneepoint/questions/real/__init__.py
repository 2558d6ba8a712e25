"""Does real mahimahi do what the emulator predicts, and what does this host take?"""

from collections.abc import Iterator

from kneepoint.config.study import EMULATOR, MAHIMAHI
from kneepoint.config.workflow import CALIBRATED, Workflow
from kneepoint.questions.real.settings import Settings, check, controllers, named
from kneepoint.reports.parts import FINDINGS, TRUSTED
from kneepoint.runs.question import (
    Counted,
    Experiment,
    Kind,
    Phase,
    Question,
    Section,
    Stage,
    makes,
)

_PROBE = Kind(
    "probe_host",
    ("probe.json",),
    "Measuring how many real-time runs this host sustains at once",
    f"{__name__}.probe:plan",
    phase=Phase.HOST,
    needs_whole_host=True,
)
_CONFIRMATION = Kind(
    "confirm_settings",
    ("settings.parquet",),
    "Running settings in real mahimahi",
    f"{__name__}.plan:plan",
)
_CALIBRATION = Kind(
    "calibrate_host",
    ("study.json", "trials.parquet", "delays.parquet", "spread.parquet", "network.json"),
    "Fitting the emulated host to real runs",
    f"{__name__}.calibration:plan",
    phase=Phase.EMULATED_AFTER_REAL,
)
_AGREEMENT = Kind(
    "emulate_confirmed",
    (),
    "Running the confirmed settings on the fitted host",
    f"{__name__}.plan:plan_agreement",
    phase=Phase.EMULATED_AFTER_REAL,
    network_of=f"{__name__}.plan:calibrated",
)
_FURTHER_RUNS = Kind(
    "run_again",
    (),
    "Running further real runs of settings that deviate from the emulator",
    f"{__name__}.plan:plan_further_runs",
    phase=Phase.REAL_AFTER_EMULATED,
)


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    settings = workflow.settings.part(Settings)
    if run := settings.real_time.probe:
        where = [run.controller], [run.network]
        yield Experiment("probe", _PROBE, MAHIMAHI, *where, settings=str(run))
    wanted = settings.confirm
    if not wanted:
        return
    held = ["hold_out"] if workflow.settings.hold_out and makes("held_out_settings") else []
    audited = ["audit"] if wanted.contradicted and makes("audit") else []
    for name, kind, engine, needs, tables in (
        ("confirm", _CONFIRMATION, MAHIMAHI, held, audited),
        (CALIBRATED, _CALIBRATION, EMULATOR, ["confirm"], []),
        ("agreement", _AGREEMENT, EMULATOR, ["confirm", CALIBRATED], []),
        ("again", _FURTHER_RUNS, MAHIMAHI, ["confirm"], ["agreement"]),
    ):
        yield Experiment(
            name,
            kind,
            engine,
            controllers(workflow),
            [wanted.network],
            needs,
            tables,
            settings=str(wanted),
            group=CALIBRATED if kind is _AGREEMENT else name,
        )


QUESTION = Question(
    sections=(
        Section(TRUSTED, 20),
        Section(TRUSTED, 50, "host"),
        Section(FINDINGS, 60, "finding"),
    ),
    experiments=_experiments,
    settings=Settings,
    named_settings=named,
    check=check,
    folders=("probe", "confirm", CALIBRATED, "agreement", "again"),
    stages=(
        Stage(groups=("confirm", "calibration"), tables=("agreement",), feeds_experiments=True),
        Stage(
            groups=("calibration", "again"),
            tables=("again",),
            from_tables={"real": ("agreement",)},
            module="again",
        ),
        Stage(
            groups=("probe", "calibration"),
            tables=("probe", "scheduling_delays", "calibration", "wake_spread"),
            module="host",
        ),
    ),
    figures=("agreement",),
    counts=(Counted(70, ("probe", "confirm"), "results:made"),),
    order=80,
)

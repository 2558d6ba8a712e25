"""How many real-time runs does this host sustain at once?"""

from collections.abc import Iterator

from pydantic import Field

from kneepoint.common.config_file import ConfigModel
from kneepoint.config import settings
from kneepoint.config.study import MAHIMAHI, Setting
from kneepoint.config.workflow import Workflow
from kneepoint.networks.config import Name
from kneepoint.reports.parts import TRUSTED
from kneepoint.runs.question import (
    CountedRuns,
    Experiment,
    ExperimentKind,
    Phase,
    Question,
    Section,
    Stage,
)

_PROBE = ExperimentKind(
    "probe_host",
    ("probe.json",),
    "Measuring how many real-time runs this host sustains at once",
    f"{__name__}.plan:plan",
    phase=Phase.HOST,
    needs_whole_host=True,
)


class HostProbe(Setting):
    """The run that measures how many real-time runs a host sustains at once."""

    network: Name = Field(description="file of config/networks")
    duration_s: float = Field(default=20, gt=0, description="duration of each run (s)")
    alone: int = Field(default=5, ge=2, description="runs made one at a time, for comparison")
    most: int = Field(default=32, ge=1, description="largest number of simultaneous runs to try")


class RealTime(settings.RealTime):
    """How this host makes real-time runs."""

    probe: HostProbe | None = Field(
        default=None, description="how to measure the number of real-time slots"
    )


class Settings(ConfigModel):
    """The question's keys of config.yaml."""

    real_time: RealTime = Field(default=RealTime(), description="runs in real mahimahi")


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    if run := workflow.settings.part(Settings).real_time.probe:
        where = [run.controller], [run.network]
        yield Experiment("probe", _PROBE, MAHIMAHI, *where, settings=str(run))


def _named(workflow: Workflow) -> Iterator[tuple[str, Setting]]:
    if probe := workflow.settings.part(Settings).real_time.probe:
        yield "real_time.probe", probe


QUESTION = Question(
    sections=(Section(TRUSTED, 50),),
    experiments=_experiments,
    settings=Settings,
    named_settings=_named,
    folders=("probe",),
    stages=(Stage(groups=("probe",), tables=("probe",)),),
    counts=(CountedRuns(70, ("probe",)),),
    order=80,
)

"""Keys of config.yaml for what runs in real mahimahi, and settings that they name."""

from collections.abc import Iterator
from typing import Annotated, Self

from pydantic import Field, model_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.common.errors import KneepointError
from kneepoint.config import settings
from kneepoint.config.study import Fit, Host, Setting, Study
from kneepoint.config.workflow import Workflow
from kneepoint.networks.config import Name


class HostProbe(Setting):
    """The run that measures how many real-time runs a host sustains at once."""

    network: Name = Field(description="file of config/networks")
    duration_s: float = Field(default=20, gt=0, description="duration of each run (s)")
    alone: int = Field(default=5, ge=2, description="runs made one at a time, for comparison")
    most: int = Field(default=32, ge=1, description="largest number of simultaneous runs to try")


class Calibration(ConfigModel):
    """Fits the emulated host to real runs of fixed windows."""

    windows: tuple[float, ...] = Field(min_length=1, description="fixed windows to fit (packets)")
    host: Host = Field(
        min_length=1, description="parameters of the emulated host to search: see Study.host"
    )
    runs_per_trial: int = Field(
        default=10, ge=1, description="replicates of each window in a trial"
    )
    wake_spread: tuple[Annotated[float, Field(ge=0, le=3)], ...] = Field(
        default=(0,),
        min_length=1,
        description="candidate spreads of wake_mean_us between runs (standard deviation of its "
        "logarithm); the fit chooses the one that best reproduces the spread of the real runs",
    )

    @model_validator(mode="after")
    def _is_a_grid(self) -> Self:
        for name, searched in self.host.items():
            if searched.values is None:
                raise ValueError(
                    f"host: {name} has low and high, but calibration is a grid; give values"
                )
        return self


class Confirm(ConfigModel):
    """Settings that `make confirm` runs in real mahimahi."""

    network: Name = Field(description="file of config/networks")
    repeats: int = Field(default=3, ge=1, description="real runs of each setting")
    again: int = Field(
        default=3,
        ge=0,
        description="further real runs of a setting whose mean deviates from the emulator's "
        "without explanation",
    )
    best: bool = Field(
        default=True,
        description="include the best published and the best tuned setting of every controller",
    )
    contradicted: bool = Field(
        default=True, description="include every row that the audit contradicts"
    )
    settings: tuple[Setting, ...] = Field(default=(), description="further settings")
    emulated: int = Field(default=30, ge=2, description="emulated runs of each setting")
    calibration: Calibration = Field(description="fit of the emulated host to compare with")


class RealTime(settings.RealTime):
    """How this host makes real-time runs."""

    probe: HostProbe | None = Field(
        default=None, description="how to measure the number of real-time slots"
    )


class Settings(ConfigModel):
    """Its keys of config.yaml."""

    real_time: RealTime = Field(default=RealTime(), description="runs in real mahimahi")
    confirm: Confirm | None = Field(default=None, description="settings to run in real mahimahi")


def named(workflow: Workflow) -> Iterator[tuple[str, Setting]]:
    """All settings that the keys name."""
    wanted = workflow.settings.part(Settings)
    if probe := wanted.real_time.probe:
        yield "real_time.probe", probe
    if confirm := wanted.confirm:
        for setting in confirm.settings:
            yield "confirm.settings", setting
        for setting in calibrating(confirm):
            yield "confirm.calibration", setting


def check(workflow: Workflow) -> None:
    """Refuses a guided study without the calibration that guides it."""
    for name, study in workflow.studies.items():
        if study.guide and workflow.settings.part(Settings).confirm is None:
            raise KneepointError(
                f"{workflow.file('studies', name)}: guide needs this host's calibration, which "
                f"real runs of fixed windows make; add confirm to {workflow.path}, or remove guide"
            )


def controllers(workflow: Workflow) -> list[str]:
    """Controllers of all settings that `make confirm` may run."""
    wanted = workflow.settings.part(Settings).confirm
    if wanted is None:
        return []
    found = [each.controller for each in (*wanted.settings, *calibrating(wanted))]
    if wanted.best:
        found += workflow.held_controllers
    if wanted.contradicted:
        found += [table.description.controller for table in workflow.tables.values()]
    return found


def calibrating(confirm: Confirm) -> tuple[Setting, ...]:
    """Returns the settings that calibrate the emulated host."""
    return tuple(
        Setting(controller="fixed_window", constants={"window": window, "keepalive_ms": 1000})
        for window in confirm.calibration.windows
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

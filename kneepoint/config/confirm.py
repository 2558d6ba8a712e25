"""Configuration models of real runs, and of the emulated host that is fitted to them."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.config.study import Host, Setting
from kneepoint.config.workflow import Workflow
from kneepoint.networks.config import Name


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
        "logarithm); the fit chooses the candidate that best reproduces the spread of the real "
        "runs",
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


class Confirming(ConfigModel):
    """The part of config.yaml with the key `confirm`."""

    confirm: Confirm | None = Field(default=None, description="settings to run in real mahimahi")


def calibrating(confirm: Confirm) -> tuple[Setting, ...]:
    """Returns the settings that calibrate the emulated host."""
    return tuple(
        Setting(controller="fixed_window", parameters={"window": window, "keepalive_ms": 1000})
        for window in confirm.calibration.windows
    )


def controllers(workflow: Workflow) -> list[str]:
    """Returns the controllers of all settings that `make confirm` may run."""
    wanted = workflow.settings.part(Confirming).confirm
    if wanted is None:
        return []
    found = [each.controller for each in (*wanted.settings, *calibrating(wanted))]
    if wanted.best:
        found += workflow.held_controllers
    if wanted.contradicted:
        found += [table.description.controller for table in workflow.tables.values()]
    return found

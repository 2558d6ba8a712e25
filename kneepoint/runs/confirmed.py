"""The settings that results/confirm runs in real time, with their origins.

A run's trial number is the number of its setting.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import read, table, text, whole
from kneepoint.config.confirm import Confirm, Confirming
from kneepoint.config.study import Setting
from kneepoint.engines.base import EngineSettings
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.job import Job
from kneepoint.runs.results import RESULTS, RUNS, PlannedRun
from kneepoint.runs.seeds import derive_seed

NAME = "confirm"
CALIBRATION, PUBLISHED, TUNED = "calibration", "published", "tuned"
"""Origins of settings; the emulated host is fitted to the settings of the first origin."""

SETTINGS = table(
    "confirm/settings",
    "a setting; origins: calibration, published, tuned, listed or contradicted; rows: rows of "
    "published tables, each `TABLE ROW`; both separated by commas",
    whole("trial"),
    text("controller", "parameters", "origins", "rows"),
    version=RESULTS,
)


class ConfirmedSetting(Setting):
    """A setting with all its parameters, its origins and its rows of published tables."""

    parameters: Mapping[str, int | float]  # whole numbers stay integers
    origins: list[str] = Field(default=[])
    rows: list[str] = Field(default=[])

    @property
    def calibrates(self) -> bool:
        """Whether the emulated host is fitted to this setting."""
        return CALIBRATION in self.origins


def configured(job: Job) -> Confirm:
    """Returns the configuration's `confirm`, without which these experiments do not exist."""
    wanted = job.workflow.settings.part(Confirming).confirm
    assert wanted is not None
    return wanted


def read_confirmed(job: Job) -> tuple[list[ConfirmedSetting], list[dict[str, Any]]]:
    """Returns the settings that ran in mahimahi, and the rows of their runs."""
    folder = job.workflow.results / NAME
    settings = [
        ConfirmedSetting(
            controller=row["controller"],
            parameters=parse_json(row["parameters"]),
            origins=row["origins"].split(","),
            rows=row["rows"].split(","),
        )
        for row in read(folder / "settings.parquet", SETTINGS).to_pylist()
    ]
    return settings, read(folder / "runs.parquet", RUNS).to_pylist()


def plan_settings(
    job: Job,
    settings: list[ConfirmedSetting],
    engine: EngineSettings,
    network: PreparedNetwork,
    repeats: int,
    stream: str,
) -> list[PlannedRun]:
    """Returns the runs of settings on a network: the first repeat of all, then the second.

    Thus an interruption leaves similar numbers of runs of each setting. In real time the seed only
    numbers the repeats.
    """
    root = derive_seed(job.workflow.settings.seed, stream)
    seeds = [derive_seed(root, network.name, repeat) for repeat in range(repeats)]
    return [
        PlannedRun(trial, repeat, None, job.spec(engine, setting, network, seed, stream))
        for repeat, seed in enumerate(seeds)
        for trial, setting in enumerate(settings)
    ]

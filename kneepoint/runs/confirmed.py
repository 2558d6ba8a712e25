"""Settings that run in real time, and what they are for, as results/confirm lists them.

The trial numbers of all runs count the settings.
"""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from pydantic import Field

from kneepoint.common.json_text import parse_json
from kneepoint.config.confirm import Confirm, Confirming
from kneepoint.config.study import Setting
from kneepoint.engines.base import EngineSettings
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.job import Job
from kneepoint.runs.results import PlannedRun, read_table, required
from kneepoint.runs.seeds import derive_seed

NAME = "confirm"
CALIBRATION, PUBLISHED, TUNED = "calibration", "published", "tuned"
"""Origins of settings: the emulated host is fitted to the first."""

# Origins, comma-separated: also listed, contradicted. Rows of published tables likewise:
# "TABLE ROW".
SETTINGS_SCHEMA = pa.schema(
    [*required("int64", "trial"), *required("string", "controller", "constants", "origins", "rows")]
)


class ConfirmedSetting(Setting):
    """A setting with all its parameters, its origins and its rows of published tables."""

    constants: Mapping[str, int | float]  # whole ones are written as such
    origins: list[str] = Field(default=[])
    rows: list[str] = Field(default=[])

    @property
    def calibrates(self) -> bool:
        """Whether the emulated host is fitted to it."""
        return CALIBRATION in self.origins


def configured(job: Job) -> Confirm:
    """Returns the configured confirmation, which these experiments require."""
    wanted = job.workflow.settings.part(Confirming).confirm
    assert wanted is not None
    return wanted


def read_confirmed(job: Job) -> tuple[list[ConfirmedSetting], list[dict[str, Any]]]:
    """Returns the settings that ran in real mahimahi, and their runs."""
    folder = job.workflow.results / NAME
    settings = [
        ConfirmedSetting(
            controller=row["controller"],
            constants=parse_json(row["constants"]),
            origins=row["origins"].split(","),
            rows=row["rows"].split(","),
        )
        for row in read_table(folder / "settings.parquet").to_pylist()
    ]
    return settings, read_table(folder / "runs.parquet").to_pylist()


def plan_settings(
    job: Job,
    settings: list[ConfirmedSetting],
    engine: EngineSettings,
    network: PreparedNetwork,
    repeats: int,
    stream: str,
) -> list[PlannedRun]:
    """Returns the runs of settings on a network: the first replicate of all, then the second.

    So an early interruption leaves some runs of every setting. In real time the seed only numbers
    the replicates.
    """
    root = derive_seed(job.workflow.settings.seed, stream)
    seeds = [derive_seed(root, network.name, repeat) for repeat in range(repeats)]
    return [
        PlannedRun(trial, repeat, None, job.spec(engine, setting, network, seed, stream))
        for repeat, seed in enumerate(seeds)
        for trial, setting in enumerate(settings)
    ]

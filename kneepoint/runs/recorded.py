"""Rebuilds the descriptions of recorded runs."""

from collections.abc import Mapping
from pkgutil import resolve_name
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import parse_json
from kneepoint.engines.base import RunSpec
from kneepoint.networks.scenario import ALONE, PreparedNetwork
from kneepoint.runs.job import Job
from kneepoint.runs.registry import experiments_of


def spec_of(job: Job, row: Mapping[str, Any]) -> RunSpec:
    """Returns the description of a recorded run.

    Args:
        job: a job on the same results.
        row: the row of runs.parquet.

    Raises:
        KneepointError: the run's controller, network or engine has changed.
    """
    engine = job.engine(row["engine"])
    spec = RunSpec.on(
        engine=engine,
        controller=job.controller(row["controller"]),
        parameters=parse_json(row["parameters"]),
        network=engine.place(_network(job, row)),
        seed=row["seed"],
        traffic=job.traffic(row["traffic"]) if row["traffic"] else ALONE,
    )
    if spec.run_id != row["run_id"]:
        raise KneepointError(
            f"{row['run_id'][:16]}: the controller, the network or the engine of this run (see "
            f"{row['study']}) has changed since; `kneepoint verify` names it"
        )
    return spec


def _network(job: Job, row: Mapping[str, Any]) -> PreparedNetwork:
    """Returns the network of a run; an experiment may have made it."""
    experiment = experiments_of(job.workflow).get(row["study"])
    if experiment is None or not experiment.kind.network_of:
        return job.network(row["network"])
    found: PreparedNetwork = resolve_name(experiment.kind.network_of)(job, row)
    return found

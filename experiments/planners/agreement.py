"""Runs every confirmed setting in the emulator, on the host fitted by search.calibration."""

from experiments.job import Job
from experiments.pipeline import Plan, plan_list
from experiments.planners.confirmation import configured, plan_settings, read_confirmed
from networks.scenario import PreparedNetwork


def plan(job: Job, name: str) -> Plan:
    """Plans the emulator's runs; their trial numbers are those of results/confirm.

    Raises:
        KneepointError: nothing was confirmed, or no host was fitted.
    """
    repeats = configured(job).emulated
    settings, _ = read_confirmed(job)
    network = PreparedNetwork.load(job.workflow.results / "calibration" / "network.json")
    engine = job.engine()
    planned = plan_settings(job, settings, engine, network, repeats, name)
    return plan_list(engine, planned, f"{len(settings)} settings, {repeats} emulated runs each")

"""Runs the settings of a comparison on its networks, under its traffics."""

from kneepoint.config.comparison import Comparison
from kneepoint.config.workflow import FOLDERS
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Plan, plan_list
from kneepoint.runs.results import PlannedRun
from kneepoint.runs.seeds import derive_seed


def plan(job: Job, name: str) -> Plan:
    """Plans the runs of comparisons/NAME.yaml.

    Seeds depend on the network and the replicate only (common random numbers).
    """
    folder, _, file = name.partition("/")
    wanted: Comparison = job.workflow.comparisons[file]
    kind = next(engine for engine in wanted.engines if FOLDERS[engine] == folder)
    engine = job.engine(kind)
    networks = [engine.place(job.network(network)) for network in wanted.networks_on(kind)]
    seed = derive_seed(job.workflow.settings.seed, f"comparisons/{file}")
    places = [
        (job.traffic(traffic), network, repeat)
        for traffic in wanted.traffic
        for network in networks
        for repeat in range(wanted.engines[kind].repeats)
    ]
    planned = []
    for trial, setting in enumerate(wanted.settings):
        for run, (traffic, network, repeat) in enumerate(places):
            own_seed = derive_seed(seed, network.name, repeat)
            spec = job.spec(engine, setting, network, own_seed, name, traffic)
            planned.append(PlannedRun(trial, run, None, spec))
    return plan_list(engine, planned, f"{len(planned)} runs")

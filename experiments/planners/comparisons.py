"""Runs settings on several networks under the same traffic: trial counts the settings.

Seeds depend on the network and the replicate only, so that all settings meet the same chance.
"""

from collections.abc import Mapping

from engines.base import RunSpec
from experiments.config import Comparison, Engine
from experiments.job import Job
from experiments.pipeline import Plan, plan_list
from experiments.results import PlannedRun
from experiments.seeds import derive_seed, study_seed

FOLDERS: Mapping[Engine, str] = {"emulator": "comparisons", "kernel": "kernel"}
"""Where the results of each engine are: comparisons/NAME, kernel/NAME."""


def plan(job: Job, name: str) -> Plan:
    """Plans the runs of comparisons/NAME.yaml."""
    folder, _, file = name.partition("/")
    wanted: Comparison = job.workflow.comparisons[file]
    engine = job.engine(next(engine for engine, of in FOLDERS.items() if of == folder))
    networks = [engine.place(job.network(network)) for network in wanted.networks]
    traffic = job.traffic(wanted.traffic)
    seed = study_seed(job.workflow.settings.seed, f"comparisons/{file}")
    planned = []
    for trial, setting in enumerate(wanted.settings):
        controller = job.controller(setting.controller)
        constants = controller.complete(setting.constants, name)
        places = [(network, repeat) for network in networks for repeat in range(wanted.repeats)]
        for run, (network, repeat) in enumerate(places):
            spec = RunSpec.on(
                engine=engine,
                controller=controller,
                constants=constants,
                network=network,
                seed=derive_seed(seed, network.name, repeat),
                traffic=traffic,
            )
            planned.append(PlannedRun(trial, run, None, spec))
    return plan_list(engine, planned, f"{len(planned)} runs")

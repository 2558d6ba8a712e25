"""Searches of configured studies in this process, with changes; they need `make reproduce`."""

from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from kneepoint.config.study import Study
from kneepoint.config.workflow import Workflow
from kneepoint.engines.base import RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.job import Job
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.pipeline import follow
from kneepoint.runs.results import FinishedTrial
from kneepoint.runs.runner import Runner
from kneepoint.search.loop import ask_and_tell
from kneepoint.search.plan import StudyPlan, plan_study
from kneepoint.search.samplers import make_asker

BUILD, NETWORKS = Path("build"), Path(".kneepoint/networks")


def job_of(workflow: Workflow, folder: Path = Path()) -> Job:
    """Returns a job on one core."""
    return Job(workflow, load_catalogue(BUILD / "emulate"), BUILD, NETWORKS, folder, 1)


def planned(job: Job, name: str, study: Study, seed: int) -> StudyPlan:
    """Returns the plan of a study that needs no published table."""
    networks = [job.network(network) for network in study.networks]
    controller = job.controller(study.controller)
    return plan_study(name, study, controller, {}, networks, job.engine(), seed)


def searched(plan: StudyPlan) -> list[FinishedTrial]:
    """Returns the trials of a search with one emulator."""
    asker = make_asker(plan.study.sampler, plan.space, plan.points, plan.seed)
    with TemporaryDirectory() as folder, RunJournal(Path(folder) / "runs.jsonl") as journal:
        runner = Runner(journal, lambda _: LocalExecutor(plan.engine), lambda _: None)
        with closing(runner):
            return follow(ask_and_tell(plan, asker, lambda _: None), runner)


def powers_of(
    plan: StudyPlan, best: FinishedTrial, networks: Iterable[PreparedNetwork], seeds: range
) -> list[list[float]]:
    """Returns a trial's power on each network with further seeds; 0 if a run failed."""
    parameters = plan.runs_of(best.number, best.searched)[0].spec.parameters
    with closing(plan.engine.open()) as engine:
        return [
            [
                engine.run(
                    RunSpec.on(plan.engine, plan.controller, parameters, network, seed)
                ).power
                or 0.0
                for seed in seeds
            ]
            for network in networks
        ]

"""Runs settings many times with fresh seeds.

    python -m experiments.repeat --config CONFIG --repeat NAME --out-dir results/repeats/NAME

writes runs.parquet: trial counts the settings, run the repeats of one.
"""

import argparse

from common.errors import KneepointError, run_command_line
from engines.base import EngineSettings, RunSpec
from experiments.config import Repeat
from experiments.job import Job, add_arguments, open_job
from experiments.results import PlannedRun, runs_table, write_table
from experiments.seeds import run_seed, study_seed


def repeat(job: Job, name: str) -> None:
    """Runs a repeat of the configuration and writes its results.

    Raises:
        KneepointError: there is no such repeat, or a run cannot be executed.
    """
    workflow = job.workflow
    if name not in workflow.repeats:
        raise KneepointError(
            f"{workflow.path}: repeats does not name {name!r}; known: {', '.join(workflow.repeats)}"
        )
    engine = job.engine(workflow.repeats[name].engine)
    planned = plan_repeat(job, engine, name, workflow.repeats[name])
    with job.runner(name, engine, len(planned)) as (runner, progress):
        finished = runner.finish(planned)
        write_table(job.out_dir / "runs.parquet", runs_table(name, finished))
        job.sign("experiments.repeat", engine, "runs.parquet")
        progress.end(f"{len(planned)} runs")


def plan_repeat(job: Job, engine: EngineSettings, name: str, settings: Repeat) -> list[PlannedRun]:
    """Returns all runs of a repeat."""
    seed = study_seed(job.workflow.settings.seed, f"repeats/{name}")
    network = engine.place(job.network(settings.network))
    planned = []
    for trial, setting in enumerate(settings.settings):
        controller = job.controller(setting.controller)
        constants = controller.complete(setting.constants, f"repeat {name}")
        for run in range(settings.repeats):
            spec = RunSpec.on(
                engine=engine,
                controller=controller,
                constants=constants,
                network=network,
                seed=run_seed(seed, trial, run),
            )
            planned.append(PlannedRun(trial, run, None, spec))
    return planned


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeat", required=True, help="name of the repeat")
    add_arguments(parser)
    arguments = parser.parse_args()
    repeat(open_job(arguments), arguments.repeat)


if __name__ == "__main__":
    run_command_line(main)

"""Runs the workflow's showcase with a log of its uplink.

    python -m experiments.showcase --config config/config.yaml --out-dir results/showcase
        [--engine mahimahi]

writes uplink.log, in the format of mahimahi's mm-link, and run.json.
"""

import argparse
import json
from dataclasses import asdict

from common.errors import KneepointError, run_command_line
from common.files import write_whole
from engines.base import EngineSettings, RunRecord, RunSpec
from experiments.config import Engine
from experiments.job import Job, add_arguments, open_job
from experiments.progress import progress_of
from experiments.seeds import run_seed, study_seed


def show(job: Job, engine_name: Engine) -> None:
    """Runs the showcase and writes its log and its figures.

    Raises:
        KneepointError: there is no showcase, or its run failed.
    """
    shown = job.workflow.settings.showcase
    if shown is None:
        raise KneepointError(f"{job.workflow.path}: showcase is not set; name a run there")
    controller = job.controller(shown.controller)
    engine = job.engine(engine_name)
    spec = RunSpec.on(
        engine=engine,
        controller=controller,
        constants=controller.complete(shown.constants, "showcase"),
        network=engine.place(job.network(shown.network)),
        seed=run_seed(study_seed(job.workflow.settings.seed, "showcase"), 0, 0),
    )
    job.out_dir.mkdir(parents=True, exist_ok=True)
    temporary = job.out_dir / ".uplink.log"
    record = _run(job, engine.keeping(temporary), spec)
    if record.status == "fault":
        raise KneepointError(f"showcase: the machine kept it from ending: {record.reason}")
    if record.status == "failed":
        raise KneepointError(
            f"{job.workflow.path}: showcase failed: {record.reason}; choose another run"
        )
    temporary.replace(job.out_dir / "uplink.log")
    description = {
        "controller": spec.controller,
        "constants": dict(spec.constants),
        "engine": spec.engine,
        "network": spec.network.name,
        "seed": spec.seed,
        **asdict(record),
    }
    write_whole(job.out_dir / "run.json", json.dumps(description, indent=2) + "\n")
    job.sign("experiments.showcase", engine, "run.json")


def _run(job: Job, engine: EngineSettings, spec: RunSpec) -> RunRecord:
    """Takes one of the host's slots, where the engine runs in real time."""
    progress = progress_of("showcase", engine, 1)
    executor = job.make_executor(engine)
    try:
        for finished in executor.execute([spec]):
            progress.add(len(finished))
            for record in finished:
                return record
    finally:
        executor.close()
    raise AssertionError("an executor yields every run")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--engine", choices=["emulator", "mahimahi"], default="emulator", help="%(default)s"
    )
    add_arguments(parser)
    arguments = parser.parse_args()
    show(open_job(arguments), arguments.engine)


if __name__ == "__main__":
    run_command_line(main)

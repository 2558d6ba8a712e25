"""Runs the workflow's showcase with a log of its uplink.

    python -m search.showcase --config config/config.yaml --out-dir results/showcase
        [--engine mahimahi]

writes uplink.log, in the format of mahimahi's mm-link, and run.json.
"""

import argparse
import json
import subprocess
from dataclasses import asdict, replace
from pathlib import Path

from networks.files import write_whole
from search.config import Engine
from search.engines.base import EngineSettings, RunRecord, RunSpec
from search.engines.emulator import arguments_of
from search.errors import KneepointError, run_command_line
from search.job import Job, add_arguments, open_job
from search.plan import complete_constants
from search.progress import RealTimeProgress
from search.seeds import run_seed, study_seed

_TIME_LIMIT_S = 60


def show(job: Job, engine_name: Engine) -> None:
    """Runs the showcase and writes its log and its figures.

    Raises:
        KneepointError: there is no showcase, or its run failed.
    """
    shown = job.workflow.settings.showcase
    if shown is None:
        raise KneepointError(f"{job.workflow.path}: showcase is not set; name a run there")
    controller = job.catalogue.controllers[shown.controller]
    engine = job.engine(engine_name)
    spec = RunSpec.on(
        engine=engine,
        controller=controller.name,
        constants=complete_constants(controller, shown.constants, "showcase"),
        network=engine.place(job.network(shown.network)),
        seed=run_seed(study_seed(job.workflow.settings.seed, "showcase"), 0, 0),
    )
    record = _run(job, engine, spec, job.out_dir / "uplink.log")
    description = {
        "controller": spec.controller,
        "constants": dict(spec.constants),
        "engine": spec.engine,
        "network": spec.network.name,
        "seed": spec.seed,
        **asdict(record),
    }
    write_whole(job.out_dir / "run.json", json.dumps(description, indent=2) + "\n")


def _run(job: Job, engine: EngineSettings, spec: RunSpec, log: Path) -> RunRecord:
    log.parent.mkdir(parents=True, exist_ok=True)
    temporary = log.with_name(".uplink.log").absolute()
    record = (
        _real(job, engine, spec, temporary)
        if engine.is_real_time
        else _emulated(job, spec, temporary)
    )
    if record.status != "ok":
        raise KneepointError(
            f"{job.workflow.path}: showcase failed: {record.reason}; choose another run"
        )
    temporary.replace(log)
    return record


def _emulated(job: Job, spec: RunSpec, log: Path) -> RunRecord:
    command = [str(job.emulate), *arguments_of(spec), "--uplink-log", str(log)]
    result = subprocess.run(command, capture_output=True, timeout=_TIME_LIMIT_S, check=False)
    if result.returncode != 0:
        said = (result.stderr or result.stdout).decode(errors="replace").strip()
        return RunRecord(spec.run_id, "failed", said)
    return RunRecord.measured(spec.run_id, json.loads(result.stdout))


def _real(job: Job, engine: EngineSettings, spec: RunSpec, log: Path) -> RunRecord:
    """Takes one of the host's slots, as every real run does."""
    from search.engines.mahimahi.engine import MahimahiSettings

    assert isinstance(engine, MahimahiSettings)
    progress = RealTimeProgress("real showcase", 1)
    executor = job.make_executor(replace(engine, keep_log=log))
    records: list[RunRecord] = []
    try:
        for finished in executor.execute([spec]):
            records += finished
            progress.add(len(finished))
    finally:
        executor.close()
    return records[0]


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

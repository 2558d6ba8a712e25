"""Runs the workflow's showcase with a log of its uplink.

    python -m search.showcase --config config/config.yaml --out-dir results/showcase

writes uplink.log, in the format of mahimahi's mm-link, and run.json.
"""

import argparse
import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from networks.files import write_whole
from search.engines.base import RunRecord, RunSpec
from search.engines.emulator import arguments_of
from search.errors import KneepointError, run_command_line
from search.job import Job, add_arguments, open_job
from search.plan import complete_constants
from search.seeds import run_seed, study_seed

_TIME_LIMIT_S = 60


def show(job: Job) -> None:
    """Runs the showcase and writes its log and its figures.

    Raises:
        KneepointError: there is no showcase, or its run failed.
    """
    shown = job.workflow.settings.showcase
    if shown is None:
        raise KneepointError(f"{job.workflow.path}: showcase is not set; name a run there")
    controller = job.catalogue.controllers[shown.controller]
    spec = RunSpec(
        engine=job.engine.engine,
        engine_sha256=job.engine.sha256,
        controller=controller.name,
        constants=complete_constants(controller, shown.constants, "showcase"),
        network=job.network(shown.network),
        seed=run_seed(study_seed(job.workflow.settings.seed, "showcase"), 0, 0),
    )
    log = job.out_dir / "uplink.log"
    record = _run(job, spec, log)
    description = {
        "controller": spec.controller,
        "constants": dict(spec.constants),
        "network": spec.network.name,
        "seed": spec.seed,
        **asdict(record),
    }
    write_whole(job.out_dir / "run.json", json.dumps(description, indent=2) + "\n")


def _run(job: Job, spec: RunSpec, log: Path) -> RunRecord:
    log.parent.mkdir(parents=True, exist_ok=True)
    temporary = log.with_name(".uplink.log")
    command = [str(job.emulate), *arguments_of(spec), "--uplink-log", str(temporary)]
    result = subprocess.run(command, capture_output=True, timeout=_TIME_LIMIT_S, check=False)
    if result.returncode != 0:
        said = (result.stderr or result.stdout).decode(errors="replace").strip()
        raise KneepointError(f"{job.workflow.path}: showcase failed: {said}; choose another run")
    temporary.replace(log)
    return RunRecord.measured(spec.run_id, json.loads(result.stdout))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_arguments(parser)
    show(open_job(parser.parse_args()))


if __name__ == "__main__":
    run_command_line(main)

"""Runs again, in real mahimahi, the settings whose real means the emulator does not predict.

Such a mean may be chance, or a bad moment of the host; only runs that nobody has seen yet can tell.

    python -m experiments.again --config config/config.yaml --out-dir results/again

reads outside.json there, which reports.outside writes, and writes runs.parquet, where trial is the
setting's in results/confirm and the numbers of the runs go on from those there.
"""

import argparse
import json
from pathlib import Path

from common.errors import run_command_line, unusable
from experiments.confirm import NAME as CONFIRM
from experiments.confirm import configured, plan_settings, read_confirmed
from experiments.job import Job, add_arguments, open_job
from experiments.results import runs_table, write_table

NAME = "again"


def run_again(job: Job) -> None:
    """Runs these settings and writes the results.

    Raises:
        KneepointError: nothing was confirmed, the list is damaged, or mahimahi is missing.
    """
    wanted = configured(job)
    engine = job.engine("mahimahi")
    settings, _ = read_confirmed(job)
    outside = _read(job.out_dir / "outside.json", len(settings))
    network = engine.place(job.network(wanted.network))
    repeats = wanted.repeats + wanted.again
    planned = [
        run
        for run in plan_settings(job, settings, engine, network, repeats, CONFIRM)
        if run.trial in outside and run.run >= wanted.repeats
    ]
    with job.runner(NAME, engine, len(planned)) as (runner, progress):
        write_table(job.out_dir / "runs.parquet", runs_table(NAME, runner.finish(planned)))
        job.sign("experiments.again", engine, "runs.parquet")
        progress.end(f"{len(outside)} settings, {wanted.again} further real runs each")


def _read(path: Path, settings: int) -> list[int]:
    try:
        outside = json.loads(path.read_bytes())
        if not all(each in range(settings) for each in outside):
            raise ValueError(f"it names other than the {settings} settings of confirm")
    except (OSError, ValueError, TypeError) as error:
        raise unusable(path, error) from None
    return list(outside)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_arguments(parser)
    run_again(open_job(parser.parse_args()))


if __name__ == "__main__":
    run_command_line(main)

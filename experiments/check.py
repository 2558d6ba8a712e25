"""Checks the whole configuration: `python -m experiments.check --config config/config.yaml`."""

import argparse
import re
from pathlib import Path

from common.errors import KneepointError, run_command_line
from engines.catalogue import load_catalogue
from experiments.config import load_workflow


def check(config: Path, cores: str, emulate: Path | None) -> str:
    """Reads every file that the configuration names; returns a summary.

    Args:
        config: the workflow's configuration.
        cores: value of Snakemake's --cores.
        emulate: the emulator, which declares the parameters; None: do not check them.

    Raises:
        KneepointError: the configuration is invalid.
    """
    if not re.fullmatch("all|0*[1-9][0-9]*", cores):
        raise KneepointError(f"CORES: {cores!r} is invalid; give all, or at least 1")
    workflow = load_workflow(config)
    workflow.check_results()
    if emulate:
        workflow.check_against(load_catalogue(emulate))
    return (
        f"{config}: {len(workflow.studies)} studies, {len(workflow.repeats)} repeats, "
        f"{len(workflow.tables)} published tables, {len(workflow.networks)} networks: valid"
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--cores", default="all", help="number of cores (%(default)s)")
    parser.add_argument("--emulate", type=Path, help="the emulator, to validate parameters")
    arguments = parser.parse_args()
    print(check(arguments.config, arguments.cores, arguments.emulate))


if __name__ == "__main__":
    run_command_line(main)

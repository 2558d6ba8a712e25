"""Checks the whole configuration: `python -m search.check --config config/config.yaml`."""

import argparse
from pathlib import Path

from search.catalogue import load_catalogue
from search.config import load_workflow
from search.errors import run_command_line


def main() -> None:
    """Reads every file that the configuration names, and asks the emulator what it knows."""
    parser = argparse.ArgumentParser(description="Checks the whole configuration.")
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument(
        "--emulate", type=Path, default=Path("build/emulate"), help="the emulator (%(default)s)"
    )
    arguments = parser.parse_args()
    workflow = load_workflow(arguments.config)
    workflow.check_against(load_catalogue(arguments.emulate))
    print(
        f"{arguments.config}: {len(workflow.studies)} studies, {len(workflow.repeats)} repeats, "
        f"{len(workflow.tables)} published tables, {len(workflow.networks)} networks: sound"
    )


if __name__ == "__main__":
    run_command_line(main)

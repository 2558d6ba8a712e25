"""Runs or resumes one experiment of the configuration.

    python -m experiments.run --config config/config.yaml NAME

The name is that of the experiment's folder in the results: a study's, repeats/NAME, hold_out,
showcase, probe, confirm and so on.
"""

import argparse
from importlib import import_module

from common.errors import KneepointError, run_command_line, suggestion
from experiments.config import load_workflow
from experiments.inputs import inputs_of
from experiments.job import add_arguments, open_job
from experiments.pipeline import carry_out
from experiments.registry import experiments_of


def run(arguments: argparse.Namespace) -> None:
    """Runs the named experiment.

    Raises:
        KneepointError: there is no such experiment, an input is missing, or a run could
            not be executed.
    """
    workflow = load_workflow(arguments.config)
    experiments = experiments_of(workflow)
    name: str = arguments.name
    if name not in experiments:
        near = suggestion(name, experiments)
        raise KneepointError(f"{workflow.path}: lists no experiment {name!r}; {near}")
    planner = experiments[name].kind.planner
    inputs = inputs_of(workflow, experiments[name], arguments.networks)
    job = open_job(workflow, name, arguments, inputs)
    carry_out(job, name, planner, import_module(planner).plan(job, name))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("name", help="the experiment: its folder in the results")
    add_arguments(parser)
    run(parser.parse_args())


if __name__ == "__main__":
    run_command_line(main)

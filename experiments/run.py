"""Runs or resumes one experiment by its planner."""

import argparse
from collections.abc import Callable, Mapping

from common.errors import KneepointError, suggestion
from experiments.config import load_workflow
from experiments.job import Job, open_job
from experiments.pipeline import Plan, carry_out
from experiments.registry import Kind, experiments_of, inputs_of


def run(arguments: argparse.Namespace, planners: Mapping[Kind, Callable[[Job, str], Plan]]) -> None:
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
    plan = planners[experiments[name].kind]
    inputs = inputs_of(workflow, experiments[name], arguments.networks)
    job = open_job(workflow, name, arguments, inputs)
    carry_out(job, name, plan.__module__, plan(job, name))

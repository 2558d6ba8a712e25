"""Runs or resumes one experiment by its planner."""

import argparse
import os
from pathlib import Path
from pkgutil import resolve_name

from kneepoint.common.errors import require_known
from kneepoint.common.places import BUILT, NETWORKS
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.runs.cluster import end_with_cluster, serves_here
from kneepoint.runs.job import Job
from kneepoint.runs.load import load_workflow
from kneepoint.runs.pipeline import carry_out
from kneepoint.runs.registry import experiments_of, inputs_of


def run(description: str) -> None:
    """Runs the experiment that the command line names.

    Raises:
        KneepointError: the experiment does not exist, the configuration is invalid, an input is
            missing, or a run could not be executed.
    """
    arguments = _parser(description).parse_args()
    workflow = load_workflow(arguments.config)
    experiments = experiments_of(workflow)
    name: str = arguments.name
    require_known(name, experiments, f"{workflow.path}: lists no experiment {name!r}")
    catalogue = load_catalogue(arguments.build / "emulate")
    workflow.check_against(catalogue)
    cluster = arguments.cluster if arguments.cluster and serves_here(arguments.cluster) else None
    if cluster:
        end_with_cluster(cluster)
    job = Job(
        workflow=workflow,
        catalogue=catalogue,
        build=arguments.build,
        networks=arguments.networks,
        out_dir=workflow.results / name,
        cores=arguments.cores,
        cluster=cluster,
        inputs=inputs_of(workflow, experiments[name], arguments.networks),
    )
    kind = experiments[name].kind
    carry_out(job, name, kind.step, resolve_name(kind.planner)(job, name))


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("name", help="name of the experiment, and of its folder in the results")
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--cluster", type=Path, help="file of the workflow's Ray; default: its own")
    parser.add_argument(
        "--cores",
        type=int,
        default=int(os.environ.get("KNEEPOINT_CORES") or os.cpu_count() or 1),
        help="workers of the command's own Ray, and slots of a host without a probe (%(default)s)",
    )
    parser.add_argument(
        "--build", type=Path, default=BUILT, help="folder of the built programs (%(default)s)"
    )
    parser.add_argument(
        "--networks", type=Path, default=NETWORKS, help="folder of prepared networks (%(default)s)"
    )
    return parser

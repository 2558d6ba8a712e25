"""Checks the whole configuration: `python -m kneepoint.runs.check --config config/config.yaml`."""

import argparse
from pathlib import Path

from kneepoint.common.arguments import require_config, require_cores
from kneepoint.common.errors import run_command_line
from kneepoint.config.workflow import Workflow
from kneepoint.engines.built import current_catalogue
from kneepoint.engines.catalogue import Catalogue, require_sources
from kneepoint.networks.fetch import digests_of
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import check_results, experiments_of


def load_checked(config: Path) -> tuple[Workflow, Catalogue | None]:
    """Reads every file that the configuration names.

    Parameters are checked against the declarations of controllers whose build is up to date;
    studies of other controllers check their parameters before their first run.

    Returns:
        The workflow, and the catalogue of these controllers; None without an emulator.

    Raises:
        KneepointError: the configuration is invalid, or a recording has another digest than
            traces.yaml lists.
    """
    workflow = load_workflow(config)
    check_results(workflow)
    traces = {name for network in workflow.networks.values() for name in network.trace_names}
    digests_of(config, sorted(traces))
    require_sources(workflow.controllers, workflow.own_sources)
    catalogue = current_catalogue(workflow.controllers, workflow.own_sources)
    if catalogue:
        workflow.check_against(catalogue)
        _check_marks(workflow, catalogue)
    return workflow, catalogue


def _check_marks(workflow: Workflow, catalogue: Catalogue) -> None:
    """Refuses controllers that need ECN marks on networks with queues that do not mark."""
    for experiment in experiments_of(workflow).values():
        for controller in filter(None, map(catalogue.controllers.get, experiment.controllers)):
            for name in experiment.networks:
                network = workflow.networks[name]
                queues = (network.uplink_queue, network.downlink_queue)
                controller.require_marks(queues, f"{experiment.file}: network {name}")


def check(config: Path, cores: str) -> str:
    """Checks the configuration; returns a summary, which names controllers without a build.

    Args:
        config: the workflow's configuration.
        cores: value of Snakemake's --cores.

    Raises:
        KneepointError: the configuration is invalid.
    """
    require_cores(cores, "CORES")
    require_config(config, "CONFIG")
    workflow, catalogue = load_checked(config)
    counts = (
        f"{config}: {len(workflow.studies)} studies, {len(workflow.repeats)} repeats, "
        f"{len(workflow.tables)} published tables, {len(workflow.networks)} networks"
    )
    known = catalogue.controllers if catalogue else {}
    unbuilt = [name for name in workflow.controllers if name not in known]
    if not unbuilt:
        return f"{counts}: valid"
    return (
        f"{counts}: no mistake in the files; the parameters of {', '.join(unbuilt)} are checked "
        "after the build"
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--cores", default="all", help="number of cores (%(default)s)")
    arguments = parser.parse_args()
    print(check(arguments.config, arguments.cores))


if __name__ == "__main__":
    run_command_line(main)

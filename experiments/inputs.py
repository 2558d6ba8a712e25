"""Digests of what an experiment reads, besides code, programs and controllers."""

from pathlib import Path

from common.files import sha256_of
from common.notes import digest_of_input
from experiments.registry import Experiment, experiments_of
from experiments.workflow import Workflow
from networks.config import SHIPPED

NETWORKS = Path("build/networks")
NETWORK_FILES = ("network.json", "uplink.trace", "downlink.trace")


def inputs_of(
    workflow: Workflow, experiment: Experiment, networks: Path = NETWORKS
) -> dict[str, str]:
    """Returns the digest of each input by its name, "" if it is missing.

    Names are paths: of the configuration's files and of shipped ones relative to their folder, of
    results to theirs, so that they name nobody's home. Of the main file only the
    seed and the settings in use count.
    """
    config, results = workflow.path.parent, workflow.results
    shipped = [path for path in experiment.reads if path.is_relative_to(SHIPPED)]
    own = [path for path in experiment.reads if path not in shipped]
    settings = f"{workflow.settings.seed} {experiment.settings}"
    read = {
        str(path.relative_to(base)): path
        for base, paths in (
            (SHIPPED, shipped),
            (config, own),
            (results, [results / name for name in experiment.lists]),
            (results, list(_results(workflow, experiment))),
        )
        for path in paths
    }
    prepared = {
        f"{NETWORKS}/{network}/{name}": networks / network / name
        for network in experiment.networks
        for name in NETWORK_FILES
    }
    digests = {name: digest_of_input(path) for name, path in {**read, **prepared}.items()}
    return {"seed and settings": sha256_of(settings.encode()), **digests}


def _results(workflow: Workflow, experiment: Experiment) -> list[Path]:
    """The results that it reads, without the provenance, whose commit may change alone."""
    others = experiments_of(workflow)
    return [
        workflow.results / need / file
        for need in experiment.needs
        for file in others[need].files[:-1]
    ]

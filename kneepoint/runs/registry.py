"""All experiments of a configuration, by the name of their folder in the results.

Experiments are the studies, which many questions share, and the experiments that questions declare
(see kneepoint.runs.question). The same rules of the workflow make all of them.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from kneepoint.common.files import require_folder, sha256_of
from kneepoint.common.notes import digest_of_input
from kneepoint.common.places import NETWORKS, SHIPPED
from kneepoint.config.study import WorstCase
from kneepoint.config.workflow import CALIBRATED, FLOW_LOG, UPLINK_LOG, Workflow
from kneepoint.engines.limits import LIMITS
from kneepoint.networks.config import network_file
from kneepoint.runs.question import Experiment, ExperimentKind, Phase, questions, reserved

NETWORK_FILES = ("network.json", "uplink.trace", "downlink.trace")


_STUDY = ExperimentKind(
    "search_study",
    ("study.json", "trials.parquet"),
    "Searching",
    "kneepoint.search.study:plan",
    network_of="kneepoint.search.study:network_of",
)
_WORST_CASE = replace(
    _STUDY,
    rule="search_worst_case",
    files=(*_STUDY.files, UPLINK_LOG, FLOW_LOG),
    message="Searching for the worst case",
)
_GUIDED = replace(
    _STUDY,
    rule="search_guided",
    files=(*_STUDY.files, "candidates.parquet"),
    message="Searching with the emulator as guide",
    planner="kneepoint.search.guided:plan",
    phase=Phase.REAL_AFTER_EMULATED,
)


def experiments_of(workflow: Workflow) -> dict[str, Experiment]:
    """Returns all experiments of a configuration; experiments of `make confirm` come last."""
    found = [
        *_studies(workflow),
        *(each for question in questions().values() for each in question.experiments(workflow)),
    ]
    found.sort(key=lambda experiment: experiment.needs_confirm)
    names = {each.name for each in found}
    return {each.name: _completed(each, names, workflow.path) for each in found}


def check_results(workflow: Workflow) -> None:
    """Checks that every folder of the results is writable.

    Raises:
        KneepointError: a path is blocked or not writable.
    """
    for folder in ("", *reserved(), *experiments_of(workflow)):
        require_folder(workflow.results / folder)


def _completed(experiment: Experiment, names: Container[str], config: Path) -> Experiment:
    """Adds the files of an experiment's networks, and drops needs that no question makes."""
    described = [network_file(config, network) for network in experiment.networks]
    file = config if experiment.settings else experiment.config_files[0]
    needs = [name for name in experiment.needs if name in names]
    return replace(
        experiment,
        needs=needs,
        config_files=[*experiment.config_files, *described],
        group=experiment.group or experiment.name,
        file=file,
    )


def _studies(workflow: Workflow) -> Iterator[Experiment]:
    config = workflow.path.parent
    for name, study in workflow.studies.items():
        traffic = [config / f"traffic/{study.traffic}.yaml"] if study.traffic else []
        opponent = [study.opponent.controller] if study.opponent else []
        tables = workflow.files_of_tables(study.tables)
        kind = _WORST_CASE if isinstance(study.objective, WorstCase) else _STUDY
        yield Experiment(
            name,
            _GUIDED if study.guide else kind,
            study.engine,
            [study.controller, *workflow.controllers_beside(study.traffic), *opponent],
            study.networks,
            needs=[*study.start.studies, *([CALIBRATED] if study.guide else [])],
            config_files=[config / f"studies/{name}.yaml", *traffic, *tables],
            group="real_studies" if LIMITS[study.engine].is_real_time else "studies",
        )


def inputs_of(
    workflow: Workflow, experiment: Experiment, networks: Path = NETWORKS
) -> dict[str, str]:
    """Returns the digest of each input by its name; "" for a missing input.

    Names are paths relative to the folder of the configuration, of the shipped configuration or of
    the results, so that they do not name a user's home. Only the seed and the settings of this
    experiment count in the main file.
    """
    config, results = workflow.path.parent, workflow.results
    shipped = [path for path in experiment.config_files if path.is_relative_to(SHIPPED)]
    own = [path for path in experiment.config_files if path not in shipped]
    settings = f"{workflow.settings.seed} {experiment.settings}"
    others = experiments_of(workflow) if experiment.needs else {}
    # Excludes the provenance, whose commit can change without any other change.
    made = [results / need / file for need in experiment.needs for file in others[need].files[:-1]]
    read = {
        str(path.relative_to(base)): path
        for base, paths in (
            (SHIPPED, shipped),
            (config, own),
            (results, [results / f"{table}.parquet" for table in experiment.tables]),
            (results, made),
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


def other_inputs(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Returns the names of inputs that exist now and have changed (see `inputs_of`)."""
    return [name for name, digest in now.items() if digest and before.get(name) != digest]

"""Comparison of results' provenance with the present code, programs and inputs."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kneepoint.common.code import digest_of_packages
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.common.made_by import MadeBy
from kneepoint.common.places import BUILT, NETWORKS
from kneepoint.config.workflow import Workflow
from kneepoint.engines.base import controller_file
from kneepoint.engines.registry import settings_of
from kneepoint.runs.question import Experiment
from kneepoint.runs.registry import inputs_of, other_inputs


def complaints(
    workflow: Workflow, folder: Path, made: MadeBy, experiment: Experiment | None
) -> Iterator[str]:
    """Yields a message for each reason for which a folder of results is out of date.

    `experiment` is the configuration's experiment of the folder, if any.
    """
    yield from changes(folder, made, BUILT, workflow.settings.real_time.keep_awake)
    if experiment:
        yield from changed_inputs(workflow, experiment, made)


def changed_inputs(workflow: Workflow, experiment: Experiment, made: MadeBy) -> Iterator[str]:
    """Yields a message for each input of an experiment that has changed since its results."""
    now = inputs_of(workflow, experiment)
    for file in other_inputs(made.inputs, now):
        yield f"the input {file} has changed"
    for file, digest in now.items():
        # Missing networks are prepared again.
        if not digest and not Path(file).is_relative_to(NETWORKS):
            yield f"the input {file} is missing"


def changes(folder: Path, made: MadeBy, build: Path, keeps_awake: bool) -> Iterator[str]:
    """Yields a message for each change of a folder's files, code and programs.

    `keeps_awake` is the configuration's real_time.keep_awake: if set, the program keep_awake takes
    part in real runs.
    """
    for name in made.changed(folder):
        is_there = (folder / name).is_file()
        yield f"{name} has changed since it was written" if is_there else f"{name} is missing"
    if not made.is_of_this_code:
        yield f"the code of {made.step} has changed"
    if digest_of_packages() != made.packages_sha256:
        yield "the package versions in requirements.txt have changed"
    if made.engine:
        with suppress(KneepointError):  # not installed, so that no comparison is possible
            now = settings_of(made.engine, build, keep_awake=keeps_awake)
            if now.sha256 != made.engine_sha256:
                yield f"the programs of engine {made.engine} have changed"
    for name, digest in made.controllers.items():
        path = controller_file(name, build)
        if path.is_file() and sha256_of(path.read_bytes()) != digest:
            yield f"controller {name} has changed"

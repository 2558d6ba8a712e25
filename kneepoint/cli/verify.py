"""`kneepoint verify`: checks every folder of results against what made it."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from kneepoint.cli import (
    common_options,
    print_result,
    subcommand,
)
from kneepoint.common.code import digest_of_packages
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.common.made_by import (
    NAME,
    MadeBy,
    read_made_by,
)
from kneepoint.common.places import BUILT, NETWORKS
from kneepoint.config.workflow import Workflow
from kneepoint.engines.base import controller_file
from kneepoint.engines.built import CORE, changed_sources
from kneepoint.engines.registry import settings_of
from kneepoint.runs.journal import open_journal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import (
    experiments_of,
    inputs_of,
    other_inputs,
)
from kneepoint.runs.results import read_table


@dataclass(frozen=True)
class Verified:
    """A folder of results, the problems found in it, and the runs removed from its journal."""

    folder: str
    commit: str
    complaints: list[str]
    removed: int | None = None
    kept: int | None = None


@subcommand("""
    kneepoint verify
    kneepoint verify --clear
    kneepoint verify --json | jq '.[] | select(.complaints != [])'
""")
@click.option(
    "--clear", is_flag=True, help="Remove from the journals all runs that no table contains."
)
@common_options
def command(clear: bool, config: Path, as_json: bool) -> None:
    """Check that every folder of results is intact and up to date.

    A folder is valid if its files are unchanged and everything from which they were made is
    unchanged: code, packages, programs, controllers and their sources, the files of the
    configuration, networks and other results. The exit status is 1 if a folder is not valid; the
    workflow will make it again.
    """
    workflow = load_workflow(config)
    folders = [path.parent for path in sorted(workflow.results.glob(f"**/{NAME}"))]
    found = [verify(folder, workflow, clear) for folder in folders]
    text = "\n".join(map(_text, found)) or "no results"
    ok = not any(each.complaints for each in found)
    print_result([asdict(each) for each in found], text, as_json, ok=ok)


def verify(folder: Path, workflow: Workflow, clear: bool) -> Verified:
    """Checks one folder and, if `clear`, removes unused runs from its journal."""
    made = read_made_by(folder)
    assert made is not None
    name = str(folder.relative_to(workflow.results))
    keeps_awake = workflow.settings.real_time.keep_awake
    found = [*complaints(folder, made, BUILT, keeps_awake), *changed_inputs(name, made, workflow)]
    if made.controllers:
        found += unbuilt([CORE, *made.controllers], workflow.own_sources)
    if clear and (folder / "runs.jsonl").is_file():
        return Verified(name, made.commit, found, *void_runs(folder))
    return Verified(name, made.commit, found)


def _text(each: Verified) -> str:
    commit = f"commit {each.commit[:10]}" if each.commit else "no commit"
    text = f"{each.folder}: {'; '.join(each.complaints) or 'valid'} ({commit})"
    if each.removed is not None:
        text += f"\n{each.folder}: {each.removed} unused runs removed, {each.kept} kept"
    return text


def changed_inputs(name: str, made: MadeBy, workflow: Workflow) -> Iterator[str]:
    """Yields a message for each input of an experiment that is another than its results had."""
    experiment = experiments_of(workflow).get(name)
    now = inputs_of(workflow, experiment) if experiment else {}
    for file in other_inputs(made.inputs, now):
        yield f"the input {file} has changed"
    for file, digest in now.items():
        if not digest and not Path(file).is_relative_to(NETWORKS):  # which are prepared again
            yield f"the input {file} is missing"


def unbuilt(names: Iterable[str], own: Path) -> Iterator[str]:
    """Yields a message for each source that is not what programs and controllers were built of."""
    for path in dict.fromkeys(path for name in names for path in changed_sources(name, own)):
        if path.is_file():
            yield f"{path} has changed since it was built; run make build"
        else:
            yield f"{path} is gone, but what was built of it is still in use; restore the file"


def complaints(folder: Path, made: MadeBy, build: Path, keeps_awake: bool) -> Iterator[str]:
    """Yields a message for each problem of a folder's files, code and programs.

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
        with suppress(KneepointError):  # they are not installed: nothing to compare with
            now = settings_of(made.engine, build, keep_awake=keeps_awake)
            if now.sha256 != made.engine_sha256:
                yield f"the programs of engine {made.engine} have changed"
    for name, digest in made.controllers.items():
        path = controller_file(name, build)
        if path.is_file() and sha256_of(path.read_bytes()) != digest:
            yield f"controller {name} has changed"


def void_runs(folder: Path) -> tuple[int, int]:
    """Removes from a journal the runs that no table of its folder contains.

    Returns:
    The numbers of runs removed and kept.
    """
    held = set[str]()
    for path in sorted(folder.glob("*.parquet")):
        table = read_table(path)
        if "run_id" in table.column_names:
            held |= set(table["run_id"].to_pylist())
    with open_journal(folder, patience_s=0) as journal:
        before = len(journal)
        journal.keep(held)
        return before - len(journal), len(journal)

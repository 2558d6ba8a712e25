"""`kneepoint verify`: checks that every folder of results is intact and up to date."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from kneepoint.cli import common_options, print_result, subcommand
from kneepoint.common.made_by import NAME, read_made_by
from kneepoint.common.tables import read
from kneepoint.config.workflow import Workflow
from kneepoint.engines.built import CORE, changed_files
from kneepoint.runs.journal import open_journal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import experiments_of
from kneepoint.runs.results import RUNS
from kneepoint.runs.validity import complaints


@dataclass(frozen=True)
class Verified:
    """A checked folder of results, its problems, and the count of runs removed from its journal."""

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
    found = list(complaints(workflow, folder, made, experiments_of(workflow).get(name)))
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


def unbuilt(names: Iterable[str], own: Path) -> Iterator[str]:
    """Yields a message for each source, program and controller that changed after the build."""
    for path in dict.fromkeys(path for name in names for path in changed_files(name, own)):
        if path.is_file():
            yield f"{path} has changed since it was built; run make build"
        else:
            yield f"{path} was removed after the build; restore it, or run make build"


def void_runs(folder: Path) -> tuple[int, int]:
    """Removes from a journal the runs that the table of its folder does not contain.

    Returns:
        The numbers of removed and kept runs.
    """
    path = folder / RUNS.file
    held = set(read(path, RUNS)["run_id"].to_pylist()) if path.exists() else set[str]()
    with open_journal(folder, patience_s=0) as journal:
        before = len(journal)
        journal.keep(held)
        return before - len(journal), len(journal)

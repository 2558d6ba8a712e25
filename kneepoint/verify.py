"""Whether every folder of results is what was written, by what is here now."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from common.code import digest_of_packages, digest_of_step
from common.errors import KneepointError
from common.files import sha256_of
from common.locks import hold_lock_patiently
from common.made_by import NAME, MadeBy, read_made_by
from engines.emulator import digest_of
from engines.mahimahi.engine import MahimahiSettings
from experiments.config import load_workflow
from experiments.journal import RunJournal
from experiments.results import read_table
from kneepoint.cli import config_option, examples, json_option, say

BUILD = Path("build")


@dataclass(frozen=True)
class Verified:
    """A folder of results, what of it does not hold, and what became of its journal's runs."""

    folder: str
    commit: str
    complaints: list[str]
    removed: int | None = None
    kept: int | None = None


@click.command()
@examples("""
    kneepoint verify
    kneepoint verify --clear
    kneepoint verify --json | jq '.[] | select(.complaints != [])'
""")
@click.option("--clear", is_flag=True, help="Remove runs from journals that no table holds.")
@config_option
@json_option
def command(clear: bool, config: Path, as_json: bool) -> None:
    """Say of every folder of results whether it still holds.

    That is: its files are what was written, and the code, packages, programs and controllers that
    made them are what is here now. The exit status is 1 where something does not hold; the workflow
    makes it again.
    """
    results = load_workflow(config).results
    found = [verify(path.parent, results, clear) for path in sorted(results.glob(f"**/{NAME}"))]
    say([asdict(each) for each in found], "\n".join(map(_text, found)) or "no results", as_json)
    raise SystemExit(1 if any(each.complaints for each in found) else 0)


def verify(folder: Path, results: Path, clear: bool) -> Verified:
    """Looks at one folder, and clears its journal if that is wanted."""
    made = read_made_by(folder)
    assert made is not None
    found = list(complaints(folder, made, BUILD))
    name = str(folder.relative_to(results))
    if clear and (folder / "runs.jsonl").is_file():
        return Verified(name, made.commit, found, *void_runs(folder))
    return Verified(name, made.commit, found)


def _text(each: Verified) -> str:
    commit = f"commit {each.commit[:10]}" if each.commit else "no commit"
    text = f"{each.folder}: {'; '.join(each.complaints) or 'holds'} ({commit})"
    if each.removed is not None:
        text += f"\n{each.folder}: {each.removed} void runs removed, {each.kept} kept"
    return text


def complaints(folder: Path, made: MadeBy, build: Path) -> Iterator[str]:
    """Yields what of a folder of results does not hold any more."""
    for name, digest in made.files.items():
        path = folder / name
        if not path.is_file():
            yield f"{name} is missing"
        elif sha256_of(path.read_bytes()) != digest:
            yield f"{name} is not what was written"
    if digest_of_step(made.step) != made.code_sha256:
        yield f"the code of {made.step} is another now"
    if digest_of_packages() != made.packages_sha256:
        yield "requirements.txt locks other versions now"
    if made.engine and _engine_sha256(made.engine, build) not in ("", made.engine_sha256):
        yield f"the programs of the engine {made.engine} are others now"
    for name, digest in made.controllers.items():
        path = build / "controllers" / f"{name}.so"
        if path.is_file() and sha256_of(path.read_bytes()) != digest:
            yield f"the controller {name} is another now"


def void_runs(folder: Path) -> tuple[int, int]:
    """Removes the runs of a journal that no table of its folder holds.

    Returns:
        The number of runs removed, and of those kept.
    """
    tables = [read_table(path) for path in sorted(folder.glob("*.parquet"))]
    held = {
        run_id
        for table in tables
        if "run_id" in table.column_names
        for run_id in table.column("run_id").to_pylist()
    }
    with (
        hold_lock_patiently(folder / ".lock", patience_s=0),
        RunJournal(folder / "runs.jsonl") as journal,
    ):
        before = len(journal)
        journal.keep(held)
        return before - len(journal), len(journal)


def _engine_sha256(engine: str, build: Path) -> str:
    """The digest of an engine's programs as they are; "" where they are not here."""
    try:
        if engine == "emulator":
            return digest_of(build / "emulate")
        return MahimahiSettings.of(build, math.inf, keep_awake=True).sha256
    except KneepointError:
        return ""

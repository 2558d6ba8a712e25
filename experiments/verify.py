"""Says of every folder of results whether what made it is still what is here.

    python -m experiments.verify --config config/config.yaml [--clear]

Exit status 1: something does not hold any more; `snakemake` makes it again. With --clear, runs that
no table holds any more are removed from the journals.
"""

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path

from common.code import digest_of_packages, digest_of_step
from common.errors import KneepointError, run_command_line
from common.files import sha256_of
from common.locks import hold_lock_patiently
from common.made_by import NAME, MadeBy, read_made_by
from engines.emulator import digest_of
from engines.mahimahi.engine import MahimahiSettings
from experiments.config import load_workflow
from experiments.journal import RunJournal
from experiments.results import read_table


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


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument(
        "--build", type=Path, default=Path("build"), help="the built programs (%(default)s)"
    )
    parser.add_argument("--clear", action="store_true", help="remove void runs from journals")
    arguments = parser.parse_args()
    results = load_workflow(arguments.config).results
    holds = True
    for path in sorted(results.glob(f"**/{NAME}")):
        folder = path.parent
        made = read_made_by(folder)
        assert made is not None
        found = list(complaints(folder, made, arguments.build))
        holds = holds and not found
        commit = f"commit {made.commit[:10]}" if made.commit else "no commit"
        print(f"{folder.relative_to(results)}: {'; '.join(found) or 'holds'} ({commit})")
        if arguments.clear and (folder / "runs.jsonl").is_file():
            removed, kept = void_runs(folder)
            print(f"{folder.relative_to(results)}: {removed} void runs removed, {kept} kept")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    run_command_line(main)

"""What `kneepoint new-report` and `kneepoint new-entry` share."""

import re
from collections.abc import Sequence
from pathlib import Path

import click

from common.errors import KneepointError
from kneepoint.cli import PATH, print_result
from networks.config import NAME, NAMES

into_option = click.option(
    "--into",
    type=PATH,
    default=Path(),
    help="Folder in which to make it.  [default: the current one]",
)


def new_folder(command: str, name: str, into: Path) -> Path:
    """Returns the path of a folder to make; raises KneepointError if NAME or the path cannot be."""
    if not re.fullmatch(NAME, name):
        raise KneepointError(f"{command} {name!r}: invalid name; use {NAMES}")
    folder = into / name
    if folder.exists():
        raise KneepointError(f"{folder}: exists already; choose another name or folder")
    return folder


def print_files(files: Sequence[Path], run: str, as_json: bool) -> None:
    """Prints the files that were written, and the command that runs them."""
    names = [str(path) for path in files]
    text = "\n".join([*names, "", f"To run it: {run}"])
    print_result({"files": names, "run": run}, text, as_json)

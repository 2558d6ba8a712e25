"""Writing skeletons, for `kneepoint new-report` and `kneepoint new-entry`."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import click
from jinja2 import Environment, StrictUndefined

from kneepoint.cli import PATH, print_result
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import write_folder
from kneepoint.common.places import SHIPPED
from kneepoint.networks.config import NAME, NAMES

into_option = click.option(
    "--into",
    type=PATH,
    default=Path(),
    show_default=False,
    help="Folder in which NAME is created.  [default: the current folder]",
)


def new_folder(command: str, name: str, into: Path) -> Path:
    """Returns the path of a new folder; raises KneepointError for an invalid NAME or path."""
    if not re.fullmatch(NAME, name):
        raise KneepointError(f"{command} {name!r}: invalid name; use {NAMES}")
    folder = into / name
    if folder.exists():
        raise KneepointError(f"{folder}: exists already; choose another name or folder")
    return folder


def fill_in(templates: Path, folder: Path, values: Mapping[str, object]) -> dict[Path, str]:
    """Returns the texts of a skeleton by their paths in the new folder.

    In templates Jinja inserts the values; in paths a value replaces its name in capitals.
    """
    environment = Environment(  # noqa: S701 (YAML, Markdown, C++)
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    texts = {}
    for path in sorted(each for each in templates.rglob("*") if each.is_file()):
        place = str(path.relative_to(templates))
        for name, value in values.items():
            place = place.replace(name.upper(), str(value))
        schemas = os.path.relpath(SHIPPED / "schemas", (folder / place).parent)
        template = environment.from_string(path.read_text(encoding="utf-8"))
        texts[Path(place)] = template.render(values, schemas=schemas)
    return texts


def write_skeleton(
    folder: Path,
    texts: Mapping[Path, str],
    run: str,
    as_json: bool,
    check: Callable[[Path], object] | None = None,
) -> None:
    """Writes the files, and prints their names and the command that runs them."""
    write_folder(folder, texts, check)
    names = [str(folder / place) for place in texts]
    text = "\n".join([*names, "", f"To run it: {run}"])
    print_result({"files": names, "run": run}, text, as_json)

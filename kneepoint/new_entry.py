"""`kneepoint new-entry`: the skeleton of an entry, which builds with plain make."""

import re
from pathlib import Path

import click

import contest
from common.errors import KneepointError
from common.files import write_folder
from kneepoint.cli import examples, json_option, say
from networks.config import NAME, NAMES

KIT = Path(contest.__file__).parent / "kit"
_NAMED = ("README.md", "kneepoint.yaml")


@click.command()
@examples("""
    kneepoint new-entry anna
    kneepoint new-entry anna --into entries
""")
@click.argument("name")
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    default=Path(),
    help="Folder in which to make the entry's.  [default: the current one]",
)
@json_option
def command(name: str, into: Path, as_json: bool) -> None:
    """Write the skeleton of an entry into the folder NAME.

    It is a whole sender that keeps a fixed window, in the layout of the public kit. Nothing is
    overwritten.
    """
    if not re.fullmatch(NAME, name):
        raise KneepointError(f"new-entry {name!r}: invalid name; use {NAMES}")
    folder = into / name
    if folder.exists():
        raise KneepointError(f"{folder}: exists already; choose another name or folder")
    write_folder(folder, files_of(name))
    files = sorted(str(path) for path in folder.rglob("*") if path.is_file())
    run = f"kneepoint try {folder}"
    say({"files": files, "run": run}, "\n".join([*files, "", f"To run it: {run}"]), as_json)


def files_of(name: str) -> dict[Path, str]:
    """Returns the texts of an entry's files by their paths in its folder."""
    texts = {}
    for path in sorted(KIT.rglob("*")):
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if path.name in _NAMED:
                text = text.replace("{{ name }}", name)
            texts[path.relative_to(KIT)] = text
    return texts

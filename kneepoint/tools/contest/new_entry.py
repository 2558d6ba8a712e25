"""`kneepoint new-entry`: the skeleton of an entry, which builds with plain make."""

from pathlib import Path

import click

from kneepoint.cli import json_option, subcommand
from kneepoint.cli.skeletons import fill_in, into_option, new_folder, write_skeleton
from kneepoint.entries.tree import KIT


@subcommand("""
    kneepoint new-entry anna
    kneepoint new-entry anna --into entries
""")
@click.argument("name")
@into_option
@json_option
def command(name: str, into: Path, as_json: bool) -> None:
    """Write the skeleton of an entry into the folder NAME.

    The skeleton is a whole sender with a fixed window, in the layout of the public kit. Existing
    files are not overwritten.
    """
    folder = new_folder("new-entry", name, into)
    texts = fill_in(KIT, folder, {"name": name})
    write_skeleton(folder, texts, f"kneepoint try {folder}", as_json)

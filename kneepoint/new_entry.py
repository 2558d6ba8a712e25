"""`kneepoint new-entry`: the skeleton of an entry, which builds with plain make."""

from pathlib import Path

import click

import contest
from common.files import write_folder
from kneepoint.cli import examples, json_option
from kneepoint.skeletons import into_option, new_folder, print_files

KIT = Path(contest.__file__).parent / "kit"
_NAMED = ("README.md", "kneepoint.yaml")


@click.command()
@examples("""
    kneepoint new-entry anna
    kneepoint new-entry anna --into entries
""")
@click.argument("name")
@into_option
@json_option
def command(name: str, into: Path, as_json: bool) -> None:
    """Write the skeleton of an entry into the folder NAME.

    It is a whole sender that keeps a fixed window, in the layout of the public kit. Nothing is
    overwritten.
    """
    folder = new_folder("new-entry", name, into)
    texts = files_of(name)
    write_folder(folder, texts)
    print_files([folder / place for place in texts], f"kneepoint try {folder}", as_json)


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

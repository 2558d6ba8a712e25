"""`kneepoint playground`: writes a page that runs the emulator in the browser."""

from pathlib import Path

import click

from kneepoint.cli import PATH, json_option, print_result, subcommand
from kneepoint.common.config_file import read_config
from kneepoint.common.files import write_whole
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.tools.playground.exercise import Exercise
from kneepoint.tools.playground.page import make_page


@subcommand("""
    kneepoint playground --into course
    kneepoint playground --into course --exercise config/exercises/fixed-window.yaml
""")
@click.option(
    "--into",
    type=PATH,
    default=Path(),
    help="Folder of the page: playground.html, or EXERCISE.html.",
)
@click.option(
    "--exercise", "file", type=PATH, metavar="FILE.yaml", help="Make the page of this exercise."
)
@json_option
def command(into: Path, file: Path | None, as_json: bool) -> None:
    """Write one HTML file that runs the emulator in the browser.

    The page needs no server and no installation, and opens without a network connection.
    docs/playground.md describes the page and the files of exercises.
    """
    exercise = read_config(file, Exercise) if file else None
    if exercise:
        exercise.check_controllers(load_catalogue(EMULATE), file)
    page = make_page(exercise)
    path = into / f"{file.stem if file else 'playground'}.html"
    write_whole(path, page)
    print_result({"page": str(path), "bytes": len(page.encode())}, str(path), as_json)

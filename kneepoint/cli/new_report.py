"""`kneepoint new-report`: the skeleton of a report of your own."""

import shlex
from pathlib import Path

import click

from kneepoint.cli import json_option, subcommand
from kneepoint.cli.skeletons import (
    fill_in,
    into_option,
    new_folder,
    write_skeleton,
)
from kneepoint.common.code import ROOT
from kneepoint.common.errors import KneepointError
from kneepoint.engines.catalogue import SOURCES
from kneepoint.runs.load import load_workflow

SKELETON = Path(__file__).parent / "skeleton"
SHIPPED = {"networks": Path("config/networks"), "controllers": SOURCES}
"""Where Kneepoint's own are: prepared networks and built controllers of all configurations share a
folder each, so their names carry the report's."""


@subcommand("""
    kneepoint new-report lab
    kneepoint new-report lab --into ../reports
    make reproduce CONFIG=../reports/lab/config.yaml
""")
@click.argument("name")
@into_option
@json_option
def command(name: str, into: Path, as_json: bool) -> None:
    """Write the skeleton of a report of your own into the folder NAME.

    It has a configuration, a published table and its description, networks, studies, a section of
    text and a controller, and runs as it is. Nothing is overwritten.
    """
    folder = new_folder("new-report", name, into)
    config = shlex.quote(str(folder / "config.yaml"))
    controller = f"{name.replace('-', '_')}_window"
    values = {"name": name, "controller": controller, "folder": folder, "config": config}
    texts = fill_in(SKELETON, folder, values)
    shipped = [
        SHIPPED[str(each.parent)] / each.name for each in texts if str(each.parent) in SHIPPED
    ]
    for path in shipped:
        if (ROOT / path).exists():
            raise KneepointError(
                f"new-report {name!r}: Kneepoint has {path} already; choose another name"
            )
    run = f"make reproduce CONFIG={config}"
    write_skeleton(folder, texts, run, as_json, lambda made: load_workflow(made / "config.yaml"))

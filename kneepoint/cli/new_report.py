"""`kneepoint new-report`: writes the skeleton of a report."""

import re
import shlex
from pathlib import Path

import click

from kneepoint.cli import json_option, subcommand
from kneepoint.cli.skeletons import fill_in, into_option, new_folder, write_skeleton
from kneepoint.common.errors import KneepointError
from kneepoint.common.places import PACKAGE, TOOL
from kneepoint.runs.load import load_workflow

SKELETON = PACKAGE / "skeleton"
PROFILE = Path("profiles/default/config.v9+.yaml")
"""Snakemake's profile, in the folder of the Snakefile."""


@subcommand("""
    kneepoint new-report lab
    kneepoint new-report lab --into ../reports
    cd lab && kneepoint report
""")
@click.argument("name")
@into_option
@json_option
def command(name: str, into: Path, as_json: bool) -> None:
    """Write the skeleton of a new report into the folder NAME.

    The skeleton contains a configuration, a published table with its description, networks,
    studies, a section of text and a controller, and runs without changes. Existing files are not
    overwritten.
    """
    folder = new_folder("new-report", name, into)
    if re.search("[{}]", str(folder.absolute())):
        raise KneepointError(
            f"--into {into}: Snakemake does not support braces in paths; give another path"
        )
    controller = f"{name.replace('-', '_')}_window"
    texts = fill_in(SKELETON, folder, {"name": name, "controller": controller})
    texts[PROFILE] = (TOOL / PROFILE).read_text(encoding="utf-8")
    run = f"cd {shlex.quote(str(folder))} && kneepoint report"
    write_skeleton(folder, texts, run, as_json, lambda made: load_workflow(made / "config.yaml"))

"""`kneepoint new-report`: the skeleton of a report of your own."""

import os
import shlex
from pathlib import Path

import click
from jinja2 import Environment, StrictUndefined

from common.code import ROOT
from common.errors import KneepointError
from common.files import write_folder
from engines.catalogue import SOURCES
from experiments.config import load_workflow
from kneepoint.cli import examples, json_option
from kneepoint.skeletons import into_option, new_folder, print_files

SKELETON = Path(__file__).parent / "skeleton"
NAMED_AFTER_THE_REPORT = {"own": "{}", "unfitted": "{}-unfitted", "held-out": "{}-held-out"}
"""Prepared networks of all configurations share a folder, so these carry the report's name, as its
controller does."""


@click.command()
@examples("""
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
    _require_own_names(name)
    templates = sorted(SKELETON.rglob("*.*"))
    texts = {_place_of(path, name): text_of(path, name, folder) for path in templates}
    write_folder(folder, texts, lambda made: load_workflow(made / "config.yaml"))
    run = f"make reproduce CONFIG={shlex.quote(str(folder / 'config.yaml'))}"
    print_files([folder / place for place in texts], run, as_json)


def text_of(template: Path, name: str, folder: Path) -> str:
    """Returns a file of the skeleton, filled in for a report's name and folder."""
    place = folder / _place_of(template, name)
    environment = Environment(  # noqa: S701 (YAML, Markdown, C++)
        undefined=StrictUndefined, keep_trailing_newline=True
    )
    return environment.from_string(template.read_text(encoding="utf-8")).render(
        name=name,
        controller=_controller_of(name),
        folder=folder,
        config=shlex.quote(str(folder / "config.yaml")),
        schemas=os.path.relpath(ROOT / "config/schemas", place.parent),
    )


def _place_of(template: Path, name: str) -> Path:
    place = template.relative_to(SKELETON)
    if place.parent.name == "networks":
        return place.with_stem(NAMED_AFTER_THE_REPORT[place.stem].format(name))
    return place.with_stem(_controller_of(name)) if place.suffix == ".cc" else place


def _controller_of(name: str) -> str:
    return f"{name.replace('-', '_')}_window"


def _require_own_names(name: str) -> None:
    """Raises KneepointError if Kneepoint has a controller or a network of such a name."""
    networks = [each.format(name) for each in NAMED_AFTER_THE_REPORT.values()]
    shipped = [Path("config/networks") / f"{each}.yaml" for each in networks]
    for path in (SOURCES / f"{_controller_of(name)}.cc", *shipped):
        if (ROOT / path).exists():
            raise KneepointError(
                f"new-report {name!r}: Kneepoint has {path} already; choose another name"
            )

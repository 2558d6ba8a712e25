"""`kneepoint list`: controllers with their parameters, networks, experiments."""

from pathlib import Path
from typing import Any

import click

from kneepoint.cli import common_options_anywhere, print_result, subcommand
from kneepoint.common import made_by
from kneepoint.common.columns import columns
from kneepoint.common.errors import KneepointError
from kneepoint.common.project import own_sources
from kneepoint.engines.built import EMULATE, is_current
from kneepoint.engines.catalogue import Controller, load_catalogue, require_valid_name
from kneepoint.networks.config import known_networks, load_network
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import experiments_of

KINDS = ("controllers", "networks", "experiments")


@subcommand("""
    kneepoint list
    kneepoint list controllers
    kneepoint list experiments --config config/offline.yaml --json
""")
@click.argument("kind", type=click.Choice(KINDS), required=False)
@common_options_anywhere
def command(kind: str | None, config: Path, as_json: bool) -> None:
    """List controllers, networks and experiments, or only one KIND."""
    listed = {name: _list(name, config) for name in ([kind] if kind else KINDS)}
    parts = [f"{name}\n\n{_indented(rows)}" for name, rows in listed.items()]
    print_result(listed, "\n\n".join(parts), as_json)


def _list(kind: str, config: Path) -> list[dict[str, Any]]:
    if kind == "controllers":
        return _controllers(own_sources(config))
    if kind == "networks":
        names = known_networks(config)
        return [{"name": name, "title": load_network(config, name).title} for name in names]
    workflow = load_workflow(config)
    return [
        {
            "name": each.name,
            "engine": each.engine,
            "does": each.kind.message,
            "done": (workflow.results / each.name / made_by.NAME).exists(),
        }
        for each in experiments_of(workflow).values()
    ]


def _controllers(own: Path) -> list[dict[str, Any]]:
    """Lists all built controllers, and the project's other controllers with their problems."""
    catalogue = load_catalogue(EMULATE)
    problems = catalogue.broken | {
        path.stem: problem for path in own.glob("*.cc") if (problem := _why_not_built(path))
    }
    found = {name: _described(each) for name, each in catalogue.controllers.items()}
    for name, problem in problems.items():
        found[name] = {"name": name, "summary": "", "parameters": None, "problem": problem}
    return [found[name] for name in sorted(found)]


def _why_not_built(source: Path) -> str | None:
    try:
        require_valid_name(source)
    except KneepointError as error:
        return str(error)
    return None if is_current(source.stem, source.parent) else f"{source}: not built yet"


def _described(controller: Controller) -> dict[str, Any]:
    shown = ("name", "default", "low", "high", "unit", "meaning")
    parameters = [
        {key: getattr(each, key) for key in shown} for each in controller.parameters.values()
    ]
    described = {"name": controller.name, "summary": controller.summary}
    return {**described, "parameters": parameters, "problem": None}


def _indented(rows: list[dict[str, Any]]) -> str:
    cells = []
    for row in rows:
        values = [
            ", ".join(f"{each['name']}={each['default']:g}" for each in value)
            if isinstance(value, list)
            else {True: "done", False: ""}.get(value, str(value))
            for value in row.values()
            if value is not None
        ]
        cells.append(("  " + values[0], *values[1:]))
    return columns(cells) if cells else "  none"

"""Pages of the reference in Markdown, made from declarations, models and schemas."""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from docs.schemas import FILES
from kneepoint.analysis.schema import STAGES, TABLES
from kneepoint.cli import kneepoint
from kneepoint.common.tables import Table, unit_in
from kneepoint.engines.catalogue import Catalogue, Controller
from kneepoint.runs.question import PACKAGE, questions
from kneepoint.runs.results import RUNS, TRIALS
from kneepoint.search.guided import CANDIDATES

_WIDTH = 100
_LONGEST_DEFAULT = 40
_WORDS = {
    "integer": "whole number",
    "number": "number",
    "string": "text",
    "boolean": "true or false",
}
_PROGRAMS = ("emulate", "measure", "check_trace", "synthesize")


def controllers_page(catalogue: Catalogue) -> str:
    """Returns the page of all controllers with their declared parameters."""
    parts = [_controller(each) for each in catalogue.controllers.values()]
    return "\n\n".join(["# Controllers", *parts]) + "\n"


def _controller(controller: Controller) -> str:
    return f"## {controller.name}\n\n{controller.summary}.\n\n{parameters(controller)}"


def parameters(controller: Controller) -> str:
    """Returns a table of a controller's parameters."""
    rows = [
        (
            f"`{name}`",
            f"{each.default:g}",
            f"{each.low:g} to {each.high:g}{', logarithmic' if each.is_log else ''}",
            _limits(each.min, each.max),
            "" if each.unit == "1" else each.unit,
            each.meaning,
        )
        for name, each in controller.parameters.items()
    ]
    head = ("parameter", "default", "usual range", "allowed", "unit", "meaning")
    return table(head, rows)


def _limits(least: float, most: float) -> str:
    finite = [text for text in (f"from {least:g}", f"to {most:g}") if "inf" not in text]
    return " ".join(finite) or "any"


def configuration_page() -> str:
    """Returns the page of all keys of all configuration files: type, default, meaning."""
    sections, parts = [], dict[str, Any]()
    for model, title in FILES.values():
        schema = model.model_json_schema()
        parts.update(schema.pop("$defs", {}))
        sections.append(_model(title, schema))
    sections += ["## Parts of these files"]
    sections += [_model(name, parts[name], "###") for name in sorted(parts)]
    text = (
        "Unknown keys are errors. `config/schemas/` contains the same keys as JSON schemas, with "
        "which editors complete and check files."
    )
    return "\n\n".join(["# Configuration", text, *sections]) + "\n"


def _model(title: str, schema: Mapping[str, Any], level: str = "##") -> str:
    rows = [
        (
            f"`{key}`",
            type_of(each),
            _default(each),
            each.get("description", ""),
        )
        for key, each in schema.get("properties", {}).items()
    ]
    text = schema.get("description", "").partition("\n")[0]
    if not rows:
        rows = [("(any name)", type_of(schema), "", "")]
    return f"{level} {title}\n\n{text}\n\n{table(('key', 'type', 'default', 'meaning'), rows)}"


def _default(schema: Mapping[str, Any]) -> str:
    """Formats a default; a long default refers to the defaults of its parts."""
    if "default" not in schema:
        return "required"
    value = schema["default"]
    if isinstance(value, dict):
        value = {key: each for key, each in value.items() if each not in (None, {}, [])}
    text = json.dumps(value)
    return f"`{text}`" if len(text) <= _LONGEST_DEFAULT else "see there"


def type_of(schema: Mapping[str, Any]) -> str:
    """Describes the type of a value; other models are links."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(map(type_of, schema["anyOf"])))
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join(f"`{json.dumps(value)}`" for value in values)
    kind = schema.get("type", "anything")
    if kind == "array":
        return f"list of {type_of(schema.get('items', {}))}"
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping):
        return f"for each name: {type_of(schema['additionalProperties'])}"
    return _WORDS.get(kind, str(kind))


def tables_page() -> str:
    """Returns the page of all columns of the results and of the analysis's tables."""
    text = (
        "Parquet files in the folder of the results. Experiments write runs, trials and their own "
        "tables; from these the stages of the analysis compute all other tables, which the "
        "figures and the report show."
    )
    parts = ["# Tables", text, "## Experiments", *map(_columns, (RUNS, TRIALS, CANDIDATES))]
    plans = (f"{PACKAGE}.{name}.plan" for name in questions())
    for module in map(import_module, filter(find_spec, plans)):
        parts += map(_columns, getattr(module, "TABLES", ()))
    for name, stage in STAGES.items():
        parts += [f"## Stage {name}", *(_columns(TABLES[each]) for each in stage.tables)]
    return "\n\n".join(parts) + "\n"


def _columns(of: Table) -> str:
    """Returns a table's meaning and its columns."""
    rows = [
        (f"`{each.name}`", str(each.type), unit_in(each), "yes" if each.nullable else "")
        for each in of.columns
    ]
    columns = table(("column", "holds", "unit", "may be missing"), rows)
    return f"### {of.name}.parquet\n\n{of.meaning}\n\n{columns}"


def commands_page(build: Path) -> str:
    """Returns the page with the help of every command and program."""
    parts = ["# Commands"]
    parts += [f"## {path}\n\n```text\n{text}\n```" for path, text in _helps(kneepoint, "kneepoint")]
    for program in _PROGRAMS:
        done = subprocess.run(
            [build / program, "--help"], capture_output=True, text=True, check=True
        )
        parts.append(f"## build/{program}\n\n```text\n{done.stdout.strip()}\n```")
    return "\n\n".join(parts) + "\n"


def _helps(
    command: click.Command, path: str, inherited: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, str]]:
    settings = {**(inherited or {}), **command.context_settings}
    context = click.Context(command, info_name=path, terminal_width=_WIDTH, **settings)
    yield path, re.sub(r"[\b]", "", command.get_help(context)).strip()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _helps(found, f"{path} {name}", settings)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, cells))} |" for cells in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")

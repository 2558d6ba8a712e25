"""Writes the JSON schemas of the configuration's files, for editors.

    python -m docs.schemas

A YAML file, such as a file of config/, names its schema in its first line.
"""

import json
from collections.abc import Iterator, Mapping
from importlib import import_module

from pydantic import BaseModel

from kneepoint import tools
from kneepoint.common.code import ROOT
from kneepoint.common.errors import run_command_line
from kneepoint.common.files import write_whole
from kneepoint.config.comparison import Comparison, Repeat
from kneepoint.config.published import TableDescription
from kneepoint.config.study import Study
from kneepoint.entries.config import EntryFile, Repositories
from kneepoint.networks.config import Network, TraceCatalogue
from kneepoint.networks.traffic import TrafficFile
from kneepoint.runs import settings

FOLDER = ROOT / "config/schemas"
_CORE: Mapping[str, tuple[type[BaseModel], str]] = {
    "config": (settings.model(), "config.yaml"),
    "study": (Study, "studies/NAME.yaml"),
    "repeat": (Repeat, "repeats/NAME.yaml"),
    "comparison": (Comparison, "comparisons/NAME.yaml"),
    "traffic": (TrafficFile, "traffic/NAME.yaml"),
    "network": (Network, "networks/NAME.yaml"),
    "published": (TableDescription, "published/NAME.yaml"),
    "entries": (Repositories, "entries.yaml of a folder of entries"),
    "entry": (EntryFile, "kneepoint.yaml of an entry"),
    "traces": (TraceCatalogue, "traces.yaml"),
}


def _found() -> Iterator[tuple[str, tuple[type[BaseModel], str]]]:
    """Yields the kinds of files of the core, with keys of questions, and of tools."""
    yield from _CORE.items()
    for tool, declared in tools.declared("SCHEMAS").items():
        for name, (module, model, title) in declared.items():
            yield name, (getattr(import_module(f"{tool}.{module}"), model), title)


FILES = dict(_found())
"""The model of each kind of file, and the name of its files."""


def text_of(model: type[BaseModel]) -> str:
    """Returns the text of a model's schema."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": draft, **model.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Writes every schema."""
    for name, (model, _) in FILES.items():
        write_whole(FOLDER / f"{name}.json", text_of(model))


if __name__ == "__main__":
    run_command_line(main)

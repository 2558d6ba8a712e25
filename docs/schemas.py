"""Writes the JSON schemas of the configuration's files, for editors.

    python -m docs.schemas

A YAML file names its schema in its first line, as those of config/ do.
"""

import json
from collections.abc import Mapping

from pydantic import BaseModel

from kneepoint.common.code import ROOT
from kneepoint.common.errors import run_command_line
from kneepoint.common.files import write_whole
from kneepoint.config.comparison import Comparison, Repeat
from kneepoint.config.published import TableDescription
from kneepoint.config.settings import Settings
from kneepoint.config.study import Study
from kneepoint.networks.config import Network, TraceCatalogue
from kneepoint.networks.traffic import TrafficFile
from kneepoint.tools.contest.config import (
    Contest,
    EntryFile,
    Repositories,
)

FOLDER = ROOT / "config/schemas"
FILES: Mapping[str, type[BaseModel]] = {
    "config": Settings,
    "study": Study,
    "repeat": Repeat,
    "comparison": Comparison,
    "traffic": TrafficFile,
    "network": Network,
    "published": TableDescription,
    "traces": TraceCatalogue,
    "contest": Contest,
    "entries": Repositories,
    "entry": EntryFile,
}
"""A schema for each kind of file."""


def text_of(model: type[BaseModel]) -> str:
    """Returns the text of a model's schema."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    schema = {"$schema": draft, **model.model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Writes every schema."""
    for name, model in FILES.items():
        write_whole(FOLDER / f"{name}.json", text_of(model))


if __name__ == "__main__":
    run_command_line(main)

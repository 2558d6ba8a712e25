"""Writes the JSON schemas of the configuration's files, for editors.

    python -m experiments.schemas
    python -m contest.schemas      for contests

A YAML file names its schema in its first line, as those of config/ do.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel

from common.code import ROOT
from common.errors import run_command_line
from common.files import write_whole
from experiments.models.comparison import Comparison, Repeat
from experiments.models.settings import Settings
from experiments.models.study import Study
from experiments.published import TableDescription
from networks.config import Network, TraceCatalogue
from networks.traffic import TrafficFile

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
}
"""A schema for each kind of file."""


def schemas(files: Mapping[str, type[BaseModel]]) -> dict[str, str]:
    """Returns the text of each schema by the name of its file."""
    texts = {}
    for name, model in files.items():
        schema = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            **model.model_json_schema(),
        }
        texts[f"{name}.json"] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return texts


def write(folder: Path, files: Mapping[str, type[BaseModel]]) -> None:
    """Writes every schema."""
    for name, text in schemas(files).items():
        write_whole(folder / name, text)


if __name__ == "__main__":
    run_command_line(lambda: write(FOLDER, FILES))

"""Writes the JSON schemas of the contest's files, as experiments.schemas does of the others.

python -m contest.schemas
"""

from collections.abc import Mapping

from pydantic import BaseModel

from common.errors import run_command_line
from contest.config import Contest, EntryFile, Repositories
from experiments.schemas import FOLDER, write

FILES: Mapping[str, type[BaseModel]] = {
    "contest": Contest,
    "entries": Repositories,
    "entry": EntryFile,
}
"""A schema for each kind of file: config/contests/*.yaml, entries.yaml and kneepoint.yaml."""

if __name__ == "__main__":
    run_command_line(lambda: write(FOLDER, FILES))

"""The model of config.yaml: the keys of the core and of all questions."""

from functools import cache
from pathlib import Path
from typing import Any

from pydantic import create_model

from kneepoint.common.config_file import read_config
from kneepoint.config.settings import Settings
from kneepoint.runs.question import questions


@cache
def model() -> type[Settings]:
    """Returns the model of the whole file."""
    parts: list[Any] = [each.settings for each in questions().values() if each.settings]
    return create_model(
        Settings.__name__, __base__=(*reversed(parts), Settings), __doc__=Settings.__doc__
    )


def read_settings(config: Path) -> Settings:
    """Reads the file; raises KneepointError if it is wrong."""
    return read_config(config, model())

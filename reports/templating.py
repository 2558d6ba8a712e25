"""The environment of all templates that write XML or HTML."""

import re
from collections.abc import Callable
from pathlib import Path

import jinja2

from analysis import labels

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


def templates_in(
    folder: Path, finalize: Callable[[object], object] | None = None
) -> jinja2.Environment:
    """Templates whose values are escaped, and whose unknown names are errors.

    Args:
        folder: holds them.
        finalize: what becomes of each value before it is written.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
    )
    environment.filters |= {"count": labels.count, "agree": labels.agree, "number": labels.number}
    return environment

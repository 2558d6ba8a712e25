"""The environment of all templates that write XML or HTML."""

import re
from collections.abc import Callable
from pathlib import Path

import jinja2
from jinja2.bccache import Bucket

from analysis import labels

NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML cannot hold."""


class _Memory(jinja2.BytecodeCache):
    """Compiled templates, which overlays of an environment share."""

    def __init__(self) -> None:
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Gives a template what it was compiled to, if it has not changed since."""
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps what a template was compiled to."""
        self._compiled[bucket.key] = bucket.bytecode_to_string()


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
        bytecode_cache=_Memory(),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=finalize,
    )
    environment.filters |= {"count": labels.count, "agree": labels.agree, "number": labels.number}
    return environment

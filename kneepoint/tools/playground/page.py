"""Puts the page together: its sources, the plotting library and the emulator, in one HTML file."""

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import read_bytes
from kneepoint.common.places import BUILT, TOOL
from kneepoint.engines.built import MODULE, changed_files
from kneepoint.tools.playground.exercise import Exercise
from kneepoint.tools.playground.library import read_library
from kneepoint.tools.playground.links import shipped_links
from kneepoint.tools.playground.rules import EXAMPLES, words
from kneepoint.tools.playground.state import State

EMULATOR = TOOL / "controllers/wasm/emulator.mjs"
SOURCES = Path(__file__).with_name("page")
_TITLE = "The knee, in the browser"
_PLACE = re.compile(r"\{\{ (\w+) \}\}")
_SIGNS = re.compile(r"[%#<\n]")
"""Characters that an address, or a script of a page, would not keep."""


def _as_data_url(source: str) -> str:
    """Returns a module's text as an address, in plain text, because base64 would not compress."""
    return "data:text/javascript," + _SIGNS.sub(lambda sign: f"%{ord(sign[0]):02X}", source)


def _as_json(value: object) -> str:
    """Returns JSON that neither ends nor begins a script."""
    return json.dumps(value).replace("<", r"\u003c")


def script(path: Path) -> str:
    """Returns a module's text without its exports, as part of a script."""
    return path.read_text(encoding="utf-8").replace("export ", "")


def packed(content: bytes) -> str:
    """Returns bytes compressed by gzip, as text in base 85."""
    return base64.b85encode(gzip.compress(content, mtime=0)).decode()


def packed_module() -> str:
    """Returns the packed module; raises KneepointError if it is missing or out of date."""
    module = read_bytes(BUILT / MODULE, "run make wasm")
    if changed := changed_files(MODULE, Path()):
        raise KneepointError(f"{BUILT / MODULE}: not built of {changed[0]}; run make wasm")
    return packed(module)


def make_page(
    exercise: Exercise | None = None,
    module: str | None = None,
    links: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """Returns the page as HTML.

    Args:
        exercise: the exercise on the page; None: the page shows all controls.
        module: a text that stands in the place of the packed module; None: the module.
        links: the synthetic links to choose from; None: the shipped links.

    Raises:
        KneepointError: the module or the library is not there.
    """
    module = packed_module() if module is None else module
    library, library_style = read_library()
    sources = {path.stem: path.read_text(encoding="utf-8") for path in SOURCES.glob("*.js")}
    worker = script(EMULATOR) + sources.pop("worker")
    for name in ("report", *(() if exercise else ("exercise",))):
        del sources[name]
    imports = {f"kneepoint/{name}": _as_data_url(text) for name, text in sorted(sources.items())}
    data = {
        "defaults": State().model_dump(),
        "links": links or shipped_links(),
        "rules": [{"title": title, "text": text} for title, text in EXAMPLES.items()],
        "language": words(),
        "exercise": exercise and exercise.for_page(),
    }
    parts = {
        "title": html.escape(exercise.title if exercise else _TITLE),
        "style": library_style + (SOURCES / "style.css").read_text(encoding="utf-8"),
        "data": _as_json(data),
        "module": module,
        "worker": worker,
        "library": library,
        "modules": _as_json({"imports": imports}),
    }
    page = (SOURCES / "index.html").read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: parts[place[1]], page)

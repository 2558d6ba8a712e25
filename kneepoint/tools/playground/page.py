"""Puts the page together: its sources, the plotting library and the emulator, in one HTML file."""

import base64
import gzip
import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kneepoint.common.config_file import names_in, read_config
from kneepoint.common.files import read_bytes
from kneepoint.common.places import BUILT, SHIPPED, TOOL
from kneepoint.networks.config import Network
from kneepoint.tools.playground.exercise import Exercise
from kneepoint.tools.playground.library import read_library
from kneepoint.tools.playground.state import State

MODULE = "kneepoint.wasm"
EMULATOR = TOOL / "controllers/wasm/emulator.mjs"
SOURCES = Path(__file__).with_name("page")
_REPORT = "report"
_TITLE = "The knee, in the browser"
_PLACE = re.compile(r"\{\{ (\w+) \}\}")
_SIGNS = re.compile(r"[%#\n]")
"""Characters that an address would not keep."""
_MODULE_PLACE = "{{ module }}"
_END = re.compile(r"</(?=script|style)", re.IGNORECASE)


def shipped_links() -> list[dict[str, Any]]:
    """Returns the shipped networks with synthetic links, as the page offers them."""
    found = []
    for name in filter(_is_offered, names_in(SHIPPED / "networks")):
        network = read_config(SHIPPED / f"networks/{name}.yaml", Network)
        up, down = network.uplink.synthetic, network.downlink.synthetic
        if up and down:
            ends = {"uplink": " ".join(up.options), "downlink": " ".join(down.options)}
            found.append(
                {"name": name, "title": network.title, **ends, "duration_s": up.duration_s}
            )
    return found


def _is_offered(network: str) -> bool:
    return network.startswith("synthetic")


def _as_data_url(source: str) -> str:
    """Returns a module's text as an address, in plain text, because base64 would not compress."""
    return "data:text/javascript," + _SIGNS.sub(lambda sign: f"%{ord(sign[0]):02X}", source)


def script(path: Path) -> str:
    """Returns a module's text without its exports, as part of a script."""
    return path.read_text(encoding="utf-8").replace("export ", "")


def packed(content: bytes) -> str:
    """Returns bytes compressed by gzip, as text in base 85."""
    return base64.b85encode(gzip.compress(content, mtime=0)).decode()


def make_page(exercise: Exercise | None = None, build: Path = BUILT) -> str:
    """Returns the page as HTML (see `page_parts`)."""
    page, module = page_parts(exercise, build)
    return page.replace(_MODULE_PLACE, module)


def page_parts(exercise: Exercise | None, build: Path) -> tuple[str, str]:
    """Returns the page with a place for the module, and the packed module.

    Args:
        exercise: the exercise on the page; None: the page shows all controls.
        build: folder of the module and the library.

    Raises:
        KneepointError: the module or the library is not there.
    """
    module = packed(read_bytes(build / MODULE, "run make wasm"))
    library, library_style = read_library(build)
    sources = {path.stem: path.read_text(encoding="utf-8") for path in SOURCES.glob("*.js")}
    worker = script(EMULATOR) + sources.pop("worker")
    sources.pop(_REPORT)
    imports = {f"kneepoint/{name}": _as_data_url(text) for name, text in sorted(sources.items())}
    data = {
        "defaults": State().model_dump(),
        "links": shipped_links(),
        "exercise": exercise and exercise.for_page(),
    }
    parts: Mapping[str, str] = {
        "title": html.escape(exercise.title if exercise else _TITLE),
        "style": library_style + (SOURCES / "style.css").read_text(encoding="utf-8"),
        "data": json.dumps(data),
        "module": _MODULE_PLACE,
        "worker": worker,
        "library": library,
        "modules": json.dumps({"imports": imports}),
    }
    inlined = {
        name: text if name == "title" else _END.sub(r"<\\/", text) for name, text in parts.items()
    }
    page = (SOURCES / "index.html").read_text(encoding="utf-8")
    return _PLACE.sub(lambda place: inlined[place[1]], page), module

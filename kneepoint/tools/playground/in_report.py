"""The playground in a report: points and runs open the playground with their settings."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kneepoint.analysis.frames import Record, records
from kneepoint.common.files import read_json
from kneepoint.common.json_text import parse_json
from kneepoint.common.places import BUILT, NETWORKS
from kneepoint.common.tables import Tables
from kneepoint.reports.document import RUN_DIGITS
from kneepoint.tools.playground.links import shipped_links
from kneepoint.tools.playground.page import SOURCES, make_page, packed, packed_module, script

_ROW = re.compile(r'<tr[^>]* id="run-([0-9a-f]+)"')
_MODULE_PLACE = "{{ module }}"
_LINK_KEYS = {"trace", "trace_sha256", "delay_ms", "queue"}
"""Keys of a link that the page knows; the page does not run a network with further keys."""


def in_report(page: str, tables: Tables, networks: Path = NETWORKS, build: Path = BUILT) -> str:
    """Returns the HTML at the end of a report's page; "" if the playground can show no run.

    Args:
        page: the report, with a row for each run that the report links to.
        tables: tables of the analysis, which have the runs' settings.
        networks: folder of the prepared networks.
        build: folder of the module and the library.

    Raises:
        KneepointError: the module or the library is not there.
    """
    shown = dict.fromkeys(_ROW.findall(page), "")
    network_of = cache(lambda name: _network(networks / name / "network.json"))
    shipped = {link["name"] for link in shipped_links()}
    for row in records(tables["settings_run"]):
        if shown.get(run := row["run_id"][:RUN_DIGITS]) == "":
            shown[run] = address(row, network_of, shipped)
    if not any(shown.values()):
        return ""
    parts = {
        "states": packed(json.dumps([*shown.values()]).encode()),
        "page": packed(make_page(build=build, module=_MODULE_PLACE).encode()),
        "module": packed_module(build),
    }
    scripts = "".join(script(SOURCES / f"{name}.js") for name in ("packed", "report"))
    texts = (
        f'<script type="text/plain" id="playground-{name}">{text}</script>'
        for name, text in parts.items()
    )
    return f'{"".join(texts)}<script type="module">{scripts}</script>'


def _network(file: Path) -> Any:
    return read_json(file) if file.is_file() else None


def address(run: Record, network_of: Callable[[str], Any], shipped: Collection[str]) -> str:
    """Returns the address of a run without the seed; "" if the page cannot repeat the run.

    Args:
        run: a row of the table `settings_run`.
        network_of: returns the description of a network by its name; None if not prepared.
        shipped: names of the links that the page has.
    """
    name, network = run["network"], network_of(run["network"])
    if run["engine"] != "emulator" or isinstance(run["traffic"], str) or not network:
        return ""
    up, down = network["uplink"], network["downlink"]
    if (
        not up.keys() | down.keys() <= _LINK_KEYS
        or up["delay_ms"] != down["delay_ms"]
        or down["queue"] != "infinite"
        or network["duration_s"] is not None
    ):
        return ""
    pairs = [("controller", run["controller"]), *_link(name, network, shipped)]
    pairs += [("delay_ms", up["delay_ms"]), ("queue", up["queue"])]
    pairs += [(key, network[key]) for key in ("host_model", "host_latency_us")]
    pairs += [(f"set.{key}", value) for key, value in parse_json(run["parameters"]).items()]
    return "#" + "&".join(f"{key}={quote(str(value), safe=':,=')}" for key, value in pairs)


def _link(
    name: str, network: Mapping[str, Any], shipped: Collection[str]
) -> Iterator[tuple[str, str]]:
    if name in shipped:
        yield "link", name
        return
    yield "link", "file"
    for end in ("uplink", "downlink"):
        yield end, f"{name}-{end}:{network[end]['trace_sha256']}"

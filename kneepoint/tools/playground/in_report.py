"""The playground in a report: points and runs open the playground with their settings."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from kneepoint.analysis.frames import records
from kneepoint.analysis.results import Results
from kneepoint.common.errors import KneepointError
from kneepoint.common.places import BUILT, NETWORKS
from kneepoint.common.tables import Tables
from kneepoint.config.study import EMULATOR
from kneepoint.engines.base import RunSpec, canonical_json
from kneepoint.engines.built import EMULATE, is_own
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.reports.document import RUN_DIGITS
from kneepoint.runs.job import Job
from kneepoint.runs.recorded import spec_of
from kneepoint.tools.playground.links import as_link, shipped_links
from kneepoint.tools.playground.page import SOURCES, make_page, packed, packed_module, script

_ROW = re.compile(r'<tr[^>]* id="run-([0-9a-f]+)"')
_MODULE_PLACE = "{{ module }}"
_ANY_TRACE = {"trace": True, "trace_sha256": True}
_SUBJECT = ("controller", "parameters")


def in_report(page: str, results: Results, tables: Tables) -> str:
    """Returns the HTML at the end of a report's page; "" if the playground can show no run.

    Args:
        page: the report, with a row for each run that the report links to.
        results: the configuration and the results of the report.
        tables: tables of the analysis, which name the runs.

    Raises:
        KneepointError: the module or the library is not there.
    """
    workflow = results.workflow
    shown = dict.fromkeys(_ROW.findall(page), "")
    runs = [
        row
        for row in records(tables["settings_run"])
        if row["engine"] == EMULATOR and row["run_id"][:RUN_DIGITS] in shown
    ]
    if not runs:
        return ""
    job = Job(workflow, load_catalogue(EMULATE), BUILT, NETWORKS, workflow.results, cores=1)
    links = {link["name"]: link for link in shipped_links()} | {
        name: link
        for name, network in workflow.networks.items()
        if (link := as_link(name, network))
    }
    for row in runs:
        run = row["run_id"][:RUN_DIGITS]
        shown[run] = shown[run] or _address(job, row, links)
    if not any(shown.values()):
        return ""
    alone = make_page(module=_MODULE_PLACE, links=[*links.values()])
    parts = {
        "states": packed(json.dumps([*shown.values()]).encode()),
        "page": packed(alone.encode()),
        "module": packed_module(),
    }
    scripts = "".join(script(SOURCES / f"{name}.js") for name in ("packed", "report"))
    texts = (
        f'<script type="text/plain" id="playground-{name}">{text}</script>'
        for name, text in parts.items()
    )
    return f'{"".join(texts)}<script type="module">{scripts}</script>'


def _address(job: Job, row: Mapping[str, Any], links: Mapping[str, Any]) -> str:
    """Returns the address of a recorded run; "" if the page cannot repeat the run."""
    traffic = row["traffic"] if isinstance(row["traffic"], str) else None
    try:
        spec = spec_of(job, {**row, "traffic": traffic})
    except KneepointError:  # the controller no longer exists, or no file describes the run
        return ""
    controllers = {flow.get("controller", "") for flow in spec.scenario()["flows"]}
    if any(is_own(name, job.workflow.own_sources) for name in controllers):
        return ""
    prepared = job.network(row["network"])
    is_same = prepared.uplink.trace_sha256 == spec.network.uplink.trace_sha256
    return address(spec, is_offered=is_same and row["network"] in links)


def address(spec: RunSpec, *, is_offered: bool) -> str:
    """Returns the address of a run without its seed.

    Args:
        spec: the run.
        is_offered: whether the page has the links of the run's network.
    """
    network, up = spec.network, spec.network.uplink
    pairs = [("controller", spec.controller), *_link(network, is_offered=is_offered)]
    pairs += [("delay_ms", up.delay_ms), ("queue", up.queue), ("loss", up.loss_probability)]
    pairs += [(key, getattr(network, key)) for key in ("host_model", "host_latency_us")]
    pairs += [(f"set.{key}", value) for key, value in spec.parameters.items()]
    if further := _difference(_of_page(network), _of_run(spec)):
        pairs.append(("further", canonical_json(further)))
    return "#" + "&".join(f"{key}={quote(str(value), safe=':,=')}" for key, value in pairs)


def _link(network: PreparedNetwork, *, is_offered: bool) -> Iterator[tuple[str, Any]]:
    ends = {"uplink": network.uplink, "downlink": network.downlink}
    digests = [link.trace_sha256 for link in ends.values() if link.trace]
    if is_offered:
        yield "link", network.name
    elif digests:
        yield "link", "file"
        for name, link in ends.items():
            yield name, f"{network.name}-{name}:{link.trace_sha256 or digests[0]}"
    else:
        yield "link", "port"
        yield "rate_mbps", network.uplink.rate_mbps
        yield "duration_s", network.duration_s


def _of_page(network: PreparedNetwork) -> dict[str, Any]:
    """Returns the scenario that the page makes of an address without `further`."""
    up, lost = network.uplink, network.uplink.loss_probability
    is_port = not (up.trace or network.downlink.trace)
    common = {"delay_ms": up.delay_ms, **({"rate_mbps": up.rate_mbps} if is_port else _ANY_TRACE)}
    return {
        "uplink": {
            **common,
            "queue": up.queue,
            **({"loss_probability": lost} if lost else {}),
        },
        "downlink": {**common, "queue": "infinite"},
        "flows": [{}],
        "probes": [],
        "host_model": network.host_model,
        "host_latency_us": network.host_latency_us,
        **({"duration_s": network.duration_s} if is_port else {}),
    }


def _of_run(spec: RunSpec) -> dict[str, Any]:
    """Returns a run's scenario without the controllers under study and without their digests."""
    scenario = spec.scenario()
    for key in ("seed", "interval_s"):
        scenario.pop(key, None)
    for end in ("uplink", "downlink"):
        scenario[end] |= {key: True for key in _ANY_TRACE if key in scenario[end]}
    for flow, given in zip(scenario["flows"], spec.traffic.flows.values(), strict=True):
        for key in ("controller_sha256", *(() if "controller" in given else _SUBJECT)):
            flow.pop(key, None)
    return scenario


def _difference(before: Any, after: Any) -> Any:
    """Returns the JSON merge patch (RFC 7396) that makes `after` of `before`."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return after
    changed = {
        key: _difference(before.get(key), value)
        for key, value in after.items()
        if key not in before or before[key] != value
    }
    return changed | dict.fromkeys(before.keys() - after.keys())

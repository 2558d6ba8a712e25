"""Prepares one network: two validated traces and a description.

python -m kneepoint.networks.prepare --config FILE --network NAME --into .kneepoint/networks/NAME
"""

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from kneepoint.common.errors import KneepointError, run_command_line, unusable
from kneepoint.common.files import open_file, sha256_of, write_whole
from kneepoint.common.notes import seal
from kneepoint.common.places import BUILT, TRACES
from kneepoint.common.programs import run_built
from kneepoint.networks.config import (
    Cut,
    LinkTrace,
    Network,
    Synthetic,
    load_network,
    load_trace_catalogue,
    network_file,
)
from kneepoint.networks.fitted_host import read_fitted_host
from kneepoint.networks.omniscient import Bound, bound_of_rate, bound_of_traces
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.networks.traces import (
    changing_rate_trace,
    constant_rate_trace,
    format_trace,
    parse_trace,
    part_of_trace,
    times_of,
)


def make_trace(link: LinkTrace, where: str, duration_s: float | None, build: Path) -> bytes:
    """Makes and validates the trace of a link; it is empty for a link with rate_mbps.

    Args:
        link: description of the link.
        where: file and key of the link, for messages.
        duration_s: duration of a run (s), needed for a rate that changes.
        build: folder of the program that makes synthetic traces.

    Raises:
        KneepointError: the trace is missing or invalid, or has another digest than link.sha256.
    """
    if link.rate_mbps is not None:
        return b""
    try:
        content = _content(link, duration_s, build)
        parse_trace(content, link.trace or "made here")
    except KneepointError as error:
        raise KneepointError(f"{where}: {error}") from None
    digest = sha256_of(content)
    if link.sha256 not in (None, digest):
        raise KneepointError(
            f"{where}: digest mismatch: the trace has SHA-256 {digest}, but sha256 pins "
            f"{link.sha256}; correct the pin or restore the trace"
        )
    return content


def _content(link: LinkTrace, duration_s: float | None, build: Path) -> bytes:
    if link.constant_mbps is not None and link.changes and duration_s is not None:
        rates = {0.0: link.constant_mbps} | {each.at_s: each.mbps for each in link.changes}
        return format_trace(changing_rate_trace(rates, duration_s))
    if link.constant_mbps is not None:
        return format_trace(constant_rate_trace(link.constant_mbps))
    if link.synthetic is not None:
        return _synthesize(link.synthetic, build / "synthesize")
    path = TRACES / str(link.trace)
    with open_file(path, "fetch it first") as file:
        return cut_trace(file, str(path), link.cut) if link.cut else file.read()


def _synthesize(synthetic: Synthetic, program: Path) -> bytes:
    made, status, complaint = run_built(program, *synthetic.options)
    if status != 0:
        raise KneepointError(f"{program}: {complaint}")
    return made


def cut_trace(content: BinaryIO, name: str, cut: Cut) -> bytes:
    """Returns part of a trace of any length (see Cut); raises InvalidTraceError if it is empty."""
    return part_of_trace(content, name, round(cut.start_s * 1000), round(cut.end_s * 1000))


def prepare_network(
    name: str,
    network: Network,
    where: Path,
    into: Path,
    build: Path = BUILT,
    host: Mapping[str, float] | None = None,
) -> None:
    """Writes uplink.trace, downlink.trace and network.json into the folder `into`.

    description.json records their inputs: the network as its file `where` describes it, and the
    digests of its packaged traces. The settings `host` replace settings of the network's host.
    """
    links = {"uplink": network.uplink, "downlink": network.downlink}
    traces = {
        name: make_trace(link, f"{where}: {name}", network.duration_s, build)
        for name, link in links.items()
    }
    try:
        bound = bound_of(network, traces["uplink"], traces["downlink"])
    except KneepointError as error:
        raise KneepointError(f"{where}: uplink: {error}") from None
    prepared_links: dict[str, PreparedLink] = {}
    for direction, trace in traces.items():
        path = into / f"{direction}.trace"
        write_whole(path, trace)
        prepared_links[direction] = PreparedLink(
            trace=str(path) if trace else "",
            trace_sha256=sha256_of(trace) if trace else "",
            rate_mbps=links[direction].rate_mbps or 0,
            delay_ms=_typed(network.delay_ms),
            delay_step_ms=_typed(network.delay_step_ms or 0),
            delay_period_s=_typed(network.delay_period_s or 0),
            queue=getattr(network, f"{direction}_queue"),
            loss_period=links[direction].loss_period or 0,
            loss_probability=links[direction].loss_probability,
            loss_after_link=links[direction].loss_after_link,
            impairments=links[direction].impairments,
        )
    prepared = PreparedNetwork(
        name,
        prepared_links["uplink"],
        prepared_links["downlink"],
        network.duration_s,
        network.host_model,
        network.host_latency_us,
        bound,
    )
    for setting, value in (host or {}).items():
        prepared = prepared.with_host(setting, _typed(value))
    digests = {trace: sha256_of((TRACES / trace).read_bytes()) for trace in network.trace_names}
    write_whole(into / "description.json", network.made_of(digests) + "\n")
    description = {"title": network.title, **prepared.described()}
    write_whole(into / "network.json", json.dumps(description, indent=2, ensure_ascii=False) + "\n")


def bound_of(network: Network, uplink: bytes, downlink: bytes) -> Bound:
    """Returns the omniscient bound of a network with these traces."""
    if network.uplink.rate_mbps is not None:
        return bound_of_rate(network.uplink.rate_mbps)
    return bound_of_traces(times_of(uplink), times_of(downlink), network.duration_s)


def _typed(value: float) -> float:
    return int(value) if value % 1 == 0 else value


def prepare(config: Path, name: str, into: Path, fitted: Path | None = None) -> None:
    """Prepares a network of a configuration in the folder `into`, from fetched traces.

    Args:
        config: configuration file of the project.
        name: name of a file in networks/ beside it, or of a shipped network.
        into: output folder.
        fitted: study.json with the fitted host, for a network with host_from.

    Raises:
        KneepointError: the network does not exist, or a trace is missing or has another digest
            than traces.yaml lists.
    """
    network = load_network(config, name)
    if network.trace_names:
        catalogue = load_trace_catalogue(config)
        for trace in set(network.trace_names) & set(catalogue):
            path = TRACES / trace
            if path.is_file() and sha256_of(path.read_bytes()) != catalogue[trace].sha256:
                raise unusable(path, "it is not the trace that traces.yaml lists")
    host = read_fitted_host(fitted) if fitted else None
    prepare_network(name, network, network_file(config, name), into, BUILT, host)
    written = ("uplink.trace", "downlink.trace", "description.json", "network.json")
    seal(str(into), [into / file for file in written])


def main() -> None:
    """Parses the command line and prepares the network."""
    parser = argparse.ArgumentParser(
        description="Prepares the traces and the description of a network."
    )
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--network", required=True, help="name of a file in networks/ next to it")
    parser.add_argument("--into", type=Path, required=True, help="output folder")
    parser.add_argument(
        "--fitted", type=Path, help="study.json with the fitted host, for a network with host_from"
    )
    arguments = parser.parse_args()
    prepare(arguments.config, arguments.network, arguments.into, arguments.fitted)


if __name__ == "__main__":
    run_command_line(main)

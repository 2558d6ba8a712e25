"""Pantheon's tunnel logs, and pantheon_metadata.json, which lists them.

A log has one event per line, in order of time (ms):

    T # BYTES               a delivery opportunity, if the link was emulated
    T + BYTES [FLOW]        a packet entered the tunnel
    T - BYTES DELAY [FLOW]  a packet left the tunnel after DELAY ms

Throughput, 95th percentile of the one-way delay, and loss, of each flow and of all flows, follow
the definitions of Pantheon's tunnel_graph.py: from the first to the last departure, by nearest
rank, by bytes. The signal delay follows our definition, in whole milliseconds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from kneepoint.analysis import over_time
from kneepoint.tools.import_files.mahimahi import measured
from kneepoint.tools.import_files.measurement import (
    Format,
    Measurement,
    read_object,
    series_of,
)

_EVENT = re.compile(rb"\d[\d.]* (?:# \d+|\+ \d+(?: \d+)?|- \d+ \d[\d.]*(?: \d+)?)\r?")
_HEADER = re.compile(rb"\A(?:#[^\n]*\n)*")
_NAME = re.compile(r"(?P<controller>.+?)(?:_mm)?_datalink_run(?P<number>\d+)(?:\.log)?(?:\.gz)?")


def _is_log(head: bytes) -> bool:
    first = head[len(_HEADER.findall(head)[0]) :].partition(b"\n")[0]
    return b"# base timestamp" not in head and bool(_EVENT.fullmatch(first))


def _read_log(path: Path, stream: BinaryIO) -> list[Measurement]:
    found = measurement_of(TUNNEL_LOG, path, stream)
    if (named := _NAME.fullmatch(path.name)) is None:
        return [found]
    return [replace(found, controller=named["controller"], number=int(named["number"]))]


def measurement_of(known: Format, path: Path, stream: BinaryIO) -> Measurement:
    """Returns the measurement of a log of this form."""
    found = measured(known, path, stream, "--tunnel")
    throughput_mbps, signal_ms = found["flows"][0]["throughput_mbps"], found["signal_delay_p95_ms"]
    metrics = {"throughput_mbps": throughput_mbps, "signal_delay_p95_ms": signal_ms}
    if signal_ms:
        metrics["power"] = throughput_mbps / (signal_ms / 1000)
    metrics |= {name: found[name] for name in ("packets_sent", "packets_delivered")}
    absent = ["queueing delay: the one-way delays include the propagation delay"]
    series = series_of(found["over_time"], over_time.DELAY)
    if found["capacity_mbps"] is not None:
        metrics["capacity_mbps"] = found["capacity_mbps"]
        metrics["utilization"] = throughput_mbps / found["capacity_mbps"]
    else:
        absent.append("capacity: the log has no delivery opportunities")
        series = series[series["quantity"] != over_time.RATES[0]]
    length_s, flows = found["duration_s"], tuple(found["flows"])
    return Measurement(path, known.name, length_s, metrics, flows, series, tuple(absent))


# Metadata -------------------------------------------------------------------------------------


def _is_metadata(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"cc_schemes"' in head


def _read_metadata(path: Path, stream: BinaryIO) -> list[Measurement]:
    content, notes = read_object(METADATA, path, stream)
    schemes = content["cc_schemes"]
    schemes = schemes.split() if isinstance(schemes, str) else schemes
    if not isinstance(schemes, list):
        raise METADATA.refuse(path, f"cc_schemes is {schemes!r}; list the schemes")
    network = Path(str(content.get("uplink_trace") or path.resolve().parent.name)).stem
    found = []
    for log in _logs(path, content, schemes):
        with log.open("rb") as events:
            (measurement,) = _read_log(log, events)
        found.append(replace(measurement, network=network, notes=notes))
    if not found:
        raise METADATA.refuse(path, f"there is no log of {', '.join(schemes)} beside it; copy them")
    return found


def _logs(path: Path, content: Mapping[str, Any], schemes: list[str]) -> Iterator[Path]:
    """Yields the tunnel log of each run; of an emulated link, merged with mahimahi's log."""
    for scheme in schemes:
        for number in range(1, int(content.get("run_times", 1)) + 1):
            for name in (f"{scheme}_mm_datalink_run{number}", f"{scheme}_datalink_run{number}"):
                log = path.with_name(f"{name}.log")
                if log.is_file():
                    yield log
                    break


TUNNEL_LOG = Format("tunnel log of Pantheon", _is_log, _read_log)
METADATA = Format("metadata of Pantheon", _is_metadata, _read_metadata)

"""Pantheon's tunnel logs, and pantheon_metadata.json, which says which there are.

A log has one event a line, in the order of time, in milliseconds:

    T # BYTES               an opportunity, if the link was emulated
    T + BYTES [FLOW]        a packet entered the tunnel
    T - BYTES DELAY [FLOW]  a packet left it, DELAY ms after it had entered

Throughput, 95th percentile of the one-way delay and loss of the flows, and of all together, are by
the definitions of Pantheon's tunnel_graph.py: over first to last departure, by nearest rank, of
bytes. The signal delay is ours, of whole milliseconds.
"""

import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from analysis import link_log, over_time
from analysis.frames import select
from analysis.imported.mahimahi import check_something_departed, series_of
from analysis.imported.measurement import Format, Measurement
from analysis.link_log import ARRIVAL, DEPARTURE, OPPORTUNITY
from common.files import read_text

_T = rb"\d{1,15}(?:\.\d{1,9})?"
_EVENT = re.compile(
    rb"^%s (?:# \d{1,9}|\+ \d{1,9}(?: \d{1,9})?|- \d{1,9} %s(?: \d{1,9})?)\r?$" % (_T, _T),
    re.MULTILINE,
)
_HEADER = re.compile(rb"\A(?:#[^\n]*\n)*")
_NAME = re.compile(r"(?P<controller>.+?)(?:_mm)?_datalink_run(?P<number>\d+)(?:\.log)?(?:\.gz)?")


def _is_log(head: bytes) -> bool:
    first = head[len(_HEADER.findall(head)[0]) :].partition(b"\n")[0]
    return b"# base timestamp" not in head and bool(_EVENT.fullmatch(first))


def _read_log(path: Path, data: bytes) -> list[Measurement]:
    log = _events(path, data)
    check_something_departed(LOG, path, log)
    delays = log["delay_ms"].round().astype("Int64")
    whole = log.assign(time_ms=np.floor(log["time_ms"]).astype("int64"), delay_ms=delays)
    signal_ms = link_log.percentile_95(link_log.signal_delay(whole)["delay_ms"])
    together = _figures(log)
    metrics: dict[str, float] = {
        "throughput_mbps": together["throughput_mbps"],
        "signal_delay_p95_ms": signal_ms,
        "power": together["throughput_mbps"] / (signal_ms / 1000) if signal_ms else np.nan,
        "packets_sent": int((log["kind"] == ARRIVAL).sum()),
        "packets_delivered": int((log["kind"] == DEPARTURE).sum()),
    }
    absent = ["queueing delay: the log has one-way delays, with the propagation's"]
    opportunities = select(log, kind=OPPORTUNITY)
    if len(opportunities) > 1:
        metrics["capacity_mbps"] = _rate(opportunities)
        metrics["utilization"] = metrics["throughput_mbps"] / metrics["capacity_mbps"]
    else:
        absent.append("capacity: the log has no opportunities")
    named = _NAME.fullmatch(path.name)
    controller = named["controller"] if named else ""
    every = [("all", together)] + [
        (str(flow), _figures(part)) for flow, part in log.dropna(subset="flow").groupby("flow")
    ]
    flows = tuple({"name": name, "controller": controller, **found} for name, found in every)
    series = series_of(whole).replace({"quantity": {over_time.QUEUEING: over_time.DELAY}})
    if "capacity_mbps" not in metrics:
        series = series[series["quantity"] != over_time.RATES[0]]
    duration_s = float(np.ptp(log["time_ms"])) / 1000
    number = int(named["number"]) if named else None
    return [
        Measurement(
            path,
            LOG.name,
            duration_s,
            metrics,
            flows,
            series,
            tuple(absent),
            controller,
            "",
            number,
        )
    ]


def _events(path: Path, data: bytes) -> pd.DataFrame:
    """Columns time_ms since the first event, kind, amount, delay_ms and flow, of packets."""
    (header,) = _HEADER.findall(data)
    body = data[len(header) :]
    if not body.endswith(b"\n"):
        raise LOG.refuse(path, "its last line is cut off; copy the whole file")
    if len(_EVENT.findall(body)) != body.count(b"\n"):
        lines = enumerate(body.splitlines(), header.count(b"\n") + 1)
        number, line = next((n, each) for n, each in lines if not _EVENT.fullmatch(each))
        shown = line[:60].decode(errors="replace")
        raise LOG.refuse(path, f"line {number} is no event: {shown!r}; one log to a file")
    columns = {"time_ms": "float64", "kind": "str", "amount": "int64", "a": "float64"}
    columns |= {"b": "float64"}
    log = pd.read_csv(io.BytesIO(body), sep=" ", names=list(columns), dtype=columns)
    backward = np.flatnonzero(np.diff(log["time_ms"]) < 0)
    if backward.size:
        line_number = header.count(b"\n") + int(backward[0]) + 2
        raise LOG.refuse(path, f"time goes backward in line {line_number}; one log to a file")
    is_departure, is_packet = log["kind"] == DEPARTURE, log["kind"] != OPPORTUNITY
    flow = log["b"].where(is_departure, log["a"]).fillna(0).where(is_packet).astype("Int64")
    delay_ms = log["a"].where(is_departure)
    found = log[["kind", "amount"]].assign(delay_ms=delay_ms, flow=flow)
    return found.assign(time_ms=log["time_ms"] - log["time_ms"].iloc[0])


def _figures(log: pd.DataFrame) -> dict[str, float]:
    """Pantheon's figures of a flow, or of all."""
    left, came = select(log, kind=DEPARTURE), select(log, kind=ARRIVAL)
    sent = int(came["amount"].sum())
    delays = left["delay_ms"].to_numpy(dtype=float)
    p50, p95 = np.percentile(delays, [50, 95], method="nearest") if len(delays) else [np.nan] * 2
    return {
        "throughput_mbps": _rate(left),
        "delay_p50_ms": float(p50),
        "delay_p95_ms": float(p95),
        "loss": 1 - int(left["amount"].sum()) / sent if sent else np.nan,
    }


def _rate(events: pd.DataFrame) -> float:
    """Their bytes over first to last of them, in Mbit/s; 0 for one event."""
    span_ms = float(np.ptp(events["time_ms"])) if len(events) else 0.0
    return float(events["amount"].sum()) * 8 / span_ms / 1000 if span_ms else 0.0


# Metadata -------------------------------------------------------------------------------------


def _is_metadata(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"cc_schemes"' in head


def _read_metadata(path: Path, data: bytes) -> list[Measurement]:
    try:
        content = json.loads(data)
    except ValueError as error:
        raise METADATA.refuse(path, f"it is no JSON: {error}; copy the whole file") from None
    schemes = content["cc_schemes"]
    schemes = schemes.split() if isinstance(schemes, str) else schemes
    if not isinstance(schemes, list):
        raise METADATA.refuse(path, f"cc_schemes is {schemes!r}; list the schemes")
    network = Path(str(content.get("uplink_trace") or path.resolve().parent.name)).stem
    found = []
    for log in _logs(path, content, schemes):
        (measurement,) = _read_log(log, read_text(log, 2**31).encode())
        found.append(replace(measurement, network=network))
    if not found:
        raise METADATA.refuse(path, f"there is no log of {', '.join(schemes)} beside it; copy them")
    return found


def _logs(path: Path, content: Mapping[str, Any], schemes: list[str]) -> Iterator[Path]:
    """The logs of all runs, of the tunnel or, with an emulated link, merged with mahimahi's."""
    for scheme in schemes:
        for number in range(1, int(content.get("run_times", 1)) + 1):
            for name in (f"{scheme}_mm_datalink_run{number}", f"{scheme}_datalink_run{number}"):
                log = path.with_name(f"{name}.log")
                if log.is_file():
                    yield log
                    break


LOG = Format("tunnel log of Pantheon", _is_log, _read_log)
METADATA = Format("metadata of Pantheon", _is_metadata, _read_metadata)

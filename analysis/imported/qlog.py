"""qlog of QUIC, as JSON or as a sequence of JSON records (draft-ietf-quic-qlog-main-schema).

Of each trace are taken: packet_sent and packet_received with their lengths; the ranges that ACK
frames acknowledge, of the packets of one number space; packet_lost; and the latest_rtt of
recovery's metrics. Names may have any prefix (`transport:`, `quic:`), times may be relative to the
trace's beginning, to the event before, or absolute, in ms. A connection that receives more than it
sends is measured by what it receives.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from analysis import over_time
from analysis.imported.measurement import (
    Delays,
    Format,
    Gathered,
    Measurement,
    complete,
    read_object,
    series_of,
)

_KEYS = re.compile(rb'"(?:qlog_version|qlog_format|file_schema)"\s*:')
_TAKEN = (
    *("packet_sent", "packet_received", "packet_lost"),
    *("metrics_updated", "recovery_metrics_updated"),
)
_SLACK_S = 0.001  # between the threads of a process
_SPACES = {"initial": "initial", "handshake": "handshake"}  # else the application's


def _recognises(head: bytes) -> bool:
    return head.lstrip().startswith((b"{", b"\x1e")) and bool(_KEYS.search(head))


def _read(path: Path, stream: BinaryIO) -> list[Measurement]:
    with complete(FORMAT, path):
        is_sequence = stream.read(1) == b"\x1e"
        stream.seek(0)
        if is_sequence:
            records = _records(path, stream)
            trace = next(records).get("trace", {})
            return [_measurement(path, trace, records)]
        traces = read_object(FORMAT, path, stream)["traces"]
        found = [_measurement(path, trace, trace["events"]) for trace in traces]
    if not found:
        raise FORMAT.refuse(path, "it has no trace; did a connection run?")
    if len(found) == 1:
        return found
    return [replace(each, number=number) for number, each in enumerate(found, 1)]


def _records(path: Path, stream: BinaryIO) -> Iterator[dict[str, Any]]:
    """The records of a sequence (RFC 7464), one a line, in constant memory."""
    for number, line in enumerate(stream, 1):
        try:
            yield json.loads(line.lstrip(b"\x1e"))
        except (ValueError, RecursionError):
            why = f"line {number} is no JSON; copy the whole file"
            raise FORMAT.refuse(path, why) from None


def _times_s(path: Path, trace: dict[str, Any], events: Iterable[Any]) -> Iterator[Any]:
    """Each event with its time since the first."""
    common = trace.get("common_fields") or {}
    is_delta = (common.get("time_format") or "").startswith(("delta", "relative_to_previous"))
    first = latest = None
    for event in events:
        stamp_s = float(event["time"]) / 1000
        time_s = stamp_s + (latest or 0) if is_delta else stamp_s
        first = time_s if first is None else first
        if latest is not None and time_s < latest - _SLACK_S:
            raise FORMAT.refuse(path, f"time goes backward at {event['time']}; is it one trace?")
        latest = time_s if latest is None else max(time_s, latest)
        yield latest - first, event


def _measurement(path: Path, trace: dict[str, Any], events: Iterable[Any]) -> Measurement:
    up, down, rtts = Gathered(), Gathered(), Delays()
    waiting: dict[tuple[str, int], int] = {}  # the bytes of packets in flight
    count = dict.fromkeys(("sent", "acked", "lost", "received"), 0)
    amount = dict.fromkeys(("acked", "received"), 0)
    time_s = 0.0

    def leaves(kind: str, space: str, number: int) -> None:
        if (bytes_ := waiting.pop((space, number), None)) is None:
            return
        count[kind] += 1
        up.add("queue_packets", time_s, -1)
        if kind == "acked":
            amount["acked"] += bytes_
            up.add("egress_bytes", time_s, bytes_)

    for time_s, event in _times_s(path, trace, events):
        name, data = str(event["name"]).rpartition(":")[2], event["data"]
        if name not in _TAKEN:
            continue
        header = data.get("header") or data  # aioquic loses packets without a header
        kind = str(header.get("packet_type") or data.get("packet_type") or data.get("type", ""))
        space = _SPACES.get(kind.lower(), "application")
        length = int((data.get("raw") or {}).get("length", header.get("packet_size", 0)))
        if name == "packet_sent" and "packet_number" in header:
            waiting[space, int(header["packet_number"])] = length
            count["sent"] += 1
            up.add("ingress_bytes", time_s, length)
            up.add("queue_packets", time_s, 1)
        elif name == "packet_received":
            count["received"] += 1
            amount["received"] += length
            down.add("egress_bytes", time_s, length)
            for frame in data.get("frames") or ():
                for ends in frame.get("acked_ranges") or ():
                    low, high = int(ends[0]), int(ends[-1])
                    if high - low < len(waiting):
                        acked = [(space, number) for number in range(low, high + 1)]
                    else:
                        acked = [each for each in waiting if each[0] == space]
                        acked = [each for each in acked if low <= each[1] <= high]
                    for each in acked:
                        leaves("acked", *each)
        elif name == "packet_lost":
            leaves("lost", space, int(header["packet_number"]))
        elif data.get("latest_rtt"):
            rtts.add(float(data["latest_rtt"]) / 1000)
            up.add("delay_ms", time_s, float(data["latest_rtt"]))
    return _told(path, time_s, (up, down), rtts, count, amount)


def _told(
    path: Path,
    duration_s: float,
    seen: tuple[Gathered, Gathered],
    rtts: Delays,
    count: dict[str, int],
    amount: dict[str, int],
) -> Measurement:
    if not any(amount.values()):
        raise FORMAT.refuse(path, "no packet arrived; did the connection run?")
    if not duration_s:
        raise FORMAT.refuse(path, "all at one time; did it run on?")
    absent = ["capacity, signal and queueing delay: an endpoint does not see the link"]
    is_sender = amount["acked"] >= amount["received"]
    bytes_ = amount["acked" if is_sender else "received"]
    metrics: dict[str, float] = {"throughput_mbps": bytes_ * 8 / duration_s / 1e6}
    flow: dict[str, object] = {"name": "all", **metrics}
    if is_sender:
        metrics |= {"packets_sent": count["sent"], "packets_delivered": count["acked"]}
        metrics["packets_dropped"] = count["lost"]
        flow["loss"] = count["lost"] / count["sent"]
    else:
        metrics["packets_delivered"] = count["received"]
        absent.append("loss, and what was in flight: this end received")
    flow |= rtts.figures("rtt")
    if "rtt_mean_ms" not in flow:
        absent.append("RTT: the trace has no latest_rtt")
    series = series_of(seen[not is_sender].over_time(duration_s), over_time.RTT)
    return Measurement(path, FORMAT.name, duration_s, metrics, (flow,), series, tuple(absent))


FORMAT = Format("qlog", _recognises, _read)

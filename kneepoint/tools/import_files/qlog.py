"""qlog of QUIC, as JSON, NDJSON or a JSON text sequence, since draft-marx-qlog-main-schema-00.

The following events of a trace are used: packet_sent and packet_received with their lengths; the
ranges of ACK frames, per packet number space; packet_lost; and latest_rtt of the recovery metrics.
Names may have any prefix (`transport:`, `quic:`); times (ms) may be relative to the start of the
trace or to the previous event, or absolute. A connection that receives more bytes than it sends is
measured by the received packets.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

from kneepoint.analysis import over_time
from kneepoint.common.json_text import parse_json
from kneepoint.tools.import_files.measurement import (
    Delays,
    Format,
    Gathered,
    Measurement,
    UnreadableError,
    agree,
    complete,
    read_object,
    read_records,
    series_of,
)

_KEYS = re.compile(rb'"(?:qlog_version|qlog_format|file_schema)"\s*:')
_METRICS = ("metrics_updated", "recovery_metrics_updated", "metric_update")
_TAKEN = ("packet_sent", "packet_received", "packet_lost", *_METRICS)
_NAMES = ("name", "event", "event_type")  # the last two in drafts 01 and 00
_TIMES = ("time", "relative_time", "delta_time")
_UNITS_MS = {"ms": 1.0, "us": 0.001}
_SLACK_S = 0.001  # time between threads of a process
_SPACES = {"initial": "initial", "handshake": "handshake"}  # others: application
_RS = b"\x1e"
_HEAD = 65_536


def _recognises(head: bytes) -> bool:
    return head.lstrip().startswith((b"{", _RS)) and bool(_KEYS.search(head))


def _read(_: Path, stream: BinaryIO) -> list[Measurement]:
    with complete():
        separator = _separator(stream.read(_HEAD))
        stream.seek(0)
        if separator is not None:
            records = read_records(stream, separator)
            return [_measurement(next(records).get("trace", {}), records)]
        whole, notes = read_object(stream)
        traces = whole["traces"]
        errors = [str(each["error_description"]) for each in traces if "events" not in each]
        found = [_measurement(each, each["events"]) for each in traces if "events" in each]
    if not found:
        why = f": {errors[0]}" if errors else ""
        raise UnreadableError(f"it has no trace{why}; did a connection run?")
    notes += tuple(f"left out: a trace that is an error: {each}" for each in errors)
    found = [replace(each, notes=each.notes + notes) for each in found]
    if len(found) == 1:
        return found
    return [replace(each, number=number) for number, each in enumerate(found, 1)]


def _separator(head: bytes) -> bytes | None:
    """Returns the separator of RFC 7464 or NDJSON, whose first record has no traces; else None."""
    if head.lstrip().startswith(_RS):
        return _RS
    first, end, _ = head.lstrip().partition(b"\n")
    try:
        return b"\n" if end and "traces" not in parse_json(first) else None
    except ValueError:
        return None


def _events(trace: dict[str, Any], events: Iterable[Any]) -> Iterator[Any]:
    """Yields for each event the time since the first (s), the name, and the data with times in ms.

    Drafts 00 and 01 write events as arrays with fields named by `event_fields`, in `time_units`.
    """
    fields = [str(each).lower() for each in trace.get("event_fields") or ()]
    unit = (trace.get("configuration") or {}).get("time_units", "ms")
    if unit not in _UNITS_MS:
        raise UnreadableError(f"its times are in {unit!r}; known: ms and us")
    common = (trace.get("common_fields") or {}).get("time_format") or ""
    first = latest = None
    for each in events:
        event = dict(zip(fields, each, strict=True)) if fields else each
        kind = _first(event, _TIMES)
        way = "delta" if kind == "delta_time" else event.get("time_format") or common
        stamp_s = float(event[kind]) * _UNITS_MS[unit] / 1000
        is_delta = way.startswith(("delta", "relative_to_previous"))
        time_s = stamp_s + (latest or 0) if is_delta else stamp_s
        first = time_s if first is None else first
        if latest is not None and time_s < latest - _SLACK_S:
            raise UnreadableError(f"time goes backward at {event[kind]}; is it one trace?")
        latest = time_s if latest is None else max(time_s, latest)
        name = str(event[_first(event, _NAMES)])
        yield latest - first, name.rpartition(":")[2].lower(), event["data"], _UNITS_MS[unit]


def _first(event: Mapping[str, Any], names: Iterable[str]) -> str:
    found = next((name for name in names if name in event), None)
    if found is None:
        raise LookupError(f"an event has none of {', '.join(names)}")
    return found


def _measurement(trace: dict[str, Any], events: Iterable[Any]) -> Measurement:
    up, down, rtts, own_rtts = Gathered(), Gathered(), Delays(), Delays()
    waiting: dict[tuple[str, int], tuple[int, float]] = {}  # bytes and time of packets in flight
    count = dict.fromkeys(("sent", "acked", "lost", "received", "unsized"), 0)
    amount = dict.fromkeys(("acked", "received"), 0)
    time_s = 0.0

    def leaves(kind: str, space: str, number: int) -> float | None:
        if (packet := waiting.pop((space, number), None)) is None:
            return None
        bytes_, sent_s = packet
        count[kind] += 1
        up.add("queue_packets", time_s, -1)
        if kind == "acked":
            amount["acked"] += bytes_
            up.add("egress_bytes", time_s, bytes_)
        return sent_s

    for time_s, name, data, unit_ms in _events(trace, events):
        if name not in _TAKEN:
            continue
        header = data.get("header") or data  # aioquic loses packets without a header
        kind = str(header.get("packet_type") or data.get("packet_type") or data.get("type", ""))
        space = _SPACES.get(kind.lower(), "application")
        length = int((data.get("raw") or {}).get("length", header.get("packet_size", 0)))
        if length < 0:
            raise UnreadableError(f"a packet has {length} bytes; write its length")
        if name == "packet_sent" and "packet_number" in header:
            number = int(header["packet_number"])
            if (
                space == "application" and (space, number) in waiting
            ):  # numbers of other spaces may restart
                why = f"packet {number} is sent twice; is it one connection, on one path?"
                raise UnreadableError(why)
            waiting[space, number] = length, time_s
            count["sent"] += 1
            count["unsized"] += not length
            up.add("ingress_bytes", time_s, length)
            up.add("queue_packets", time_s, 1)
        elif name == "packet_received":
            count["received"] += 1
            count["unsized"] += not length
            amount["received"] += length
            down.add("egress_bytes", time_s, length)
            for frame in data.get("frames") or ():
                ranges = [(int(ends[0]), int(ends[-1])) for ends in frame.get("acked_ranges") or ()]
                for low, high in sorted(ranges, reverse=True):
                    if high - low < len(waiting):
                        acked = [(space, number) for number in range(high, low - 1, -1)]
                    else:
                        of_space = (each for each in waiting if each[0] == space)
                        acked = sorted(each for each in of_space if low <= each[1] <= high)[::-1]
                    left = [leaves("acked", *each) for each in acked]
                    if (low, high) == max(ranges) and left and left[0] is not None:
                        own_rtts.add(time_s - left[0])  # RFC 9002, section 5.1
        elif name == "packet_lost":
            leaves("lost", space, int(header["packet_number"]))
        elif name in _METRICS and data.get("latest_rtt"):
            rtt_ms = float(data["latest_rtt"]) * unit_ms
            rtts.add(rtt_ms / 1000)
            up.add("delay_ms", time_s, rtt_ms)
    _confirm(rtts, own_rtts)
    return _told(time_s, (up, down), rtts, count, amount)


def _confirm(rtts: Delays, own: Delays) -> None:
    """Refuses RTTs that contradict the times of packets and their acknowledgments."""
    told_ms, seen_ms = (each.figures("rtt").get("rtt_p50_ms") for each in (rtts, own))
    if told_ms is None or seen_ms is None or max(told_ms, seen_ms) < 1:  # times may be whole ms
        return
    if not agree(told_ms, seen_ms, 30):
        raise UnreadableError(
            f"latest_rtt says {told_ms:g} ms, and the times of packets and their acknowledgments "
            f"{seen_ms:g} ms (medians); write all in ms",
        )


def _told(
    duration_s: float,
    seen: tuple[Gathered, Gathered],
    rtts: Delays,
    count: dict[str, int],
    amount: dict[str, int],
) -> Measurement:
    if not any(amount.values()):
        arrived = count["acked"] or count["received"]
        why = "no packet has a length; log raw.length"
        raise UnreadableError(why if arrived else "no packet arrived; did the connection run?")
    if not duration_s:
        raise UnreadableError("its duration is 0; did the connection run?")
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
        absent.append("loss and bytes in flight: this endpoint received")
    flow |= rtts.figures("rtt")
    notes = (f"{count['unsized']} packets without a length count as empty",)
    if "rtt_mean_ms" not in flow:
        absent.append("RTT: the trace has no latest_rtt")
    series = series_of(seen[not is_sender].over_time(duration_s), over_time.RTT)
    parts = (duration_s, metrics, (flow,), series, tuple(absent))
    return Measurement(*parts, notes=notes if count["unsized"] else ())


FORMAT = Format("qlog", _recognises, _read)

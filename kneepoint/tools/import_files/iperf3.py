"""iperf3's JSON (`iperf3 -J` or `--json-stream`): means, and rates and RTTs of intervals.

Keys are as in iperf3's iperf_api.c from 3.1 to 3.21. Before 3.10, `--bidir` prints the sums of both
directions under one key, and UDP has a single sum, of sent bytes. Rates count payload.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kneepoint.analysis import over_time
from kneepoint.analysis.link_log import percentile
from kneepoint.common.json_text import decoder
from kneepoint.tools.import_files.measurement import (
    Format,
    Measurement,
    UnreadableError,
    agree,
    complete,
    read_object,
    read_records,
)

_VERSION = re.compile(rb'"version":\s*"iperf 3')
_EVENT = re.compile(rb'\s*\{\s*"event"')
_BACK = "_bidir_reverse"
_READER = decoder(
    {name: name + _BACK for name in ("sum", "sum_sent", "sum_received")}
    | {
        name: name for name in ("sock_bufsize", "sndbuf_actual", "rcvbuf_actual")
    }  # keys of each stream
    | {"target_bitrate": "target_bitrate"}  # a key of servers
)


def _recognises(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and bool(_VERSION.search(head))


def _read(_: Path, stream: BinaryIO) -> list[Measurement]:
    with complete():
        is_stream = _EVENT.match(stream.read(1024))
        stream.seek(0)
        whole = _of_stream(stream) if is_stream else read_object(stream, _READER)
        return [_measurement(*whole)]


def _of_stream(stream: BinaryIO) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Returns the object that the events of a stream make together, and notes."""
    found: dict[str, Any] = {"intervals": []}
    records = read_records(stream, reader=_READER)
    for record in records:
        event, data = record["event"], record.get("data")
        if event == "interval":
            found["intervals"].append(data)
        elif event in found:
            raise UnreadableError(f"a second {event} comes before its end; copy each run")
        else:
            found[event] = data
        if event in ("end", "error"):
            break
    if not {"end", "error"} & set(found):
        raise UnreadableError("its end is missing; copy the whole file")
    with suppress(UnreadableError):  # --json-stream-full-output: an object on many lines
        if not any(records):
            return found, ()
    return found, ("left out: content after the stream's end",)


_LATER_S = 0.5


@dataclass(frozen=True)
class _Sums:
    """Totals of all streams of one direction, from the end of the file."""

    mbps: float
    seconds: float
    told: Mapping[str, object]  # of FLOW_METRICS
    counts: Mapping[str, int]  # of packets
    is_sender: bool | None
    knows_loss: bool
    absent: str | None = None


def _measurement(found: dict[str, Any], notes: tuple[str, ...]) -> Measurement:
    if "error" in found:
        raise UnreadableError(f"iperf3 failed: {found['error']}; run it again")
    end = found["end"]
    every = [each for each in found["intervals"] if not each["sum"]["omitted"]]
    begins = [each["sum"]["start"] for each in every]
    if begins != sorted(begins):
        raise UnreadableError("its intervals run backward; is it one test?")
    start, has_back = found["start"], any(key.endswith(_BACK) for key in end)
    sums = _sums(start, end, "")
    _check_intervals(end, every)
    absent = ["capacity, signal and queueing delay: iperf3 does not see the link"]
    absent += [sums.absent] if sums.absent else []
    streams = [
        (ends, _rtts_ms(every, place))
        for place, ends in enumerate(end["streams"])
        if not has_back or _of_sender(ends).get("sender") == sums.is_sender
    ]
    rtts_ms = [measured for _, measured in streams]
    overall = {"name": "all", "throughput_mbps": sums.mbps, **sums.told, **_rtt([*chain(*rtts_ms)])}
    flows = [overall, *(_flow(n, *each, sums) for n, each in enumerate(streams, 1))]
    if len(every) < len(found["intervals"]):  # mean_rtt includes the omitted seconds
        for flow, measured in zip(flows[1:], rtts_ms, strict=True):
            flow |= _rtt(measured)
    if has_back:
        back = _sums(start, end, _BACK)
        absent += [f"{back.absent}, of reverse"] if back.absent else []
        flows.append({"name": "reverse", "throughput_mbps": back.mbps, **back.told})
        flows[-1]["controller"] = str(end.get("sender_tcp_congestion", ""))
        way = "received" if _is_server(start) else "sent"
        notes += (f"of the two directions, the figures describe the data that this end {way}",)
    series = {
        over_time.RATES[-1]: (begins, [each["sum"]["bits_per_second"] / 1e6 for each in every])
    }
    if any(rtts_ms):
        ends_s = [each["sum"]["end"] for each in every]
        timed = [(t, rtt) for stream in rtts_ms for t, rtt in zip(ends_s, stream, strict=False)]
        series[over_time.RTT] = ([t for t, _ in timed], [rtt for _, rtt in timed])
    else:
        absent.append("RTT: only the sender of a TCP test knows it")
    return Measurement(
        sums.seconds,
        {"throughput_mbps": sums.mbps, **sums.counts},
        tuple(flows),
        over_time.long(series),
        tuple(absent),
        # With both directions, the end names the sender of the last direction.
        str(end.get(f"{'receiver' if has_back else 'sender'}_tcp_congestion", "")),
        notes=notes,
    )


def _is_server(start: Mapping[str, Any]) -> bool:
    return "accepted_connection" in start


def _sums(start: Mapping[str, Any], end: Mapping[str, Any], suffix: str) -> _Sums:
    test = start["test_start"]
    if f"sum_sent{suffix}" in end:
        sent, received = end[f"sum_sent{suffix}"], end[f"sum_received{suffix}"]
        own = (
            received if received["bytes"] else sent
        )  # 0: a short run, or no report of the other end
        why = None if own is received else "bytes received: the throughput counts sent bytes"
    else:
        sent = received = own = end[f"sum{suffix}"]
        why = "bytes received: the throughput counts sent bytes, less the share of lost packets"
    if not own["bytes"]:
        why = "nothing was sent; did the test run? Of UDP before 3.10, import the client's file"
        raise UnreadableError(why)
    mbps, is_sender = _mbps(own), end.get(f"sum{suffix}", sent).get("sender")
    if test["protocol"] == "TCP":
        told = {"retransmissions": sent.get("retransmits")}
        return _Sums(mbps, own["seconds"], told, {}, is_sender, False, why)
    # A sending server does not receive the client's results.
    if own is not received or (_is_server(start) and own.get("sender", test.get("reverse"))):
        why = "bytes received and loss: the throughput counts sent bytes"
        counts = {"packets_sent": own["packets"]}
        return _Sums(mbps, own["seconds"], {}, counts, is_sender, False, why)
    loss = _loss(received)
    counts = {"packets_sent": received["packets"]}
    counts["packets_delivered"] = received["packets"] - received["lost_packets"]
    mbps *= 1 - loss if sent is received else 1
    return _Sums(mbps, own["seconds"], {"loss": loss}, counts, is_sender, True, why)


def _loss(of: Mapping[str, Any]) -> float:
    return float(of["lost_packets"] / max(of["packets"], 1))


def _of_sender(ends: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = ends["sender"] if "sender" in ends else ends["udp"]
    return found


def _flow(
    number: int, ends: Mapping[str, Any], rtts_ms: list[float], sums: _Sums
) -> dict[str, Any]:
    sender = _of_sender(ends)
    own = ends.get("receiver") or sender
    own = own if own["bytes"] else sender
    flow: dict[str, Any] = {"name": str(number), **_rtt(rtts_ms)}
    if sums.knows_loss:
        flow["loss"] = _loss(sender)
    if own["bytes"] or "udp" not in ends:  # a UDP flow without bytes is unknown
        flow["throughput_mbps"] = _mbps(own) * (1 - flow.get("loss", 0))
    if "retransmits" in sender:
        flow["retransmissions"] = sender["retransmits"]
    if mean_us := sender.get("mean_rtt"):
        if rtts_ms and not agree(mean_us / 1000, flow["rtt_mean_ms"], 30):
            why = f"mean_rtt {mean_us} contradicts the RTTs of its intervals; are all in us?"
            raise UnreadableError(why)
        flow["rtt_mean_ms"] = mean_us / 1000
    return flow


def _mbps(of: Mapping[str, Any]) -> float:
    """Returns the rate, checked against bytes and seconds; the other end may stop a bit later."""
    rate, seconds = float(of["bits_per_second"]), float(of["seconds"])
    implied_s = of["bytes"] * 8 / rate if rate > 0 else 0
    is_close = abs(implied_s - seconds) < _LATER_S and bool(rate) == bool(of["bytes"])
    if seconds > 0 and not (is_close or agree(rate, of["bytes"] * 8 / seconds, 1.5)):
        why = f"{of['bytes']} bytes in {seconds:g} s are not {rate:g} bits_per_second; correct it"
        raise UnreadableError(why)
    return rate / 1e6


def _check_intervals(end: Mapping[str, Any], every: list[dict[str, Any]]) -> None:
    """Requires that the bytes of all intervals equal the bytes sent or received."""
    total = sum(each["sum"]["bytes"] for each in every)
    ends = [end[key]["bytes"] for key in ("sum", "sum_sent", "sum_received") if key in end]
    for each in every:
        _mbps(each["sum"])
    if every and not any(agree(total, bytes_, 2) for bytes_ in ends):
        why = f"its intervals have {total} bytes, its end {max(ends)}; copy the whole file"
        raise UnreadableError(why)


def _rtts_ms(intervals: list[dict[str, Any]], place: int) -> list[float]:
    """Returns the RTTs of a stream at the ends of intervals, if this end measures them."""
    found = [each["streams"][place].get("rtt", 0) / 1000 for each in intervals]
    return found if any(found) else []


def _rtt(rtts_ms: list[float]) -> dict[str, Any]:
    if not rtts_ms:
        return {}
    return {"rtt_mean_ms": float(np.mean(rtts_ms)), "rtt_p95_ms": percentile(rtts_ms, 0.95)}


FORMAT = Format("JSON of iperf3", _recognises, _read)

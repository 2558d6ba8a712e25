"""iperf3's JSON (`iperf3 -J`): the means of its end, the rates and RTTs of its intervals.

Its keys are those of iperf3's iperf_api.c (JSON_Append), 3.1 to 3.20. Rates are of payload.
"""

import re
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from analysis import over_time
from analysis.imported.measurement import Format, Measurement, complete, read_object
from analysis.link_log import percentile

_VERSION = re.compile(rb'"version":\s*"iperf 3')


def _recognises(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and bool(_VERSION.search(head))


def _read(path: Path, stream: BinaryIO) -> list[Measurement]:
    with complete(FORMAT, path):
        return [_measurement(path, read_object(FORMAT, path, stream))]


def _measurement(path: Path, found: dict[str, Any]) -> Measurement:
    if "error" in found:
        raise FORMAT.refuse(path, f"iperf3 failed: {found['error']}; run it again")
    if "event" in found:
        raise FORMAT.refuse(path, "it is a stream; write one object: iperf3 -J")
    end, start = found["end"], found["start"]["test_start"]
    every = [each for each in found["intervals"] if not each["sum"]["omitted"]]
    begins = [each["sum"]["start"] for each in every]
    if begins != sorted(begins):
        raise FORMAT.refuse(path, "its intervals run backward; is it one test?")
    sent, received = end["sum_sent"], end["sum_received"]
    if not sent["bytes"] and not received["bytes"]:
        raise FORMAT.refuse(path, "nothing was sent; did the test run?")
    absent = ["capacity, signal and queueing delay: iperf3 does not see the link"]
    counted = received
    if not received["bytes"]:  # a run that is too short, or without the other end's results
        counted = sent
        absent.append("what arrived: the throughput is what was sent")
    if any(key.endswith("bidir_reverse") for key in end):
        absent.append("the flows of the reverse direction: import a run of each direction")
    metrics = {"throughput_mbps": counted["bits_per_second"] / 1e6}
    rtts_ms = [_rtts_ms(every, place) for place in range(len(end["streams"]))]
    together: dict[str, object] = {"throughput_mbps": metrics["throughput_mbps"]}
    if start["protocol"] == "TCP":
        together["retransmissions"] = sent.get("retransmits")
    else:
        metrics["packets_sent"] = received["packets"]
        metrics["packets_delivered"] = received["packets"] - received["lost_packets"]
        together["loss"] = received["lost_packets"] / max(received["packets"], 1)
    flows = [{"name": "all", **together, **_rtt([*chain(*rtts_ms)])}]
    for number, (ends, measured) in enumerate(zip(end["streams"], rtts_ms, strict=True), 1):
        sender = ends.get("sender") or ends["udp"]
        own = ends.get("receiver") or sender
        own = own if own["bytes"] else sender
        flow = {"throughput_mbps": own["bits_per_second"] / 1e6} | _rtt(measured)
        if "retransmits" in sender:
            flow["retransmissions"] = sender["retransmits"]
        if sender.get("mean_rtt"):
            flow["rtt_mean_ms"] = sender["mean_rtt"] / 1000
        flows.append({"name": str(number), **flow})
    ends_s = [each["sum"]["end"] for each in every]
    rates = [each["sum"]["bits_per_second"] / 1e6 for each in every]
    series = {over_time.RATES[-1]: (begins, rates)}
    if any(rtts_ms):
        timed = [(t, rtt) for stream in rtts_ms for t, rtt in zip(ends_s, stream, strict=False)]
        series[over_time.RTT] = ([t for t, _ in timed], [rtt for _, rtt in timed])
    else:
        absent.append("RTT: only the sender of a TCP test knows it")
    long = over_time.long(series)
    told = (path, FORMAT.name, counted["seconds"], metrics, tuple(flows), long, tuple(absent))
    return Measurement(*told, str(end.get("sender_tcp_congestion", "")))


def _rtts_ms(intervals: list[dict[str, Any]], place: int) -> list[float]:
    """The RTT of a stream at the end of each interval, if this end knows it."""
    found = [each["streams"][place].get("rtt", 0) / 1000 for each in intervals]
    return found if any(found) else []


def _rtt(rtts_ms: list[float]) -> dict[str, object]:
    if not rtts_ms:
        return {}
    return {"rtt_mean_ms": float(np.mean(rtts_ms)), "rtt_p95_ms": percentile(rtts_ms, 0.95)}


FORMAT = Format("JSON of iperf3", _recognises, _read)

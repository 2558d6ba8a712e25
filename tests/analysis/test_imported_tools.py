"""Files that the tools made: each figure is the tool's own, whatever its version.

`files` has what iperf3 3.1.3 to 3.21 and aioquic printed, between two namespaces of one host;
`bidir` sent through token buckets of 21 and 5.2 Mbit/s, and `udp` 30 Mbit/s through the former.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.imported.measurement import Measurement
from analysis.imported.read import read_measurements

FILES = Path(__file__).with_name("files")


def read(name: str) -> Measurement:
    (found,) = read_measurements([FILES / name])
    return found


# iperf3 ---------------------------------------------------------------------------------------

Pairs = list[tuple[str, Any]]


def printed(name: str) -> Pairs:
    """What iperf3 printed, with keys that stand twice; of a stream, the data of its last event."""
    lines = (FILES / name).read_text()
    text = lines.splitlines()[-1] if "stream" in name else lines
    pairs: Pairs = json.loads(text, object_pairs_hook=list)
    end: Pairs = value(pairs, "data" if "stream" in name else "end")
    return end


def value(pairs: Pairs, key: str, place: int = 0) -> Any:
    return [each for name, each in pairs if name == key][place]


def mbps(of: Pairs) -> float:
    return float(value(of, "bits_per_second")) / 1e6


TCP = ("3.1.3-tcp", "3.12-parallel", "3.21-parallel", "3.21-stream")


@pytest.mark.parametrize("version", TCP)
def test_tcp_has_the_figures_that_iperf3_printed(version: str) -> None:
    found, end = read(f"iperf3-{version}.json"), printed(f"iperf3-{version}.json")
    assert found.metrics == {"throughput_mbps": mbps(value(end, "sum_received"))}
    assert found.flows[0]["retransmissions"] == value(value(end, "sum_sent"), "retransmits")
    streams = value(end, "streams")
    assert len(found.flows) == 1 + len(streams)
    for flow, stream in zip(found.flows[1:], streams, strict=True):
        assert flow["throughput_mbps"] == mbps(value(stream, "receiver"))
        mean_us = dict(value(stream, "sender")).get("mean_rtt")
        assert mean_us is None or flow["rtt_mean_ms"] == mean_us / 1000
    assert found.notes == ()


@pytest.mark.parametrize("version", ["3.7", "3.9", "3.21"])
def test_both_directions_have_the_figures_that_iperf3_printed(version: str) -> None:
    found, end = read(f"iperf3-{version}-bidir.json"), printed(f"iperf3-{version}-bidir.json")
    names = ("sum_received", "sum_received_bidir_reverse")
    sums = [value(end, names[0]), value(end, names[version == "3.21"], version != "3.21")]
    forward, back = map(mbps, sums)
    assert forward > 3 * back > 10
    flows = {flow["name"]: flow for flow in found.flows}
    assert found.metrics == {"throughput_mbps": forward}
    assert flows["all"]["throughput_mbps"] == flows["1"]["throughput_mbps"] == forward
    assert flows["reverse"]["throughput_mbps"] == back
    sent = [value(each, "sender") for each in value(end, "streams")]
    (ours,) = (each for each in sent if value(each, "sender"))
    assert flows["1"]["rtt_mean_ms"] == value(ours, "mean_rtt") / 1000
    assert len(flows) == 3 and any("directions" in note for note in found.notes)


def test_udp_has_the_figures_that_iperf3_printed() -> None:
    for version in ("3.21-udp", "3.21-udp-stream"):
        received = value(printed(f"iperf3-{version}.json"), "sum_received")
        found = read(f"iperf3-{version}.json")
        assert found.metrics["throughput_mbps"] == mbps(received)
        assert found.metrics["packets_sent"] == value(received, "packets")
        lost = value(received, "lost_packets")
        assert found.flows[0]["loss"] == lost / value(received, "packets")
        assert found.metrics["packets_delivered"] == value(received, "packets") - lost


@pytest.mark.parametrize("version", ["3.1.3-udp", "3.9-udp", "3.9-udp-bidir"])
def test_udp_before_3_10_has_the_figures_of_its_single_sum(version: str) -> None:
    found, total = read(f"iperf3-{version}.json"), value(printed(f"iperf3-{version}.json"), "sum")
    share = 1 - value(total, "lost_packets") / value(total, "packets")
    assert found.metrics["throughput_mbps"] == pytest.approx(mbps(total) * share)
    assert found.metrics["packets_sent"] == value(total, "packets")
    assert found.duration_s == value(total, "seconds")
    assert any("sent" in each for each in found.absent)
    if "bidir" in version:
        second = value(printed(f"iperf3-{version}.json"), "sum", 1)
        assert found.flows[-1]["throughput_mbps"] == pytest.approx(mbps(second))


# qlog -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.8.8", "1.7.2"])  # of draft 01, in us, and of 0.3
def test_a_qlog_of_aioquic_has_the_figures_of_its_events(version: str) -> None:
    name = f"aioquic-{version}.qlog"
    found = read(name)
    (trace,) = json.loads((FILES / name).read_text())["traces"]
    events = trace["events"]
    if "event_fields" in trace:
        events = [(int(t) / 1000, event, data) for t, _, event, data in events]
    else:
        events = [(each["time"], each["name"].split(":")[1], each["data"]) for each in events]
    sent, acked = {}, set()
    for _, event, data in events:
        space = data.get("packet_type") or data.get("header", {}).get("packet_type")
        if event == "packet_sent":
            header = data["header"]
            size = header["packet_size"] if "packet_size" in header else data["raw"]["length"]
            sent[space, int(header["packet_number"])] = size
        for frame in data.get("frames", ()) if event == "packet_received" else ():
            for low, high in frame.get("acked_ranges", ()):
                acked |= {(space, n) for n in range(int(low), int(high) + 1)} & set(sent)
    unit = 1000 if "event_fields" in trace else 1
    rtts_ms = [data["latest_rtt"] / unit for _, _, data in events if "latest_rtt" in data]
    assert found.duration_s * 1000 == pytest.approx(events[-1][0] - events[0][0])
    assert found.metrics["packets_sent"] == len(sent) > 10
    assert found.metrics["packets_delivered"] == len(acked) > 10
    bits = 8 * sum(sent[each] for each in acked)
    assert found.metrics["throughput_mbps"] == pytest.approx(bits / found.duration_s / 1e6)
    assert found.flows[0]["rtt_mean_ms"] == pytest.approx(np.mean(rtts_ms), rel=1e-3)
    assert 1 < np.mean(rtts_ms) < 100

"""Files made by the tools: each figure equals the tool's own, in every version.

`files` has the output of iperf3 3.1.3 to 3.21 and of aioquic, between two namespaces of one host;
`bidir` sent through token buckets of 21 and 5.2 Mbit/s, and `udp` sent 30 Mbit/s through the first
bucket.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.tools.import_files.measurement import Measurement
from kneepoint.tools.import_files.read import read_measurements
from tests.tools.import_files.test_imported import quic

FILES = Path(__file__).with_name("files")


def read(name: str) -> Measurement:
    (found,) = read_measurements([FILES / name])
    return found


# iperf3 ---------------------------------------------------------------------------------------

Pairs = list[tuple[str, Any]]


def printed(name: str) -> Pairs:
    """Returns the output of iperf3, with repeated keys; for a stream, the data of its last
    event."""
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


def test_a_server_tells_what_it_received_and_nothing_of_its_client() -> None:
    found, end = read("iperf3-3.21-bidir-server.json"), printed("iperf3-3.21-bidir-server.json")
    flows = {flow["name"]: flow for flow in found.flows}
    assert found.metrics == {"throughput_mbps": mbps(value(end, "sum_received"))}
    assert flows["reverse"]["throughput_mbps"] == mbps(value(end, "sum_sent_bidir_reverse"))
    assert (found.controller, flows["reverse"]["controller"]) == ("", "reno")
    assert any("received" in each for each in found.notes)

    found = read("iperf3-3.21-udp-bidir-server.json")
    received = value(printed("iperf3-3.21-udp-bidir-server.json"), "sum_received")
    assert found.metrics["throughput_mbps"] == mbps(received)
    flows = {flow["name"]: flow for flow in found.flows}
    assert flows["1"]["loss"] == 0 and "throughput_mbps" not in flows["1"]
    assert "loss" not in flows["reverse"] and "packets_delivered" in found.metrics

    found = read("iperf3-3.9-udp-reverse-server.json")
    total = value(printed("iperf3-3.9-udp-reverse-server.json"), "sum")
    assert found.metrics == {
        "throughput_mbps": mbps(total),
        "packets_sent": value(total, "packets"),
    }
    assert all("loss" not in flow for flow in found.flows)


def test_an_object_may_follow_a_stream_and_a_server_repeats_a_key() -> None:
    found = read("iperf3-3.21-stream-server.json")
    assert found.metrics["throughput_mbps"] == pytest.approx(5.24, abs=0.02)
    assert any("left out" in each for each in found.notes)


def test_each_direction_has_its_senders_controller(tmp_path: Path) -> None:
    text = (FILES / "iperf3-3.21-bidir.json").read_text()
    told = re.sub(r'("sender_tcp_congestion": ?)"\w+"', r'\1"other"', text)
    assert told != text
    (tmp_path / "a.json").write_text(told)
    (found,) = read_measurements([tmp_path / "a.json"])
    controllers = {flow["name"]: flow["controller"] for flow in found.flows}
    assert controllers == {"all": "bbr", "1": "bbr", "reverse": "other"}


# qlog -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["0.8.8", "1.7.2"])  # draft 01, in us, and version 0.3
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


# qlog in each draft ---------------------------------------------------------------------------

EVENTS, FIGURES = quic(3)


def draft_00() -> dict[str, Any]:
    """Returns arrays in capitals, with the time since the previous event, in microseconds."""
    times = [event["time"] for event in EVENTS]
    deltas = [1000 * (time - before) for before, time in zip([0, *times], times, strict=False)]
    return arrays("draft-00", str.upper, "delta_time", deltas, ("EVENT_TYPE", "DATA"))


def draft_01(unit: str = "us") -> dict[str, Any]:
    """Returns arrays, with the time since the beginning."""
    scale = {"us": 1000, "ms": 1}[unit]
    times = [scale * event["time"] for event in EVENTS]
    return arrays("draft-01", str.lower, "relative_time", times, ("event", "data"), unit)


def arrays(
    version: str,
    named: Callable[[str], str],
    time: str,
    times: list[float],
    fields: tuple[str, str],
    unit: str = "us",
) -> dict[str, Any]:
    events = []
    for at, event in zip(times, EVENTS, strict=True):
        name = event["name"].split(":")[1].replace("recovery_", "")
        data = json.loads(json.dumps(event["data"]))
        if version == "draft-00":
            name = name.replace("metrics_updated", "metric_update")
        if "latest_rtt" in data:
            data["latest_rtt"] *= 1000 if unit == "us" else 1
        if "raw" in data:  # the size was in the header
            data.setdefault("header", {})["packet_size"] = data.pop("raw")["length"]
        events.append([at, "transport", named(name), data])
    trace = {
        **{"vantage_point": {"type": "client"}, "configuration": {"time_units": unit}},
        **{"event_fields": [time, "category", *fields], "events": events},
    }
    return {"qlog_version": version, "traces": [trace]}


def records(**header: object) -> list[dict[str, Any]]:
    trace = {"vantage_point": {"type": "client"}, "common_fields": {"time_format": "relative"}}
    return [{"qlog_version": "0.3", **header, "trace": trace}, *EVENTS]


def sequence(separator: str, end: str, indent: int | None = None) -> str:
    return "".join(
        f"{separator}{json.dumps(each, indent=indent)}{end}"
        for each in records(qlog_format="JSON-SEQ")
    )


def whole(version: str, **more: Any) -> dict[str, Any]:
    return {"qlog_version": version, "traces": [{"events": EVENTS}], **more}


TRACE_ERROR = {"error_description": "File could not be found", "uri": "/srv/latest.qlog"}
EPOCH = {"common_fields": {"time_format": "relative_to_epoch"}, "events": EVENTS}
DRAFTS = {
    "draft-00": json.dumps(draft_00()),
    "draft-01": json.dumps(draft_01()),
    "draft-01 in ms": json.dumps(draft_01("ms"), indent=2),
    "draft-02": json.dumps(whole("draft-02", qlog_format="JSON")),
    "draft-02, NDJSON": "\n".join(map(json.dumps, records(qlog_format="NDJSON"))),
    "NDJSON, blank lines": "\n\n".join(map(json.dumps, records(qlog_format="NDJSON"))) + "\n\n",
    "0.3": json.dumps(whole("0.3")),
    "sequence": sequence("\x1e", "\n"),
    "sequence without line feeds": sequence("\x1e", ""),
    "sequence, pretty": sequence("\x1e", "\n", 2),
    "sequence, blank lines": sequence("\n\x1e", "\n\n"),
    "sequence, a trailing separator": sequence("\x1e", "\n") + "\x1e",
    "0.4": json.dumps({"file_schema": "urn:ietf:params:qlog:file:contained", "traces": [EPOCH]}),
    "a trace that is an error": json.dumps(whole("0.3") | {"traces": [TRACE_ERROR, EPOCH]}),
}


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_qlog_of_each_draft_has_the_figures_of_its_events(tmp_path: Path, draft: str) -> None:
    path = tmp_path / "a.qlog"
    path.write_text(DRAFTS[draft])
    (found,) = read_measurements([path])
    assert found.metrics["throughput_mbps"] == pytest.approx(FIGURES["throughput_mbps"], rel=1e-6)
    assert found.metrics["packets_dropped"] == FIGURES["lost"]
    assert found.flows[0]["rtt_p95_ms"] == pytest.approx(FIGURES["rtt_p95_ms"])
    assert [("could not be found" in note) for note in found.notes] == [True] * ("error" in draft)


def test_a_qlog_of_errors_alone_says_them(tmp_path: Path) -> None:
    path = tmp_path / "a.qlog"
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [TRACE_ERROR]}))
    with pytest.raises(KneepointError, match="could not be found"):
        read_measurements([path])


@pytest.mark.parametrize("scaled", ["latest_rtt", "time"])
@pytest.mark.parametrize("factor", [1000, 0.001])
def test_rtts_that_the_times_contradict_are_refused(
    tmp_path: Path, scaled: str, factor: float
) -> None:
    """Draft 01 specified microseconds; some implementations write seconds."""
    events = json.loads(json.dumps(EVENTS))
    for event in events:
        of = event if scaled == "time" else event["data"]
        if isinstance(of, dict) and scaled in of:
            of[scaled] *= factor
    path = tmp_path / "a.qlog"
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [{"events": events}]}))
    with pytest.raises(KneepointError, match="latest_rtt"):
        read_measurements([path])

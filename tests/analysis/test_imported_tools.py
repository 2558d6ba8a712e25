"""Files of iperf3, flent, tcpdump and QUIC: the figures that they print, and what is refused."""

import calendar
import datetime
import gzip
import io
import json
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import dpkt
import numpy as np
import pytest
from flent import resultset

from analysis import over_time
from analysis.imported.measurement import Measurement
from analysis.imported.read import FORMATS, read_measurements
from common.errors import KneepointError

FILES = range(20)


def read(path: Path, content: str | bytes) -> Measurement:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    (found,) = read_measurements([path])
    return found


# iperf3 ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where a server of iperf3 listens."""
    if not shutil.which("iperf3"):
        pytest.skip("NOT TESTED against iperf3: it is missing (Debian: apt-get install iperf3)")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    command = ["iperf3", "-s", "-p", str(number)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        for _ in range(100):
            time.sleep(0.1)
            with suppress(OSError), socket.create_connection(("127.0.0.1", number)):
                break
        yield number
        server.kill()


def iperf3(port: int, *words: str) -> dict[str, Any]:
    """What a test prints, once the server is free."""
    for _ in range(20):
        command = ["iperf3", "-c", "127.0.0.1", "-p", str(port), "-J", *words]
        found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True).stdout)
        if "error" not in found:
            return found
        time.sleep(0.2)
    raise AssertionError(found["error"])


WAYS = ((), ("-R",), ("-P", "3"), ("-u",))


@pytest.mark.parametrize("seed", FILES)
def test_iperf3_has_its_own_figures(tmp_path: Path, port: int, seed: int) -> None:
    way = WAYS[seed % len(WAYS)]
    printed = iperf3(port, "-n", "1M", "-b", f"{20 + seed}M", "-i", "0.1", *way)
    found = read(tmp_path / "cubic-1.json", json.dumps(printed, indent="\t"))
    end = printed["end"]
    own = end["sum_received"] if end["sum_received"]["bytes"] else end["sum_sent"]
    assert f"{found.metrics['throughput_mbps'] * 1e6:.6f}" == f"{own['bits_per_second']:.6f}"
    assert found.duration_s == own["seconds"]
    assert len(found.flows) == 1 + len(end["streams"])
    if "-u" in way:
        assert found.metrics["packets_sent"] == own["packets"]
        assert found.flows[0]["loss"] == own["lost_packets"] / own["packets"]
        return
    assert found.controller == end["sender_tcp_congestion"]
    assert found.flows[0]["retransmissions"] == end["sum_sent"]["retransmits"]
    for flow, stream in zip(found.flows[1:], end["streams"], strict=True):
        rtt_us = stream["sender"]["mean_rtt"]
        assert flow.get("rtt_mean_ms", 0) == rtt_us / 1000
        assert any(each.startswith("RTT") for each in found.absent) == (not rtt_us)
    of = found.series[found.series["quantity"] == over_time.RATES[-1]]
    assert len(of) == len(printed["intervals"])


IPERF3: dict[str, Any] = {
    "start": {"version": "iperf 3.12", "test_start": {"protocol": "TCP"}},
    "intervals": [
        {
            "streams": [{"rtt": 2000}],
            "sum": {"start": k, "end": k + 1, "bits_per_second": 8e6, "omitted": k == 0},
        }
        for k in range(4)
    ],
    "end": {
        "streams": [{"sender": {"bits_per_second": 9e6, "bytes": 9}}],
        "sum_sent": {"bytes": 4, "bits_per_second": 9e6, "seconds": 3, "retransmits": 2},
        "sum_received": {"bytes": 3, "bits_per_second": 8e6, "seconds": 3},
        "sender_tcp_congestion": "bbr",
    },
}


def test_what_iperf3_omits_is_left_out(tmp_path: Path) -> None:
    found = read(tmp_path / "a.json", json.dumps(IPERF3))
    assert found.controller == "bbr" and found.flows[0]["rtt_p95_ms"] == 2
    assert found.series.groupby("quantity").size().to_dict() == {"egress_mbps": 3, "rtt_ms": 3}


# flent ----------------------------------------------------------------------------------------


SERIES = ("TCP upload::1", "TCP upload::2", "Ping (ms) ICMP")


def flent_file(path: Path, seed: int) -> None:
    """A test of two flows and a ping, as flent writes it."""
    drawn = random.Random(seed)
    at = datetime.datetime(2026, 1, 2, 3, 4, 5)
    names = {"NAME": "tcp_2up", "TITLE": "a test", "TIME": at, "T0": at, "TOTAL_LENGTH": 12}
    test = resultset.ResultSet(**names, SERIES_META={})
    start_s = calendar.timegm(at.timetuple())
    test.x_values = [k / 5 for k in range(60)]
    raw = {}
    for name in SERIES:
        test.add_result(name, [drawn.uniform(5, 50) for _ in range(60)])
        raw[name] = [{"t": start_s + k / 5, "val": drawn.uniform(5, 50)} for k in range(60)]
        unit = "ms" if "ms" in name else "Mbits/s"
        test.metadata["SERIES_META"][name] = {"UNITS": unit, "CONG_CONTROL": "bbr"}
    if seed % 2:  # netperf says the mean itself
        test.metadata["SERIES_META"][SERIES[0]]["MEAN_VALUE"] = drawn.uniform(20, 30)
    test.add_result("TCP upload sum", [0.0] * 60)
    raw["TCP upload sum"] = []
    test.raw_values = raw
    test.dump_file(str(path))


@pytest.mark.parametrize("seed", FILES)
def test_a_flent_file_has_flents_figures_to_their_last_digit(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "tcp_2up.flent.gz"
    flent_file(path, seed)
    (found,) = read_measurements([path])
    command = [sys.executable, "-m", "flent", "-f", "summary", "-i", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    flows = {str(flow["name"]): flow for flow in found.flows}
    for name in SERIES:
        line = re.search(rf"^ {re.escape(name)} +: +([\d.]+) +([\d.]+)", printed, re.MULTILINE)
        assert line, printed
        if "ms" in name:
            mean, median = flows[name]["rtt_mean_ms"], flows[name]["rtt_p50_ms"]
            assert (f"{mean:.2f}", f"{median:.2f}") == line.groups()
        else:
            assert f"{flows[name]['throughput_mbps']:.2f}" == line[1]
    total = sum(float(str(flows[name]["throughput_mbps"])) for name in SERIES[:2])
    assert found.metrics["throughput_mbps"] == pytest.approx(total)
    assert found.controller == "bbr" and found.duration_s == pytest.approx(11.8)
    of = found.series.groupby("quantity").size()
    assert of.to_dict() == {over_time.RATES[-1]: 60, over_time.RTT: 60}


# Captures -------------------------------------------------------------------------------------


Seen = list[tuple[float, bytes]]
HOSTS = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"


def frame(kind: str, way: int, number: int, payload: int, **fields: int) -> bytes:
    """An Ethernet frame from one host to the other, of a flow between their ports 5000 and 6000."""
    ports = {"sport": (5000, 6000)[way], "dport": (6000, 5000)[way]}
    body = bytes([number % 251]) * payload
    if kind == "tcp":
        inner = dpkt.tcp.TCP(**ports, **fields, flags=16, data=body)
    else:
        inner = dpkt.udp.UDP(**ports, ulen=8 + payload, data=body)
    protocol = dpkt.ip.IP_PROTO_TCP if kind == "tcp" else dpkt.ip.IP_PROTO_UDP
    outer = dpkt.ip.IP(
        src=HOSTS[way], dst=HOSTS[1 - way], p=protocol, id=number % 2**16, data=inner
    )
    outer.len = len(outer)
    return bytes(dpkt.ethernet.Ethernet(data=outer, type=dpkt.ethernet.ETH_TYPE_IP))


def transfer(seed: int, kind: str = "tcp") -> tuple[Seen, Seen, list[float]]:
    """What both ends see of a transfer, and the one-way delays; every tenth segment is lost."""
    drawn = random.Random(seed)
    sender: Seen = []
    receiver: Seen = []
    delays_s = []
    sequence, at_s = 2**32 - 50_000, 1_700_000_000.0  # it wraps
    for number in range(300):
        at_s = round(at_s + drawn.uniform(0.001, 0.01), 6)
        size = drawn.randint(100, 1400)
        segment = frame(kind, 0, number, size, seq=sequence % 2**32, ack=7)
        sequence += size
        sender.append((at_s, segment))
        delay_s = round(drawn.uniform(0.02, 0.04), 6)
        if number % 10 == 9:
            continue
        delays_s.append(delay_s)
        receiver.append((at_s + delay_s, segment))
        if kind == "tcp":
            answer = frame(kind, 1, number, 0, seq=7, ack=sequence % 2**32)
            receiver.append((at_s + delay_s, answer))
            sender.append((at_s + delay_s + 0.02, answer))
    return sorted(sender), sorted(receiver), delays_s


def capture(path: Path, seen: Seen, snaplen: int = 1500, link: int = 1) -> Path:
    with path.open("wb") as file:
        writer = dpkt.pcap.Writer(file, snaplen=snaplen, linktype=link)
        for at_s, data in seen:
            writer.writepkt(data[:snaplen] if snaplen else data, at_s)
    return path


@pytest.mark.parametrize("seed", FILES)
def test_a_capture_has_tcpdumps_figures(tmp_path: Path, seed: int) -> None:
    if not shutil.which("tcpdump"):
        pytest.skip("NOT TESTED against tcpdump: it is missing (Debian: apt-get install tcpdump)")
    path = capture(tmp_path / "cubic-1.pcap", transfer(seed, ("tcp", "udp")[seed % 2])[0])
    command = ["tcpdump", "-Z", "root", "-nn", "-tt", "-v", "-r", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    pattern = r"^([\d.]+) IP .*length (\d+)\)\n +10.0.0.1"
    packets = re.findall(pattern, printed, re.MULTILINE)
    (found,) = read_measurements([path])
    assert found.metrics["packets_sent"] == len(packets) == 300
    span_s = float(packets[-1][0]) - float(packets[0][0])
    bits = 8 * sum(int(size) for _, size in packets)
    assert found.metrics["throughput_mbps"] == pytest.approx(bits / span_s / 1e6, rel=1e-9)
    assert [flow["name"] for flow in found.flows] == ["all", "10.0.0.1:5000 > 10.0.0.2:6000"]


@pytest.mark.parametrize("seed", FILES)
def test_one_end_tells_the_rtt_and_both_ends_loss_and_delay(tmp_path: Path, seed: int) -> None:
    kind = ("tcp", "udp")[seed % 2]
    sent, came, delays_s = transfer(seed, kind)
    one = capture(tmp_path / "sender.pcap", sent, 96)
    other = capture(tmp_path / "receiver.pcap", came)
    (alone,) = read_measurements([one])
    exact = [round(1000 * delay_s, 3) for delay_s in delays_s]
    if kind == "tcp":
        # The acknowledgment of a later segment overtakes some, which then measure nothing.
        assert alone.flows[0]["retransmissions"] == 0
        assert 40 <= float(str(alone.flows[0]["rtt_p50_ms"])) <= 60
        assert any(each.startswith("capacity, queue") for each in alone.absent)
    (both,) = read_measurements([other, one] if seed % 3 else [one, other])
    assert both.path == one and both.format != alone.format
    for flow in both.flows:
        nearest = np.percentile(exact, 95, method="nearest")
        assert flow["delay_p95_ms"] == pytest.approx(nearest, abs=0.0011)  # times are of us
        assert 0.05 < float(str(flow["loss"])) < 0.15
    assert both.metrics["packets_sent"] == 300 and both.metrics["packets_delivered"] == 270
    assert over_time.DELAY in set(both.series["quantity"])


def test_segments_that_are_sent_again_measure_no_rtt(tmp_path: Path) -> None:
    first = frame("tcp", 0, 1, 1000, seq=0, ack=7)
    second = frame("tcp", 0, 2, 1000, seq=1000, ack=7)
    again = frame("tcp", 0, 3, 1000, seq=1000, ack=7)
    one, two = (frame("tcp", 1, n, 0, seq=7, ack=n * 1000) for n in (1, 2))
    seen = [(1.0, first), (1.03, one), (1.1, second), (1.4, again), (1.5, two)]
    (found,) = read_measurements([capture(tmp_path / "a.pcap", seen)])
    assert found.flows[0]["retransmissions"] == 1
    assert found.flows[0]["rtt_mean_ms"] == pytest.approx(30, abs=0.01)


def cooked(data: bytes) -> bytes:
    """The packet of an Ethernet frame as `tcpdump -i any` shows it."""
    head = struct.pack(">HHH8sH", 0, 1, 6, bytes(8), dpkt.ethernet.ETH_TYPE_IP)
    return head + data[14:]


@pytest.mark.parametrize(
    ("link", "changed"), [(113, cooked), (101, lambda data: data[14:]), (None, bytes)]
)
def test_captures_of_every_link_type_and_pcapng_are_read(
    tmp_path: Path, link: int | None, changed: Callable[[bytes], bytes]
) -> None:
    sent, _, _ = transfer(2)
    (expected,) = read_measurements([capture(tmp_path / "a.pcap", sent)])
    other = tmp_path / "b.pcap"
    if link is None:
        with other.open("wb") as file:
            writer = dpkt.pcapng.Writer(file)
            for at_s, data in sent:
                writer.writepkt(data, at_s)
        other.write_bytes(gzip.compress(other.read_bytes()))
    else:
        capture(other, [(at_s, changed(data)) for at_s, data in sent], link=link)
    (found,) = read_measurements([other])
    assert found.metrics == pytest.approx(dict(expected.metrics), rel=1e-6)
    assert [flow["name"] for flow in found.flows] == [flow["name"] for flow in expected.flows]


def test_captures_of_different_runs_stay_apart(tmp_path: Path) -> None:
    paths = [capture(tmp_path / f"cubic-{k}.pcap", transfer(k)[0]) for k in (1, 2)]
    assert len(read_measurements(paths)) == 2


def test_a_clock_that_is_wrong_is_named(tmp_path: Path) -> None:
    sent, came, _ = transfer(1)
    one = capture(tmp_path / "sender.pcap", sent)
    late = capture(tmp_path / "receiver.pcap", [(at_s - 0.5, data) for at_s, data in came])
    with pytest.raises(KneepointError, match="clock") as raised:
        read_measurements([one, late])
    assert "receiver.pcap" in str(raised.value)


# qlog -----------------------------------------------------------------------------------------


def quic(seed: int) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """The events of a sender with times since the first, in ms, and its figures."""
    drawn = random.Random(seed)
    prefix, ranges = (("transport:", str), ("quic:", int))[seed % 2]
    events: list[dict[str, Any]] = []
    rtts_ms, sizes, acked, lost = [], [], 0, 0
    for number in range(200):
        size = drawn.randint(100, 1200)
        sizes.append(size)
        header = {"packet_type": "1RTT", "packet_number": number}
        sent = {"header": header, "raw": {"length": size}, "frames": []}
        events.append({"time": number * 10.0, "name": f"{prefix}packet_sent", "data": sent})
        if number % 20 == 7:
            lost += 1
            gone = {"header": header} if seed % 2 else {"type": "1RTT", "packet_number": number}
            name = "recovery:packet_lost"
            events.append({"time": number * 10 + 5.0, "name": name, "data": gone})
            name = "transport:datagrams_sent"  # of others, the data may have any form
            events.append({"time": number * 10 + 5.0, "name": name, "data": [{"raw": {}}]})
            continue
        acked += size
        acks = [[ranges(number), ranges(number)]]
        acks += [[ranges(0), ranges(number - 2)]] * (number > 3)  # once more
        frame = {"frame_type": "ack", "acked_ranges": acks}
        came = {"header": header, "raw": {"length": 40}, "frames": [frame]}
        events.append({"time": number * 10 + 6.0, "name": f"{prefix}packet_received", "data": came})
        rtt_ms = round(drawn.uniform(20, 60), 3)
        rtts_ms.append(rtt_ms)
        name = ("recovery:metrics_updated", "quic:recovery_metrics_updated")[seed % 2]
        events.append({"time": number * 10 + 6.0, "name": name, "data": {"latest_rtt": rtt_ms}})
    last_s = events[-1]["time"] / 1000
    return events, {
        "throughput_mbps": acked * 8 / last_s / 1e6,
        "lost": lost,
        "rtt_p95_ms": sorted(rtts_ms)[int(0.95 * len(rtts_ms))],
    }


def qlog_file(seed: int) -> str:
    """As one object or as a sequence, with times relative, from event to event, or absolute."""
    events, _ = quic(seed)
    way = ("relative", "delta", "absolute")[seed % 3]
    if way == "delta":
        times = [event["time"] for event in events]
        steps = np.diff(times, prepend=0.0).tolist()
        events = [event | {"time": step} for event, step in zip(events, steps, strict=True)]
    if way == "absolute":
        events = [event | {"time": event["time"] + 1.7e12} for event in events]
    trace = {"vantage_point": {"type": "client"}, "common_fields": {"time_format": way}}
    if seed % 4 < 2:
        return json.dumps({"qlog_version": "0.3", "traces": [trace | {"events": events}]})
    header = {"qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": trace}
    return "".join(f"\x1e{json.dumps(each)}\n" for each in (header, *events))


@pytest.mark.parametrize("seed", FILES)
def test_a_qlog_has_the_figures_of_its_events(tmp_path: Path, seed: int) -> None:
    found, expected = read(tmp_path / "quic-3.qlog", qlog_file(seed)), quic(seed)[1]
    assert found.metrics["throughput_mbps"] == pytest.approx(expected["throughput_mbps"], rel=1e-6)
    assert found.metrics["packets_dropped"] == expected["lost"] == 10
    assert found.metrics["packets_sent"] == 200 and found.metrics["packets_delivered"] == 190
    assert found.flows[0]["rtt_p95_ms"] == expected["rtt_p95_ms"]
    of = {name: part["value"] for name, part in found.series.groupby("quantity")}
    assert set(of) == {*over_time.RATES[1:], over_time.QUEUE, over_time.RTT}
    assert of[over_time.QUEUE].between(0, 2).all() and of[over_time.QUEUE].iloc[-1] == 0


def test_an_end_that_receives_is_measured_by_what_it_receives(tmp_path: Path) -> None:
    name, raw = "transport:packet_received", {"raw": {"length": 1000}}
    events = [{"time": ms, "name": name, "data": raw} for ms in range(0, 1001, 10)]
    trace = {"events": events, "common_fields": {}}
    found = read(tmp_path / "a.qlog", json.dumps({"qlog_version": "0.3", "traces": [trace]}))
    assert found.metrics["throughput_mbps"] == pytest.approx(0.808)
    assert any(each.startswith("loss") for each in found.absent)


def test_connections_of_one_file_are_numbered(tmp_path: Path) -> None:
    trace = json.loads(qlog_file(0))["traces"][0]
    path = tmp_path / "a.qlog"
    path.write_text(json.dumps({"qlog_version": "0.3", "traces": [trace, trace]}))
    assert [each.number for each in read_measurements([path])] == [1, 2]


# What is refused ------------------------------------------------------------------------------


def pcap(seen: Seen, **changes: int) -> bytes:
    file = io.BytesIO()
    writer = dpkt.pcap.Writer(file, **({"snaplen": 1500, "linktype": 1} | changes))
    for at_s, data in seen:
        writer.writepkt(data, at_s)
    return file.getvalue()


def flent_object(**changes: object) -> str:
    raw = {"TCP upload::1": [{"t": 1.0, "val": 3.0}, {"t": 1.2, "val": 3.0}]}
    meta = {"FLENT_VERSION": "2.3.0", "SERIES_META": {"TCP upload::1": {"UNITS": "Mbits/s"}}}
    results = {"TCP upload::1": [3.0, 3.0]}
    whole = {"version": 4, "metadata": meta, "x_values": [0.0, 0.2], "results": results}
    return json.dumps(whole | {"raw_values": raw} | changes)


def iperf3_object(**changes: object) -> str:
    return json.dumps(IPERF3 | changes)


SENT = transfer(1)[0]
SEQUENCE = qlog_file(2)
NOTHING = {"bytes": 0, "bits_per_second": 0, "seconds": 0}
BAD = {
    "iperf3, cut off": (iperf3_object()[:-9], "JSON"),
    "iperf3, failed": (iperf3_object(error="unable to connect"), "unable to connect"),
    "iperf3, without its end": (iperf3_object(end={}), "whole"),
    "iperf3, of nothing": (
        iperf3_object(end=IPERF3["end"] | {"sum_sent": NOTHING, "sum_received": NOTHING}),
        "nothing was sent",
    ),
    "iperf3, backward": (iperf3_object(intervals=IPERF3["intervals"][::-1]), "backward"),
    "iperf3, a stream": ('{"event":"start","data":{"version":"iperf 3.17"}}', "stream"),
    "flent, cut off": (flent_object()[:-9], "JSON"),
    "flent, packed, cut off": (gzip.compress(flent_object().encode())[:-9], "unpacked"),
    "flent, too old": (flent_object(version=3), "version 3"),
    "flent, too new": (flent_object(version=5), "version 5"),
    "flent, backward": (flent_object(x_values=[0.2, 0.0]), "backward"),
    "flent, of no flow": (flent_object(raw_values={}), "no rate"),
    "flent, not whole": (flent_object(x_values=None), "whole"),
    "capture, cut off": (pcap(SENT)[:-5], "cut off"),
    "capture, header cut off": (pcap(SENT)[:20], "cut off"),
    "capture, cut after a packet's header": (pcap(SENT) + struct.pack("<4I", 1, 1, 60, 60), "cut"),
    "capture of another link": (pcap(SENT, linktype=105), "105"),
    "capture of snap length 0": (pcap(SENT, snaplen=0), "snap length"),
    "capture, headers cut": (pcap([(at, data[:30]) for at, data in SENT]), "no TCP or UDP"),
    "capture, a record of 1 GB": (pcap(SENT) + struct.pack("<4I", 1, 1, 2**30, 60), "record"),
    "capture, backward": (pcap(SENT[::-1]), "backward"),
    "capture of no packets": (pcap([]), "no TCP or UDP"),
    "capture of one moment": (pcap(SENT[:1]), "one time"),
    "qlog, cut off": (qlog_file(0)[:-5], "JSON"),
    "qlog, sequence cut off": (SEQUENCE[:-5], "line"),
    "qlog of no trace": ('{"qlog_version": "0.3", "traces": []}', "no trace"),
    "qlog of no packets": ('{"qlog_version": "0.3", "traces": [{"events": []}]}', "no packet"),
    "qlog, backward": (SEQUENCE + SEQUENCE.split("\n")[1] + "\n", "backward"),
    "qlog, not whole": ('{"qlog_version": "0.3", "traces": [{"events": [{}]}]}', "whole"),
}


@pytest.mark.parametrize(("content", "named"), BAD.values(), ids=BAD)
def test_bad_files_are_one_line(tmp_path: Path, content: str | bytes, named: str) -> None:
    with pytest.raises(KneepointError) as raised:
        read(tmp_path / "bad.file", content)
    message = str(raised.value)
    assert "bad.file" in message and named in message and "\n" not in message


def test_every_file_is_of_one_format() -> None:
    for content in (iperf3_object(), flent_object(), qlog_file(0), SEQUENCE, pcap(SENT)):
        head = content if isinstance(content, bytes) else content.encode()
        assert sum(each.recognises(head[:65_536]) for each in FORMATS) == 1

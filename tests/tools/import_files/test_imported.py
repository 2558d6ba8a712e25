"""Files of other tools: the figures that these tools print, and errors."""

import bz2
import calendar
import codecs
import datetime
import gzip
import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flent import resultset
from flent.runners import NetperfDemoRunner

from kneepoint.analysis import link_log, over_time
from kneepoint.analysis.link_log import read_link_log
from kneepoint.common.errors import KneepointError
from kneepoint.tools.import_files.measurement import Measurement
from kneepoint.tools.import_files.read import FORMATS, read_measurements
from tests.analysis.test_logs import EVENTS, HEADER
from tests.conftest import ROOT
from tests.tools.import_files.captures import pcap

FILES = range(12)
"""Seeds of files, with every combination of the properties by the seed modulo 2, 3 and 4."""


def read(path: Path, content: str | bytes) -> Measurement:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    (found,) = read_measurements([path])
    return found


# mahimahi -------------------------------------------------------------------------------------


def link_log_of(seed: int, with_drops: bool = True) -> str:
    """A log of a first-in, first-out queue of at most 20 packets."""
    drawn = random.Random(seed)
    lines: list[str] = []
    queue: list[int] = []
    for now in range(1, 2001):
        for _ in range(drawn.choice((0, 0, 1, 2))):
            lines.append(f"{now + 500} + 1504")
            if len(queue) < 20:
                queue.append(now)
            elif with_drops:
                lines.append(f"{now + 500} d 1 1504")
        for _ in range(drawn.choice((0, 0, 1, 1))):
            lines.append(f"{now + 500} # 1504")
            if queue:
                lines.append(f"{now + 500} - 1504 {now - queue.pop(0)}")
    return "# queue: droptail\n# base timestamp: 500\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", FILES)
def test_a_link_log_has_the_figures_of_its_definition(tmp_path: Path, seed: int) -> None:
    # mahimahi's scripts print the same digits: tests/controllers/test_mahimahi_graphs.py.
    text, has_drops = link_log_of(seed, seed % 2 == 0), seed % 2 == 0
    found = read(tmp_path / "uplink.log", text)
    expected = link_log.metrics(read_link_log(tmp_path / "uplink.log"))
    counted = {"packets_sent": " + ", "packets_delivered": " - "}
    counted |= {"packets_dropped": " d "} if has_drops else {}
    expected |= {name: text.count(kind) for name, kind in counted.items()}
    known = {name: found.metrics[name] for name in expected}
    assert known == pytest.approx(expected, rel=1e-12)
    assert ("packets_dropped" in found.metrics) == has_drops
    assert has_drops != any(each.startswith("drops") for each in found.absent)
    packed = read(tmp_path / "packed", gzip.compress(text.encode()))
    assert (packed.metrics, packed.format) == (found.metrics, found.format)
    waiting = found.series.loc[found.series["quantity"] == over_time.QUEUE, "value"]
    assert waiting.min() >= 0 and 15 <= waiting.max() <= 20  # even if drops are not logged
    assert {over_time.QUEUEING, *over_time.RATES} <= set(found.series["quantity"])


def test_a_link_that_wakes_late_drops_ahead_of_its_log(tmp_path: Path) -> None:
    late = HEADER + EVENTS.replace("110 d 2 3008\n", "109 + 1504\n112 d 1 1504\n110 # 1504\n")
    assert read(tmp_path / "log", late).metrics["packets_dropped"] == 1


FORKS: dict[str, Callable[[str], str]] = {
    "packet numbers": lambda text: re.sub(r"(?m)^(\d+ [-+d] .*)$", r"\1 17", text),
    "labels": lambda text: re.sub(r"(?m)^(\d+ - \d+) (\d+)$", r"\1 delay: \2 queue_size: 5", text),
    "another event": lambda text: re.sub(r"(?m)^(\d+) (# .*)$", r"\1 \2\n\1 cwnd 12.5", text),
}


@pytest.mark.parametrize("fork", FORKS)
def test_logs_of_forks_have_the_same_figures_and_say_what_is_left_out(
    tmp_path: Path, fork: str
) -> None:
    plain = read(tmp_path / "a.log", LINK)
    found = read(tmp_path / "b.log", FORKS[fork](LINK))
    assert found.metrics == plain.metrics and plain.notes == ()
    assert [note.startswith("left out") for note in found.notes] == [True]


def test_a_long_log_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    log, peaks_kib = tmp_path / "uplink.log", []
    for milliseconds in (40_000, 800_000):
        events = (f"{ms} + 1504\n{ms} # 1504\n{ms} - 1504 0\n" for ms in range(milliseconds))
        with log.open("w") as text:  # the memory of this process would count, too
            text.write("# base timestamp: 0\n")
            text.writelines(events)
        command = [str(ROOT / "build/measure"), "--over-time"]
        with log.open("rb") as content:
            process = subprocess.Popen(command, stdin=content, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
        assert status == 0
        peaks_kib.append(usage.ru_maxrss)
    assert log.stat().st_size > 20 * 2**20 and peaks_kib[1] < peaks_kib[0] + 4096


# Pantheon -------------------------------------------------------------------------------------


def tunnel_log_of(seed: int) -> tuple[str, list[tuple[float, str, int, float, int]]]:
    """A tunnel log, with or without an emulated link and flows; and its events."""
    drawn = random.Random(seed)
    has_link, flows = seed % 2 == 0, seed % 3
    events: list[tuple[float, str, int, float, int]] = []
    for _ in range(500):
        at, bytes_ = round(drawn.uniform(0, 9000), 3), drawn.choice((80, 1400, 1500))
        delay, flow = round(drawn.uniform(20, 90), 3), drawn.randint(1, flows) if flows else 0
        events.append((at, "+", bytes_, 0, flow))
        if drawn.random() < 0.95:
            events.append((round(at + delay, 3), "-", bytes_, delay, flow))
        events += [(round(at + 1, 3), "#", 1504, 0, 0)] * has_link
    events.sort(key=lambda event: event[0])
    lines = ["# init timestamp: 1512345678901.234"]
    for at, kind, bytes_, delay, flow in events:
        words = [f"{at + 3.5:.3f}", kind, str(bytes_)]
        words += [f"{delay:.3f}"] * (kind == "-") + [str(flow)] * (flows > 0 and kind != "#")
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n", events


def figures(events: Iterable[tuple[float, str, int, float, int]]) -> str:
    """Returns throughput, delay and loss as tunnel_graph.py defines and prints them."""
    left = [event for event in events if event[1] == "-"]
    sent = sum(event[2] for event in events if event[1] == "+")
    bits = 8 * sum(event[2] for event in left)
    delays = sorted(event[3] for event in left)
    rate = bits / (1000 * (left[-1][0] - left[0][0]))
    nearest = delays[round(0.95 * (len(delays) - 1))]
    return f"{rate:.2f} {nearest:.3f} {100 * (1 - bits / 8 / sent):.2f}"


@pytest.mark.parametrize("seed", FILES)
def test_a_tunnel_log_has_pantheons_figures_to_their_last_digit(tmp_path: Path, seed: int) -> None:
    text, events = tunnel_log_of(seed)
    found = read(tmp_path / "copa_datalink_run7.log", text)
    assert (found.controller, found.number) == ("copa", 7)
    names = [each["name"] for each in found.flows]
    assert names == ["all", *map(str, range(1, seed % 3 + 1))] if seed % 3 else ["all", "0"]
    for flow in found.flows:
        of = [e for e in events if flow["name"] in ("all", str(e[4])) and e[1] != "#"]
        rate, delay, loss = (flow[n] for n in ("throughput_mbps", "delay_p95_ms", "loss"))
        assert f"{rate:.2f} {delay:.3f} {100 * float(str(loss)):.2f}" == figures(of)
    assert ("capacity_mbps" in found.metrics) == (seed % 2 == 0)
    quantities = set(found.series["quantity"])
    assert (over_time.RATES[0] in quantities) == (seed % 2 == 0)
    assert over_time.DELAY in quantities and over_time.QUEUEING not in quantities


def test_figures_of_a_tunnel_log_worked_by_hand(tmp_path: Path) -> None:
    # Two packets of flow 1 leave 10 ms apart, a single packet of flow 2; one of flow 1 is lost.
    found = read(
        tmp_path / "x.log",
        "# init timestamp: 1512345678901.234\n5.000 # 1504\n5.100 + 1400 1\n6.000 + 1400 1\n"
        "7.000 + 600 2\n9.000 + 1400 1\n30.100 - 1400 25.000 1\n35.000 - 600 28.0005 2\n"
        "40.100 - 1400 34.100 1\n45.000 # 1504\n",
    )
    every, first, second = found.flows
    assert found.duration_s == 0.04
    assert found.metrics["packets_sent"] == 4 and found.metrics["packets_delivered"] == 3
    assert found.metrics["capacity_mbps"] == pytest.approx(2 * 1504 * 8 / 40e3)
    assert every["throughput_mbps"] == pytest.approx(3400 * 8 / 10e3)
    assert every["loss"] == pytest.approx(1 - 3400 / 4800) and every["delay_p50_ms"] == 28.001
    assert first["throughput_mbps"] == pytest.approx(2800 * 8 / 10e3)
    assert first["delay_p95_ms"] == 34.1 and second["throughput_mbps"] == 0
    # In ms since the first event: arrivals at 0, 1 and 2; delays 25, 34 and 28.
    assert found.metrics["signal_delay_p95_ms"] == 34


def through_tunnel(delay: str) -> str:
    """A log that begins while packets are in the tunnel; their delay is 27.75 ms."""
    lines = []
    for ms in range(0, 1400, 7):
        lines += [f"{ms}.250 - 1400 {delay}"] * (ms % 70 != 63) + [f"{ms}.500 + 1400"]
    return "\n".join(lines) + "\n"


def test_packets_may_enter_before_a_tunnel_log_begins(tmp_path: Path) -> None:
    found = read(tmp_path / "x.log", through_tunnel("27.75"))
    assert found.metrics["packets_delivered"] == 180


@pytest.mark.parametrize(
    ("text", "part"),
    [
        *((through_tunnel(delay), "entered") for delay in ("27750", "0.02775", "26.75")),
        ("1.0 + 80\n# init timestamp: 2\n", "line 2"),
        ("2.0 + 80\n1.5 + 80\n", "line 2 is earlier"),
        ("1.0 + 80\n2.0 + 80 1 1\n", "line 2"),
        ("1.0 + 80\n2.0 - 80\n", "line 2"),
        ("1.0 + 80\n2.0 - 80 -3\n", "line 2"),
        ("1.0 + 80\n2.0 ++ 80\n", "line 2"),
        ("1.0 + 80\n2.0000000001 + 80\n", "line 2"),
        ("1 + 80\n86400002 + 80\n", "a day"),
        ("1 + 80\n2 - 80 86400001\n", "a day"),
        ("1 + 80\n" + "1" * 300_000, "line 2"),
        ("1 + 80\n2 + 80", "copy the whole file"),
        ("1 + 80\n2 + 80\n", "no packet departed"),
        ("1 + 80\n1 - 80 0\n", "the same time"),
        ("1 + 1500\n2 - 1500000 1\n", "1500000 bytes that left"),
    ],
)
def test_wrong_tunnel_logs_are_refused(tmp_path: Path, text: str, part: str) -> None:
    with pytest.raises(KneepointError, match=part):
        read(tmp_path / "x.log", text)


@pytest.mark.parametrize("as_list", [True, False])
def test_metadata_names_the_logs_of_all_schemes(tmp_path: Path, as_list: bool) -> None:
    schemes = ["copa", "bbr"]
    runs = [("copa", 1), ("copa", 2), ("bbr", 1)]
    for scheme, number in runs:
        name = f"{scheme}{'_mm' if scheme == 'bbr' else ''}_datalink_run{number}.log"
        (tmp_path / name).write_text(tunnel_log_of(number)[0])
    content = {"cc_schemes": schemes if as_list else " ".join(schemes), "run_times": 2}
    path = tmp_path / "pantheon_metadata.json"
    path.write_text(json.dumps(content | {"uplink_trace": "traces/tram.up"}))
    found = read_measurements([path])
    assert [(each.controller, each.number) for each in found] == runs
    assert {each.network for each in found} == {"tram"}
    path.write_text(json.dumps(content | {"cc_schemes": ["vegas"]}))
    with pytest.raises(KneepointError, match="vegas"):
        read_measurements([path])


# iperf3 ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """The port of a server of iperf3."""
    if not shutil.which("iperf3"):
        pytest.skip("NOT TESTED against iperf3: it is missing (Debian: apt-get install iperf3)")
    with socket.create_server(("127.0.0.1", 0)) as free:
        number = int(free.getsockname()[1])
    command = ["iperf3", "-s", "-p", str(number)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        yield number
        server.kill()


def iperf3(port: int, *words: str) -> dict[str, Any]:
    """Returns the output of a test, as soon as the server is up and free."""
    for _ in range(50):
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
            "sum": {
                **{"start": k, "end": k + 1, "seconds": 1, "omitted": k == 0},
                **{"bits_per_second": 8e6, "bytes": 10**6},
            },
        }
        for k in range(4)
    ],
    "end": {
        "streams": [{"sender": {"bits_per_second": 9e6, "bytes": 3_375_000, "seconds": 3}}],
        "sum_sent": {
            **{"bytes": 3_375_000, "bits_per_second": 9e6, "seconds": 3},
            "retransmits": 2,
        },
        "sum_received": {"bytes": 3_000_000, "bits_per_second": 8e6, "seconds": 3},
        "sender_tcp_congestion": "bbr",
    },
}


def test_what_iperf3_omits_is_left_out(tmp_path: Path) -> None:
    (stream,) = IPERF3["end"]["streams"]
    sender = stream["sender"] | {"mean_rtt": 9000}
    end = IPERF3["end"] | {"streams": [{"sender": sender}]}
    found = read(tmp_path / "a.json", iperf3_object(end=end))
    assert found.controller == "bbr" and found.flows[0]["rtt_p95_ms"] == 2
    assert [flow["rtt_mean_ms"] for flow in found.flows] == [2, 2]
    assert found.series.groupby("quantity").size().to_dict() == {"egress_mbps": 3, "rtt_ms": 3}


# flent ----------------------------------------------------------------------------------------


SERIES = ("TCP upload::1", "TCP upload::2", "Ping (ms) ICMP")


def flent_file(path: Path, seed: int, series: Sequence[str] = SERIES) -> None:
    """Writes a test of two flows and a ping, or of other series, as flent does."""
    drawn = random.Random(seed)
    at = datetime.datetime(2026, 1, 2, 3, 4, 5)
    names = {"NAME": "tcp_2up", "TITLE": "a test", "TIME": at, "T0": at, "TOTAL_LENGTH": 12}
    test = resultset.ResultSet(**names, SERIES_META={})
    start_s = calendar.timegm(at.timetuple())
    test.x_values = [k / 5 for k in range(60)]
    raw = {}
    for name in series:
        test.add_result(name, [drawn.uniform(5, 50) for _ in range(60)])
        raw[name] = [{"t": start_s + k / 5, "val": drawn.uniform(5, 50)} for k in range(60)]
        unit = "Mbits/s" if "load" in name else "ms"
        test.metadata["SERIES_META"][name] = {"UNITS": unit, "CONG_CONTROL": "bbr"}
    if seed % 2:  # netperf reports the mean
        test.metadata["SERIES_META"][series[0]]["MEAN_VALUE"] = drawn.uniform(20, 30)
    test.add_result("TCP upload sum", [0.0] * 60)
    raw["TCP upload sum"] = []
    test.raw_values = raw
    test.dump_file(str(path))


def flents_summary(path: Path) -> dict[str, tuple[str, str]]:
    """Returns the mean and the median of each series as flent prints them."""
    command = [sys.executable, "-m", "flent", "-f", "summary", "-i", str(path)]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = re.finditer(r"(?m)^ (.+?) +: +([\d.]+) +([\d.]+)", printed)
    return {line[1]: (line[2], line[3]) for line in lines}


@pytest.mark.parametrize("seed", FILES)
def test_a_flent_file_has_flents_figures_to_their_last_digit(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "tcp_2up.flent.gz"
    flent_file(path, seed)
    (found,) = read_measurements([path])
    shown = flents_summary(path)
    flows = {str(flow["name"]): flow for flow in found.flows}
    for name in SERIES:
        if "ms" in name:
            mean, median = flows[name]["rtt_mean_ms"], flows[name]["rtt_p50_ms"]
            assert (f"{mean:.2f}", f"{median:.2f}") == shown[name]
        else:
            assert f"{flows[name]['throughput_mbps']:.2f}" == shown[name][0]
    total = sum(float(str(flows[name]["throughput_mbps"])) for name in SERIES[:2])
    assert found.metrics["throughput_mbps"] == pytest.approx(total)
    assert found.controller == "bbr" and found.duration_s == pytest.approx(11.8)
    of = found.series.groupby("quantity").size()
    assert of.to_dict() == {over_time.RATES[-1]: 60, over_time.RTT: 60}


RRUL = (
    *("TCP upload BE", "TCP upload BK", "TCP download BE", "TCP download BK"),
    *("Ping (ms) ICMP", "HTTP latency"),
)


def test_flents_two_directions_are_told_apart_and_http_is_no_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "rrul.flent.gz"
    flent_file(path, 4, RRUL)
    (found,) = read_measurements([path])
    flows = {str(flow["name"]): flow for flow in found.flows}
    mbps = {name: float(str(flows[name]["throughput_mbps"])) for name in RRUL[:4]}
    up, down = (sum(mbps[name] for name in mbps if way in name) for way in ("upload", "download"))
    assert flows["upload"]["throughput_mbps"] == pytest.approx(up)
    assert flows["download"]["throughput_mbps"] == pytest.approx(down)
    assert found.metrics["throughput_mbps"] == pytest.approx(up + down)
    said = " ".join(found.notes)
    assert f"upload {up:.4g}" in said and f"download {down:.4g}" in said and "HTTP latency" in said
    pings = [each["val"] for each in resultset.load(str(path)).raw_values["Ping (ms) ICMP"]]
    assert flows["all"]["rtt_mean_ms"] == pytest.approx(np.mean(pings))
    assert "HTTP latency" not in flows


def netperf(drawn: random.Random, direction: str, start_s: float) -> list[str]:
    """Returns the output of `netperf -D -k`, for TCP_STREAM (Send), TCP_MAERTS (Receive) or
    UDP_RR."""
    is_tcp = direction in ("Send", "Receive")
    lines, at_s = [], start_s
    for k, interval_s in enumerate(
        [0.2, 0.21, 0.19] * 10 + [4.5]
    ):  # the last interval does not count
        at_s += interval_s
        rate = drawn.uniform(5, 50) if is_tcp else 1000 / drawn.uniform(20, 60)
        told = {"INTERIM_RESULT": f"{rate:.2f}", "INTERVAL": f"{interval_s}"}
        told |= {"UNITS": "10^6bits/s", "ENDING": f"{at_s:.3f}"}
        lines += [f"NETPERF_{name}[{k}]={value}" for name, value in told.items()]
    mean = drawn.uniform(20, 30)
    ends = ("LOCAL", "REMOTE") if direction == "Send" else ("REMOTE", "LOCAL")
    told = {"THROUGHPUT": f"{mean:.2f}", "ELAPSED_TIME": "6.00", "DIRECTION": direction}
    told |= {"PROTOCOL": "TCP" if is_tcp else "UDP", "TRANSPORT_MSS": "1448"}
    told |= {f"{end}_SOCKET_TOS": "0x0" for end in ("LOCAL", "REMOTE")}
    told |= {f"{ends[0]}_CONG_CONTROL": "bbr", f"{ends[1]}_CONG_CONTROL": "cubic"}
    return lines + [f"{name}={value}" for name, value in told.items()]


NETPERF = {
    "tcp_download": {"TCP download": "Receive"},
    "tcp_nup": {"TCP upload::1": "Send", "TCP upload::2": "Send"},
    "rrul_be": {"TCP upload BE": "Send", "TCP download BE": "Receive", "Ping (ms) UDP BE1": ""},
}


@pytest.mark.parametrize("name", NETPERF)
def test_netperfs_figures_in_flents_files_are_flents(tmp_path: Path, name: str) -> None:
    path, series = tmp_path / "test.flent.gz", NETPERF[name]
    flent_file(path, 3, [*series, "Ping (ms) ICMP"])
    content = json.loads(gzip.decompress(path.read_bytes()))
    drawn = random.Random(name)
    start_s = content["raw_values"]["Ping (ms) ICMP"][0]["t"]
    for each, direction in series.items():
        runner = types.SimpleNamespace(test="" if direction else "UDP_RR")
        printed = netperf(drawn, direction, start_s)
        _, raw, meta = NetperfDemoRunner.parse(runner, printed, ["tcpi_rtt 250 tcpi_cwnd 10"])
        assert len(raw) == 30
        raw.insert(5, {"t": raw[4]["t"], "tcp_rtt": 0.25, "tcp_cwnd": 12.0})  # --socket-stats
        content["raw_values"][each] = raw
        meta["UNITS"] = "Mbits/s" if direction else "ms"
        content["metadata"]["SERIES_META"][each] = meta
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    (found,) = read_measurements([path])
    means = {
        each["name"]: each.get("rtt_mean_ms", each.get("throughput_mbps")) for each in found.flows
    }
    shown = flents_summary(path)
    assert {each: f"{means[each]:.2f}" for each in series} == {
        each: shown[each][0] for each in series
    }
    of_flows = [float(str(means[each])) for each, direction in series.items() if direction]
    assert found.metrics["throughput_mbps"] == pytest.approx(sum(of_flows))
    assert found.controller == "bbr"


# qlog -----------------------------------------------------------------------------------------


def quic(seed: int) -> tuple[list[dict[str, Any]], dict[str, float]]:
    """Returns the events of a sender, with times since the first (ms), and its figures."""
    drawn = random.Random(seed)
    prefix, ranges = (("transport:", str), ("quic:", int))[seed % 2]
    updated = ("recovery:metrics_updated", "quic:recovery_metrics_updated")[seed % 2]
    events: list[dict[str, Any]] = []
    rtts_ms, acked, lost = [], 0, 0

    def add(time_ms: float, name: str, data: object) -> None:
        events.append({"time": time_ms, "name": name, "data": data})

    for number in range(200):
        size, at_ms = drawn.randint(100, 1200), number * 10.0
        header = {"packet_type": "1RTT", "packet_number": number}
        sent = {"header": header, "raw": {"length": size}, "frames": []}
        add(at_ms, f"{prefix}packet_sent", sent)
        if number % 20 == 7:
            lost += 1
            gone = {"header": header} if seed % 2 else {"type": "1RTT", "packet_number": number}
            add(at_ms + 5, "recovery:packet_lost", gone)
            add(
                at_ms + 5, "transport:datagrams_sent", [{"raw": {}}]
            )  # other events may have any form
            continue
        acked += size
        acks = [[ranges(number), ranges(number)]]
        acks += [[ranges(0), ranges(number - 2)]] * (number > 3)  # acknowledged again
        frames = [{"frame_type": "ack", "acked_ranges": acks}]
        came = {"header": header, "raw": {"length": 40}, "frames": frames}
        add(at_ms + 6, f"{prefix}packet_received", came)
        rtts_ms.append(round(drawn.uniform(20, 60), 3))
        add(at_ms + 6, updated, {"latest_rtt": rtts_ms[-1]})
    throughput_mbps = acked * 8 / events[-1]["time"] / 1e3
    p95_ms = sorted(rtts_ms)[int(0.95 * len(rtts_ms))]
    return events, {"throughput_mbps": throughput_mbps, "lost": lost, "rtt_p95_ms": p95_ms}


def qlog_file(seed: int) -> str:
    """Returns one object or a sequence, with relative, incremental or absolute times."""
    events, _ = quic(seed)
    way = ("relative", "delta", "absolute")[seed % 3]
    times = np.array([event["time"] for event in events])
    shown = {"relative": times, "delta": np.diff(times, prepend=0.0), "absolute": times + 1.7e12}
    events = [event | {"time": at} for event, at in zip(events, shown[way].tolist(), strict=True)]
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


# Errors ------------------------------------------------------------------------------


def flent_object(**changes: object) -> str:
    raw = {"TCP upload::1": [{"t": 1.0, "val": 3.0}, {"t": 1.2, "val": 3.0}]}
    meta = {"FLENT_VERSION": "2.3.0", "SERIES_META": {"TCP upload::1": {"UNITS": "Mbits/s"}}}
    results = {"TCP upload::1": [3.0, 3.0]}
    whole = {"version": 4, "metadata": meta, "x_values": [0.0, 0.2], "results": results}
    return json.dumps(whole | {"raw_values": raw} | changes)


def iperf3_object(**changes: object) -> str:
    return json.dumps(IPERF3 | changes)


ONE_RTT = {"header": {"packet_type": "1RTT", "packet_number": 7}, "raw": {"length": 1200}}
ACKED = {"header": {"packet_type": "1RTT"}, "frames": [{"acked_ranges": [[7, 7]]}]}


def one_rtt(*packets: dict[str, Any]) -> str:
    """Returns a qlog of packets, one per millisecond; a packet with frames was received."""
    names = ["packet_received" if "frames" in each else "packet_sent" for each in packets]
    events = [{"time": k, "name": n, "data": packets[k]} for k, n in enumerate(names)]
    return json.dumps({"qlog_version": "0.3", "traces": [{"events": events}]})


TUNNEL = tunnel_log_of(4)[0]
LINK = link_log_of(1)
SEQUENCE = qlog_file(2)
NOTHING = {"bytes": 0, "bits_per_second": 0, "seconds": 0}
BAD = {
    "link cut off": (LINK[:-4], "cut off"),
    "link of no packets": (HEADER + "100 # 1504\n200 # 1504\n", "no packet"),
    "link without events": (HEADER, "no event"),
    "link within a millisecond": (HEADER + "100 + 80\n100 # 1504\n100 - 80 0\n", "millisecond"),
    "two links": (LINK + LINK, "one link"),
    "two links, headless": (LINK + LINK[LINK.index("\n5") + 1 :], "earlier"),
    "tunnel cut off": (TUNNEL[:-3], "cut off"),
    "tunnel backward": (TUNNEL + TUNNEL[TUNNEL.index("\n") + 1 :], "earlier"),
    "two tunnels": (TUNNEL + TUNNEL, "no event"),
    "tunnel of no packets": ("# init timestamp: 1\n1.0 + 80\n2.0 + 80\n", "no packet"),
    "metadata cut off": ('{"cc_schemes": ["bbr"', "JSON"),
    "metadata of nothing": ('{"cc_schemes": 3}', "cc_schemes"),
    "another tool's": ("time,rate\n1,2\n", "known"),
    "empty": ("\n", "empty"),
    "packed, cut off": (gzip.compress(LINK.encode())[:-9], "unpacked"),
    "iperf3, cut off": (iperf3_object()[:-9], "JSON"),
    "iperf3, failed": (iperf3_object(error="unable to connect"), "unable to connect"),
    "iperf3, without its end": (iperf3_object(end={}), "incomplete"),
    "iperf3, of nothing": (
        iperf3_object(end=IPERF3["end"] | {"sum_sent": NOTHING, "sum_received": NOTHING}),
        "nothing was sent",
    ),
    "iperf3, backward": (iperf3_object(intervals=IPERF3["intervals"][::-1]), "backward"),
    "iperf3, a stream cut off": ('{"event":"start","data":{"version":"iperf 3.17"}}', "its end"),
    "flent, cut off": (flent_object()[:-9], "JSON"),
    "flent, packed, cut off": (gzip.compress(flent_object().encode())[:-9], "unpacked"),
    "flent, too old": (flent_object(version=3), "version 3"),
    "flent, too new": (flent_object(version=5), "version 5"),
    "flent, backward": (flent_object(x_values=[0.2, 0.0]), "backward"),
    "flent, of no flow": (flent_object(raw_values={}), "no rate"),
    "flent, not whole": (flent_object(x_values=None), "incomplete"),
    "flent, times in ms": (flent_object(x_values=[0, 200]), "x_values"),
    "flent, of one moment": (flent_object(x_values=[0.0, 0.0]), "duration is 0"),
    "flent, of no number": (flent_object().replace("3.0", "NaN"), "NaN"),
    "packed by another tool": (bz2.compress(flent_object().encode()), "bunzip2"),
    "qlog, cut off": (qlog_file(0)[:-5], "JSON"),
    "qlog, sequence cut off": (SEQUENCE[:-5], "record"),
    "qlog of no trace": ('{"qlog_version": "0.3", "traces": []}', "no trace"),
    "qlog of no packets": ('{"qlog_version": "0.3", "traces": [{"events": []}]}', "no packet"),
    "qlog, a packet twice": (one_rtt(ONE_RTT, ONE_RTT), "packet 7 is sent twice"),
    "qlog, below 0": (one_rtt(ONE_RTT | {"raw": {"length": -9}}), "-9 bytes"),
    "qlog, no lengths": (one_rtt({**ONE_RTT, "raw": {}}, ACKED), "no packet has a length"),
    "qlog, backward": (SEQUENCE + SEQUENCE.split("\n")[1] + "\n", "backward"),
    "qlog, not whole": ('{"qlog_version": "0.3", "traces": [{"events": [{}]}]}', "incomplete"),
}


@pytest.mark.parametrize(("content", "named"), BAD.values(), ids=BAD)
def test_bad_files_are_one_line(tmp_path: Path, content: str | bytes, named: str) -> None:
    with pytest.raises(KneepointError) as raised:
        read(tmp_path / "bad.file", content)
    message = str(raised.value)
    assert "bad.file" in message and named in message and "\n" not in message


# Compression and encodings of files
# ---------------------------------------------------------------------------

TEXTS = {
    **{"link log": LINK, "tunnel log": TUNNEL, "sequence": SEQUENCE, "qlog": qlog_file(0)},
    **{"iperf3": iperf3_object(), "flent": flent_object()},
}
WAYS_HERE: dict[str, Callable[[str], bytes]] = {
    "gzip twice": lambda text: gzip.compress(gzip.compress(text.encode())),
    "signature": lambda text: text.encode("utf-8-sig"),
    "UTF-16": lambda text: text.encode("utf-16"),
    "all": lambda text: gzip.compress(text.replace("\n", "\r\n").encode("utf-16")),
    "Windows": lambda text: text.replace("\n", "\r\n").encode(),
}


@pytest.mark.parametrize("way", WAYS_HERE)
@pytest.mark.parametrize("kind", TEXTS)
def test_a_file_may_have_been_on_another_system(tmp_path: Path, kind: str, way: str) -> None:
    expected = read(tmp_path / "plain", TEXTS[kind])
    found = read(tmp_path / "other", WAYS_HERE[way](TEXTS[kind]))
    assert (found.metrics, found.flows) == (expected.metrics, expected.flows)
    assert found.metrics and found.notes == ()


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (gzip.compress(gzip.compress(gzip.compress(b"x"))), "gunzip"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8A\x00", "UTF-8"),
    ],
    ids=["thrice", "odd"],
)
def test_what_cannot_be_unpacked_is_one_line(tmp_path: Path, content: bytes, named: str) -> None:
    with pytest.raises(KneepointError, match=named):
        read(tmp_path / "a", content)


@pytest.mark.parametrize("kind", ["iperf3", "flent", "qlog"])
@pytest.mark.parametrize(
    ("changed", "noted"),
    [
        (lambda text: text + "\n" + text, "another object"),
        (lambda text: text + "\niperf Done.\n", "text"),
        (lambda text: text[:-9] + "\n" + text, "another object"),
    ],
)
def test_the_first_whole_object_is_taken(
    tmp_path: Path, kind: str, changed: Callable[[str], str], noted: str
) -> None:
    expected = read(tmp_path / "plain", TEXTS[kind])
    found = read(tmp_path / "other", changed(TEXTS[kind]))
    assert found.metrics == expected.metrics
    assert [noted in note for note in found.notes] == [True]


@pytest.mark.parametrize("kind", ["iperf3", "flent", "qlog", "sequence"])
def test_a_key_that_stands_twice_is_refused(tmp_path: Path, kind: str) -> None:
    text = TEXTS[kind]
    place = text.rindex("{") + 1
    with pytest.raises(KneepointError, match="appears twice"):
        read(tmp_path / "a", f'{text[:place]}"new": 1, "new": 2, {text[place:]}')


def test_every_file_is_of_one_format() -> None:
    texts = (iperf3_object(), flent_object(), qlog_file(0), SEQUENCE, LINK, TUNNEL)
    for content in (*map(str.encode, texts), b'{"cc_schemes": []}', pcap([])):
        assert sum(each.recognises(content[:65_536]) for each in FORMATS) == 1

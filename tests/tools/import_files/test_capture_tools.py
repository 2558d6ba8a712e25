"""Captures against tcpdump, tcptrace, tshark and capinfos; real captures with and without offloads.

The judges are Debian's packages tcpdump, tcptrace, tshark and wireshark-common.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kneepoint.tools.import_files.measurement import Measurement
from kneepoint.tools.import_files.read import read_measurements
from tests.tools.import_files.captures import Form, Interface, datagram, pcap, pcapng, transfer


def output_of(*command: str | Path) -> str:
    """Returns the output of a tool; skips the test if the tool is missing."""
    if not shutil.which(str(command[0])):
        pytest.skip(f"NOT TESTED: {command[0]} is missing (Debian: apt-get install {command[0]})")
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    return done.stdout


def one(path: Path) -> Measurement:
    (found,) = read_measurements([path])
    return found


# Judges ---------------------------------------------------------------------------------------


@pytest.fixture(params=[0, 1, 2])
def capture(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """A sender's capture, in pcap or in pcapng with two clocks."""
    form, seed = Form(), request.param
    seen = form.seen(transfer(seed, form).sender)
    two = Interface(resolution=9), Interface(resolution=0x80 | 20)
    path = tmp_path / "sender.pcap"
    path.write_bytes(pcapng(seen, *two) if seed == 2 else pcap(seen, snaplen=(128, 1600)[seed]))
    return path


@pytest.mark.parametrize("kind", ["TCP", "UDP"])
def test_tcpdump_counts_the_same(tmp_path: Path, kind: str) -> None:
    path, form = tmp_path / "cubic-1.pcap", Form()
    seen = form.seen(transfer(0, form).sender)
    if kind == "UDP":
        seen = [(1 + k / 90, datagram(0, k, bytes(7 * k))) for k in range(200)]
    path.write_bytes(pcap(seen))
    printed = output_of("tcpdump", "-Z", "root", "-nn", "-tt", "-v", "-r", path)
    packets = re.findall(r"(?m)^([\d.]+) IP .*length (\d+).*\)\n +10\.0\.0\.1", printed)
    found = one(path)
    assert found.metrics["packets_sent"] == len(packets) > 100
    span_s = float(packets[-1][0]) - float(packets[0][0])
    mbps = 8 * sum(int(size) for _, size in packets) / span_s / 1e6
    assert found.metrics["throughput_mbps"] == pytest.approx(mbps, rel=1e-9)
    assert [flow["name"] for flow in found.flows] == ["all", "10.0.0.1:5000 > 10.0.0.2:6000"]


def test_tcptrace_counts_the_same(capture: Path) -> None:
    printed = output_of("tcptrace", "-n", "-l", "-r", capture)
    flow = one(capture).flows[0]
    assert flow["retransmissions"] == int(re.findall(r"rexmt data pkts: +(\d+) ", printed)[0])
    samples = int(re.findall(r"RTT samples: +(\d+) ", printed)[0])
    mean_ms = float(re.findall(r"RTT avg: +([\d.]+) ms", printed)[0])
    of_data_ms = (mean_ms * samples - 40) / (samples - 1)  # without the RTT of the SYN
    assert flow["rtt_mean_ms"] == pytest.approx(of_data_ms, abs=0.06)  # it prints tenths


def test_tshark_measures_the_same(capture: Path) -> None:
    fields = ("frame.time_epoch", "ip.len", "tcp.analysis.retransmission")
    words = [word for field in (*fields, "tcp.analysis.out_of_order") for word in ("-e", field)]
    sent = ("-Y", "tcp.srcport == 5000", "-T", "fields")
    rows = output_of("tshark", "-r", capture, *sent, *words).splitlines()
    cells = [row.split("\t") for row in rows]
    found = one(capture)
    assert found.metrics["packets_sent"] == len(cells)
    span_s = float(cells[-1][0]) - float(cells[0][0])
    mbps = 8 * sum(int(row[1]) for row in cells) / span_s / 1e6
    assert found.metrics["throughput_mbps"] == pytest.approx(mbps, rel=1e-6)
    assert found.flows[0]["retransmissions"] == sum(bool(row[2] or row[3]) for row in cells)


def test_capinfos_sees_the_same_duration(capture: Path) -> None:
    printed = output_of("capinfos", "-T", "-r", "-M", "-u", capture).split("\t")
    assert one(capture).duration_s == pytest.approx(float(printed[-1]), abs=1e-6)


# Real captures --------------------------------------------------------------------------------

ADDRESSES = {"va": "10.1.1.1", "ra": "10.1.1.2", "rb": "10.1.2.2", "vb": "10.1.2.1"}


@contextlib.contextmanager
def hosts() -> Iterator[dict[str, list[str]]]:
    """Namespaces a, r and b in a row, as prefixes of commands; r sends 20 Mbit/s to b."""
    names = {each: f"kneepoint-{each}-{os.getpid()}" for each in "arb"}
    made = {each: ["ip", "netns", "exec", name] for each, name in names.items()}
    try:
        for name in names.values():
            subprocess.run(["ip", "netns", "add", name], check=True, capture_output=True)
        for end in "ab":
            peer = ["peer", "name", f"r{end}", "netns", names["r"]]
            link = ["ip", "link", "add", f"v{end}", "netns", names[end], "type", "veth", *peer]
            subprocess.run(link, check=True, capture_output=True)
        for device, address in ADDRESSES.items():
            host = made["r" if device[0] == "r" else device[1]]
            ip = [*host, "ip"]
            subprocess.run([*ip, "address", "add", f"{address}/24", "dev", device], check=True)
            subprocess.run([*ip, "link", "set", "dev", device, "up"], check=True)
        for end in "ab":
            route = ["ip", "route", "add", "default", "via", ADDRESSES[f"r{end}"]]
            subprocess.run([*made[end], *route], check=True)
        forward = ["sysctl", "-qw", "net.ipv4.ip_forward=1"]
        subprocess.run([*made["r"], *forward], check=True)
        queue = ["tc", "qdisc", "add", "dev", "rb", "root", "tbf", "rate", "20mbit"]
        subprocess.run([*made["r"], *queue, "burst", "5kb", "limit", "60kb"], check=True)
        yield made
    except subprocess.CalledProcessError as error:
        pytest.skip(f"NOT TESTED on real interfaces: {' '.join(error.cmd)}: {error.stderr}")
    finally:
        for name in names.values():
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


@contextlib.contextmanager
def captured(host: list[str], device: str, path: Path) -> Iterator[None]:
    """Captures the packets of a device during the block."""
    words = ["-Z", "root", "--immediate-mode", "-U", "-s", "128", "-i", device, "-w", str(path)]
    command = [*host, "tcpdump", *words]
    with subprocess.Popen([*command, "tcp"], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        assert any("listening" in line for line in iter(process.stderr.readline, ""))
        try:
            yield
            size = -1
            while size != (size := path.stat().st_size):
                time.sleep(0.5)
        finally:
            process.send_signal(signal.SIGINT)
            dropped = re.search(r"(\d+) packets dropped by kernel", process.stderr.read())
    if dropped and int(dropped[1]):
        pytest.skip(f"NOT TESTED: tcpdump dropped {dropped[1]} packets")


@pytest.mark.real_time
@pytest.mark.parametrize("offloads", ["on", "off"])
def test_real_captures_with_offloads_are_those_of_the_wire(tmp_path: Path, offloads: str) -> None:
    for tool in ("tcpdump", "iperf3", "ethtool", "tc", "ip"):
        if not shutil.which(tool):
            pytest.skip(f"NOT TESTED: {tool} is missing")
    if os.geteuid():
        pytest.skip("NOT TESTED: namespaces need root")
    paths = {name: tmp_path / f"{name}.pcap" for name in ("sender", "receiver", "wire", "any")}
    with hosts() as on, contextlib.ExitStack() as stack:
        switched = ["tso", offloads, "gso", offloads, "gro", offloads]
        for host, device in (("a", "va"), ("b", "vb")):
            subprocess.run([*on[host], "ethtool", "-K", device, *switched], capture_output=True)
        for device in ("ra", "rb"):
            off = ["tso", "off", "gso", "off", "gro", "off"]
            subprocess.run([*on["r"], "ethtool", "-K", device, *off], capture_output=True)
        server = stack.enter_context(
            subprocess.Popen([*on["b"], "iperf3", "-s", "-1"], stdout=subprocess.DEVNULL)
        )
        stack.callback(server.kill)
        places = (("a", "va", "sender"), ("b", "vb", "receiver"), ("r", "rb", "wire"))
        with contextlib.ExitStack() as captures:
            for host, device, name in (*places, ("r", "any", "any")):
                captures.enter_context(captured(on[host], device, paths[name]))
            command = [*on["a"], "iperf3", "-c", ADDRESSES["vb"], "-J", "-n", "3M"]
            for _ in range(50):
                printed = json.loads(subprocess.run(command, capture_output=True).stdout)
                if "error" not in printed:
                    break
                time.sleep(0.1)
    again = printed["end"]["sum_sent"]["retransmits"]
    (both,) = read_measurements([paths["sender"], paths["receiver"]])
    alone = {name: one(path) for name, path in paths.items()}
    data, *others = (largest(each) for each in (both, *(alone[name] for name in ("wire", "any"))))
    # iperf3 counts until it has written its last byte, which may then wait in the socket.
    assert int(str(data["retransmissions"])) >= again
    rate = data["throughput_mbps"]
    assert rate == pytest.approx(others[0]["throughput_mbps"], rel=1e-3)
    assert largest(alone["sender"])["throughput_mbps"] == pytest.approx(
        others[1]["throughput_mbps"], rel=1e-3
    )
    sent, came = (both.metrics[f"packets_{what}"] for what in ("sent", "delivered"))
    # Packets that leave after the last arrival do not count.
    assert 0 <= alone["any"].metrics["packets_sent"] - sent <= 1 and sent >= came
    assert came == alone["wire"].metrics["packets_sent"]
    flags = ("-nn", "-r", paths["wire"], f"dst host {ADDRESSES['vb']}")
    assert came == len(output_of("tcpdump", "-Z", "root", *flags).splitlines())


def largest(found: Measurement) -> Mapping[str, object]:
    """Returns the flow with the most throughput, which carries the data."""
    return max(found.flows[1:], key=lambda flow: float(str(flow["throughput_mbps"])))

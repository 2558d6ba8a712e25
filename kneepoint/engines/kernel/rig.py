"""Server, router and client in network namespaces, with the bottleneck between router and client.

    server --- veth --- router --- delay line (two TUN devices) --- client
                          |
                  HTB, pfifo: the uplink's rate and queue

Data flows from the server to the client, so that the queue is the router's, not the sender's own.
The namespaces end with this process, so that nothing has to be undone.
"""

import fcntl
import os
import struct
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import parse_json
from kneepoint.engines.kernel.diagnosis import TUN
from kneepoint.engines.kernel.namespaces import Namespace
from kneepoint.engines.kernel.scenario import HEADERS_BYTES, SEGMENT_BYTES, Link, Scenario
from kneepoint.engines.supervision import RunEndedError

SERVER, CLIENT = "10.0.0.2", "10.0.1.2"
_ROUTER_TO_SERVER, _ROUTER_TO_CLIENT = "10.0.0.1", "10.0.1.1"
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000  # linux/if_tun.h
_OFFLOADS = ("tso", "gso", "gro")

_FIRST_PORT = 6001
_BURST_S = 1e-3
"""HTB's burst after a late timer, in time at the link's rate."""
_WIRE_ENDED = "the delay line ended during the run"
_MAJOR, _ROOT, _FIRST_CLASS = 1, 0x1, 0x10


def data_port(number: int) -> int:
    """Returns the server's TCP port of a flow."""
    return _FIRST_PORT + number


class Rig:
    """The rig of a scenario, ready for traffic."""

    def __init__(self, scenario: Scenario, delay_line: Path) -> None:
        """Builds the rig.

        Raises:
            KneepointError: this process lacks a permission or a program, which the message names.
        """
        self._scenario = scenario
        self.router = Namespace.current()
        self.server = Namespace.make()
        self.client = Namespace.make()
        for namespace in (self.router, self.server, self.client):
            _prepare(namespace)
        self._connect_server()
        self._wire = self._connect_client(delay_line)
        shape(self.router, scenario.uplink)
        shape(self.client, scenario.downlink)
        classify(self.router, scenario)
        self._await_answer()

    def end_wire(self) -> dict[str, Any]:
        """Ends the delay line; returns its scheduling delays (see RunRecord)."""
        self._wire.terminate()
        output, _ = self._wire.communicate()
        try:
            delays: dict[str, Any] = parse_json(output)
        except ValueError:
            raise RunEndedError(_WIRE_ENDED) from None
        return delays

    def check(self) -> None:
        """Raises RunEndedError if the delay line has ended."""
        if self._wire.poll() is not None:
            raise RunEndedError(_WIRE_ENDED)

    def _connect_server(self) -> None:
        peer = f"/proc/self/fd/{self.server.descriptor}"
        self.router.run(
            *"ip link add server type veth peer name router netns".split(),
            peer,
            passing=[self.server.descriptor],
        )
        for namespace, device, address in (
            (self.router, "server", _ROUTER_TO_SERVER),
            (self.server, "router", SERVER),
        ):
            # With offloads, a packet could have 64 KB.
            for offload in _OFFLOADS:
                namespace.run("ethtool", "-K", device, offload, "off")
            _bring_up(namespace, device, address)
        self.server.run("ip", "route", "add", "default", "via", _ROUTER_TO_SERVER)

    def _connect_client(self, delay_line: Path) -> "subprocess.Popen[bytes]":
        """Starts the delay line between router and client; returns its process."""
        devices = []
        for namespace, address in ((self.router, _ROUTER_TO_CLIENT), (self.client, CLIENT)):
            devices.append(_open_tun(namespace))
            _bring_up(namespace, "link", address)
        self.client.run("ip", "route", "add", "default", "via", _ROUTER_TO_CLIENT)
        links = (self._scenario.uplink, self._scenario.downlink)
        words = [str(delay_line), *map(str, devices)]
        words += ["--delays-ms", ",".join(repr(link.delay_ms) for link in links)]
        words += ["--rates-mbps", ",".join(repr(link.rate_mbps) for link in links)]
        try:
            return subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=devices,
            )
        except OSError as error:
            raise KneepointError(f"{delay_line}: {error.strerror}; run: make build") from None

    def _await_answer(self) -> None:
        """Waits for an answer of the client, which proves that both directions work."""
        links = (self._scenario.uplink, self._scenario.downlink)
        round_trip_s = sum(link.delay_ms / 1000 + 0.001 / link.rate_mbps for link in links)
        deadline = time.monotonic() + 2 + 3 * round_trip_s
        while time.monotonic() < deadline:
            self.check()
            with suppress(KneepointError):
                wait_s = max(1, round(2 * round_trip_s))
                self.server.run("ping", "-n", "-q", "-c", "1", "-W", str(wait_s), CLIENT)
                return
        raise RunEndedError("the client does not answer through the link")


def shape(namespace: Namespace, link: Link) -> None:
    """Sets the rate and the queue of the device `link` of a namespace.

    HTB releases a packet when the previous one has been transmitted. The delay line adds the
    packet's own transmission time.
    """
    rate = ["rate", f"{round(link.rate_mbps * 1e6)}bit"]
    burst_bytes = max(1, round(link.rate_mbps * 1e6 / 8 * _BURST_S))
    details = ["burst", str(burst_bytes), "cburst", str(burst_bytes)]
    details += ["overhead", str(HEADERS_BYTES), "quantum", str(SEGMENT_BYTES)]
    change_queues(namespace, "qdisc add dev link root handle 1: htb default", f"{_FIRST_CLASS:x}")
    change_queues(
        namespace, "class add dev link parent 1: classid", f"1:{_ROOT}", "htb", *rate, *details
    )
    for minor in _classes(link):
        share = ["rate", f"{round(link.rate_mbps * 1e6 / link.classes)}bit", "ceil", rate[1]]
        parent = ["class add dev link parent", f"1:{_ROOT}", "classid", f"1:{minor:x}"]
        change_queues(namespace, *parent, "htb", *share, *details)
        limit = ["pfifo", "limit", str(link.packets)]
        change_queues(namespace, "qdisc add dev link parent", f"1:{minor:x}", *limit)


def classify(namespace: Namespace, scenario: Scenario) -> None:
    """Assigns flows, by the server's TCP port, and pings to their classes by u32 filters.

    All other packets, such as iperf3's control connections, are in class 0.
    """
    if scenario.uplink.classes == 1:
        return
    wanted = {
        f"match ip sport {data_port(number)} 0xffff": flow.share_class
        for number, flow in enumerate(scenario.flows)
    }
    if scenario.probes:
        wanted["match ip protocol 1 0xff"] = scenario.probes[0].share_class
    for match, number in wanted.items():
        target = f"1:{_FIRST_CLASS + number:x}"
        change_queues(
            namespace, f"filter add dev link parent 1: protocol ip u32 {match} flowid {target}"
        )


def leaves(link: Link) -> set[int]:
    """Returns the handles of a link's classes, the parents of their queues."""
    return {_MAJOR << 16 | minor for minor in _classes(link)}


def change_queues(namespace: Namespace, *words: str) -> None:
    """Changes a namespace's queues by tc(8); phrases are split at blanks."""
    command = ["tc", *(word for phrase in words for word in phrase.split())]
    try:
        namespace.run(*command)
    except KneepointError as error:
        if "kind is unknown" not in str(error):
            raise
        kind = next((word for word in ("pfifo", "u32") if word in command), "htb")
        raise KneepointError(
            f"this kernel has no queue discipline or classifier {kind}; load its module "
            f"(modprobe {'cls' if kind == 'u32' else 'sch'}_{kind}), or use another kernel"
        ) from None


def _classes(link: Link) -> range:
    return range(_FIRST_CLASS, _FIRST_CLASS + link.classes)


def _prepare(namespace: Namespace) -> None:
    with namespace.entered():
        if Path("/proc/sys/net/ipv6").is_dir():
            namespace.write_setting("net.ipv6.conf.all.disable_ipv6", "1")
    namespace.run("ip", "link", "set", "dev", "lo", "up")
    namespace.write_setting("net.ipv4.ip_forward", "1")
    # Otherwise a connection inherits ssthresh from the previous one.
    namespace.write_setting("net.ipv4.tcp_no_metrics_save", "1")
    # iperf3 sets the congestion control of an open connection. If the host's default, with which it
    # was opened, is BBR, the connection stays paced.
    namespace.write_setting("net.ipv4.tcp_congestion_control", "reno")


def _bring_up(namespace: Namespace, device: str, address: str) -> None:
    namespace.run("ip", "address", "add", f"{address}/30", "dev", device)
    namespace.run("ip", "link", "set", "dev", device, "up")


def _open_tun(namespace: Namespace) -> int:
    """Makes the TUN device `link` of a namespace; closing the descriptor removes it."""
    try:
        with namespace.entered():
            device = os.open(TUN, os.O_RDWR | os.O_CLOEXEC)
            fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH14x", b"link", _IFF_TUN | _IFF_NO_PI))
    except OSError as error:
        raise KneepointError(f"{TUN}: {error.strerror}; make it writable") from None
    return device

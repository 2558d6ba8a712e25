"""The kernel's TCP in mahimahi's links: iperf3 and ping send, and ss samples their sockets.

The senders are inside mm-delay and mm-link, iperf3's servers outside. A shell script on each side
samples its sockets, because only root may enter mahimahi's namespaces.
"""

import contextlib
import re
import shlex
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import IPv4Address, IPv4Network
from itertools import chain
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from kneepoint.common.errors import KneepointError
from kneepoint.common.programs import find_program, run_program
from kneepoint.engines.kernel.answer import FlowSamples, answer_of_traffic
from kneepoint.engines.kernel.diagnosis import SEARCH_PATH
from kneepoint.engines.kernel.netlink import TcpSocket
from kneepoint.engines.kernel.rig import data_port
from kneepoint.engines.kernel.scenario import Load
from kneepoint.engines.kernel.traffic import (
    iperf_words,
    ping_words,
    require_buffers,
    require_control,
    rtts_of,
)
from kneepoint.engines.mahimahi.processes import INSIDES

PROGRAMS = ("iperf3", "ping", "ss")
SAMPLE_S = 0.1
OVER = "over"
"""The file that marks the end of a run: iperf3's later errors are not failures."""
_SETTINGS = Path("/proc/sys/net/ipv4")
_PACING = "bbr"
_PATH = f"PATH={shlex.quote(SEARCH_PATH)}"
_ESTABLISHED = "ESTAB"
_PING_ENDS_EARLIER_S = 0.05
_TIMEOUT_STATUS = 124
"""Exit status of timeout(1) when the time limit has ended the command."""


class LinkLoad(Load):
    """Endless TCP flows, and pings, from inside mahimahi's links to the outside."""

    @model_validator(mode="after")
    def _has_no_downloads(self) -> Self:
        for number, flow in enumerate(self.flows):
            if flow.bytes is not None:
                raise ValueError(
                    f"flows.{number}.bytes: flows in mahimahi's links are endless; remove it, or "
                    "use the kernel or the emulator"
                )
        return self


def require_settings(load: Load, settings: Path = _SETTINGS) -> None:
    """Raises KneepointError unless an ordinary user may use the settings of all flows."""
    require_buffers(load.flows)
    available, allowed, opens_with = (
        (settings / name).read_text().strip()
        for name in (
            "tcp_available_congestion_control",
            "tcp_allowed_congestion_control",
            "tcp_congestion_control",
        )
    )
    for name in dict.fromkeys(flow.controller for flow in load.flows):
        require_control(name, available)
        if name not in allowed.split():
            raise KneepointError(
                f"this kernel lets only root use the congestion control {name!r}; as root: "
                f"sysctl -w net.ipv4.tcp_allowed_congestion_control='{allowed} {name}'"
            )
        # iperf3 sets the controller of an open connection; a connection that BBR has opened stays
        # paced.
        if opens_with == _PACING and name != _PACING:
            raise KneepointError(
                f"this kernel opens connections with {_PACING}, whose pacing would stay with "
                f"{name!r}; as root: sysctl -w net.ipv4.tcp_congestion_control=cubic"
            )


def senders(load: Load, ports: Sequence[int], go: Path, *, ends: bool) -> str:
    """Returns the script of the inside, which starts sending when the file `go` exists.

    Each flow goes to a server of iperf3 at its port. With `ends` the script ends after the run's
    duration, otherwise with the link.
    """
    lines = [
        _PATH,
        f"trap ': > {OVER}; exit' HUP",  # mm-link sends SIGHUP at the trace's end
        'echo "$MAHIMAHI_BASE" > base.part; mv base.part base',
        f"until [ -e {shlex.quote(str(go))} ]; do sleep 0.01; done",
        _sampling("inside", f"sport >= :{data_port(0)} and sport <= :{data_port(len(ports))}"),
    ]
    for number, (flow, port) in enumerate(zip(load.flows, ports, strict=True)):
        words = iperf_words(flow, "$MAHIMAHI_BASE", port, number)
        if flow.stop_s is not None:
            words = ["timeout", f"{flow.stop_s - flow.start_s:g}", *words]
        lines.append(_started(f"flow{number}", flow.start_s, words))
    for number, probe in enumerate(load.probes):
        words = [*ping_words(probe), "$MAHIMAHI_BASE"]
        if ends:  # on SIGINT ping prints the number of pings sent
            rest_s = max(0.01, load.duration_s - probe.start_s - _PING_ENDS_EARLIER_S)
            words = ["timeout", "--signal", "INT", f"{rest_s:g}", *words]
        lines.append(_started(f"probe{number}", probe.start_s, words))
    lines.append(f"sleep {load.duration_s:g}; : > {OVER}" if ends else "wait")
    return "\n".join(lines) + "\n"


def servers(address: str, ports: Sequence[int]) -> str:
    """Returns the script of the outside, with iperf3's servers."""
    lines = [_sampling("outside", " or ".join(f"sport = :{port}" for port in ports))]
    for number, port in enumerate(ports):
        words = ["iperf3", "--server", "--one-off", "-4", "--bind", address, "--port", str(port)]
        lines.append(_started(f"server{number}", 0, words))
    return "\n".join([_PATH, *lines, "wait"]) + "\n"


def find(name: str) -> Path:
    """Returns the path of one of PROGRAMS; raises KneepointError if it is not installed."""
    remedy = "TCP in mahimahi's links needs it; run: make kernel-rig"
    return find_program(name, remedy, SEARCH_PATH)


def is_of_mahimahi(address: str) -> bool:
    """Returns whether mahimahi assigns an address."""
    try:
        return IPv4Address(address) in IPv4Network(INSIDES)
    except ValueError:
        return False


def free_ports(count: int) -> list[int]:
    """Returns TCP ports without a listening socket."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return sorted(each.getsockname()[1] for each in sockets)


def listen(ports: Sequence[int]) -> bool:
    """Returns whether every port has a listening socket."""
    words = [str(find("ss")), "--tcp", "--listening", "--numeric", "--no-header"]
    lines = run_program(words, Path("/"), limit_s=10).stdout.splitlines()
    open_ports = {line.split()[3].rpartition(":")[2] for line in lines}
    return open_ports.issuperset(map(str, ports))


def _sampling(name: str, which: str) -> str:
    look = f"date +%s.%N; ss --tcp --info --numeric --no-header --oneline '{which}'"
    return f"(while :; do {look}; sleep {SAMPLE_S}; done) > {name}.ss 2>&1 &"


def _started(name: str, start_s: float, words: Sequence[str]) -> str:
    """Returns a background command; its failure leaves the file NAME.failed."""
    command = " ".join(word if word == "$MAHIMAHI_BASE" else shlex.quote(word) for word in words)
    failed = f"[ $? = {_TIMEOUT_STATUS} ] || touch {name}.failed"
    return f"(sleep {start_s:g}; {command} || {failed}) > {name}.out 2>&1 &"


_FIELDS = {
    "window_packets": re.compile(r"\bcwnd:(\d+)"),
    "ssthresh_packets": re.compile(r"\bssthresh:(\d+)"),
    "retransmissions": re.compile(r"\bretrans:\d+/(\d+)"),
    "packets_sent": re.compile(r"\bdata_segs_out:(\d+)"),
    "packets_received": re.compile(r"\bdata_segs_in:(\d+)"),
    "bytes_received": re.compile(r"\bbytes_received:(\d+)"),
}
_RTT = re.compile(r"\brtt:([\d.]+)/")
_REPAIRING = re.compile(r"\b(?:lost:|retrans:[1-9]\d*/)")
"""The pattern of segments that count as lost, or were retransmitted and not yet acknowledged."""
_TIME = re.compile(r"\d+\.\d+")


def sockets_of(lines: Iterable[str]) -> Iterator[tuple[float, TcpSocket]]:
    """Parses samples: the time (s) of each, followed by lines of ss(8)."""
    time_s = 0.0
    for line in lines:
        if _TIME.fullmatch(line.strip()):
            time_s = float(line)
            continue
        words = line.split(maxsplit=5)
        if len(words) < 6 or words[0] != _ESTABLISHED:
            continue
        local, remote = (int(end.rpartition(":")[2]) for end in words[3:5])
        matches = {name: pattern.search(words[5]) for name, pattern in _FIELDS.items()}
        found: dict[str, Any] = {name: int(m[1]) if m else 0 for name, m in matches.items()}
        found["is_repairing"] = _REPAIRING.search(words[5]) is not None
        rtt = _RTT.search(words[5])
        found["rtt_ms"] = float(rtt[1]) if rtt else 0.0
        yield time_s, TcpSocket(state=1, local_port=local, remote_port=remote, **found)


def answer_to(
    load: Load, inside: Iterable[str], outside: Iterable[str], pings: Sequence[str]
) -> Mapping[str, Any]:
    """Returns flows and probes of an answer (see kneepoint.engines.kernel.answer).

    Args:
        load: the traffic.
        inside: lines of the senders' samples.
        outside: lines of the servers' samples.
        pings: ping's output, by probe.
    """
    sent = iter(inside)
    first = next(sent, "0")
    begun_s = float(first) if _TIME.fullmatch(first.strip()) else 0.0
    sending, receiving = list(sockets_of(chain([first], sent))), list(sockets_of(outside))
    samples = []
    for number, _ in enumerate(load.flows):
        port = data_port(number)
        samples.append(
            FlowSamples(
                [(at_s - begun_s, each) for at_s, each in sending if each.local_port == port],
                [(at_s - begun_s, each) for at_s, each in receiving if each.remote_port == port],
            )
        )
    return answer_of_traffic(load, samples, [rtts_of(text) for text in pings])

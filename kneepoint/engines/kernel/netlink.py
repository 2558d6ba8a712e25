"""The state of the kernel's sockets and queues over netlink(7), as ss(8) and tc(8) query it."""

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kneepoint.engines.kernel.namespaces import Namespace

_NETLINK_ROUTE, _NETLINK_SOCK_DIAG = 0, 4
_RTM_GETQDISC, _SOCK_DIAG_BY_FAMILY = 38, 20
_NLMSG_ERROR, _NLMSG_DONE = 2, 3
_NLM_F_DUMP = 0x301  # NLM_F_REQUEST | NLM_F_DUMP: all objects
_HEADER = struct.Struct("=IHHII")
_ATTRIBUTE = struct.Struct("=HH")
_INET_DIAG_INFO, _TCA_STATS = 2, 3
_ALL_STATES, LISTEN = (1 << 12) - 1, 10
_MAX_BYTES = 1 << 16

# linux/tcp.h: struct tcp_info; older kernels have a shorter struct.
_TCP_INFO_BYTES = 160
_STATE, _RTT_US = 1, 68
_TCP_INFO = {
    "ssthresh_packets": ("=I", 76),
    "window_packets": ("=I", 80),
    "retransmissions": ("=I", 100),
    "bytes_received": ("=Q", 128),
    "packets_received": ("=I", 152),
    "packets_sent": ("=I", 156),
}
"""Formats and offsets."""
_RECOVERY = 3
"""enum tcp_ca_state: TCP_CA_Recovery; with it and TCP_CA_Loss the sender recovers from a loss."""
# linux/pkt_sched.h: struct tc_stats.
_TC_STATS = struct.Struct("=QIIIIIII")


@dataclass(frozen=True)
class TcpSocket:
    """A socket's state, as sender and as receiver.

    Windows are in packets, `rtt_ms` is the kernel's smoothed RTT.
    """

    state: int
    local_port: int
    remote_port: int
    is_repairing: bool
    window_packets: int
    ssthresh_packets: int
    rtt_ms: float
    retransmissions: int
    packets_sent: int
    packets_received: int
    bytes_received: int


@dataclass(frozen=True)
class QueueState:
    """A qdisc's counters and occupancy; `bytes` are of IP packets."""

    parent: int
    bytes: int
    packets: int
    drops: int
    held_packets: int
    held_bytes: int


class Netlink:
    """The kernel's sockets and queues in a namespace."""

    def __init__(self, namespace: Namespace) -> None:
        with namespace.entered():
            self._sockets, self._queues = (
                socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
                for protocol in (_NETLINK_SOCK_DIAG, _NETLINK_ROUTE)
            )

    def tcp_sockets(self) -> list[TcpSocket]:
        """Returns the present state of all TCP sockets."""
        request = struct.pack(
            "=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), _ALL_STATES
        )
        return [_socket_of(each) for each in _dump(self._sockets, _SOCK_DIAG_BY_FAMILY, request)]

    def queues(self) -> list[QueueState]:
        """Returns the present state of all qdiscs."""
        return [_queue_of(each) for each in _dump(self._queues, _RTM_GETQDISC, bytes(20))]


def _dump(netlink: socket.socket, question: int, request: bytes) -> Iterator[memoryview]:
    """Yields the content of each reply."""
    netlink.settimeout(5)
    length = _HEADER.size + len(request)
    netlink.send(_HEADER.pack(length, question, _NLM_F_DUMP, 1, 0) + request)
    while True:
        answer = memoryview(netlink.recv(_MAX_BYTES))
        while answer:
            length, kind, *_ = _HEADER.unpack_from(answer)
            content = answer[_HEADER.size : length]
            if kind == _NLMSG_DONE:
                return
            if kind == _NLMSG_ERROR:
                (number,) = struct.unpack_from("=i", content)
                raise OSError(-number, "netlink")
            yield content
            answer = answer[_aligned(length) :]


def tcp_info(content: bytes | memoryview) -> dict[str, Any]:
    """Parses a struct tcp_info; returns the fields that a TcpSocket has."""
    whole = bytes(content).ljust(_TCP_INFO_BYTES, b"\0")
    (rtt_us,) = struct.unpack_from("=I", whole, _RTT_US)
    return {
        "is_repairing": whole[_STATE] >= _RECOVERY,
        "rtt_ms": rtt_us / 1000,
        **{
            name: struct.unpack_from(kind, whole, offset)[0]
            for name, (kind, offset) in _TCP_INFO.items()
        },
    }


def _socket_of(content: memoryview) -> TcpSocket:
    _, state = struct.unpack_from("=BB", content)
    local_port, remote_port = struct.unpack_from("!HH", content, 4)
    attributes = dict(_attributes(content[72:]))
    info = tcp_info(attributes.get(_INET_DIAG_INFO, b""))
    return TcpSocket(state, local_port, remote_port, **info)


def _queue_of(content: memoryview) -> QueueState:
    (parent,) = struct.unpack_from("=I", content, 12)
    attributes = dict(_attributes(content[20:]))
    stats = bytes(attributes[_TCA_STATS][: _TC_STATS.size]).ljust(_TC_STATS.size, b"\0")
    counted, packets, drops, _, _, _, held_packets, held_bytes = _TC_STATS.unpack(stats)
    return QueueState(parent, counted, packets, drops, held_packets, held_bytes)


def _attributes(content: memoryview) -> Iterator[tuple[int, memoryview]]:
    while len(content) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(content)
        yield kind, content[_ATTRIBUTE.size : length]
        content = content[_aligned(length) :]


def _aligned(length: int) -> int:
    return (length + 3) & ~3

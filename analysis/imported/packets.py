"""Packet captures (pcap and pcapng), which dpkt reads.

One capture tells what passed there: the throughput of IP packets from the first to the last, the
retransmissions of TCP, and the RTT from a segment to the acknowledgment of its last byte, without
those that were sent again (Karn). That is the path's RTT where the sender was captured. The
direction is the one in which more bytes passed; directions are told apart by a flow's first packet.
"""

import math
import struct
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import dpkt

from analysis import over_time
from analysis.imported.measurement import Delays, Format, Gathered, Measurement, series_of

_MAGICS = ("d4c3b2a1", "a1b2c3d4", "4d3cb2a1", "a1b23c4d", "0a0d0d0a")
_LINKS = {  # the link types of tcpdump.org/linktypes.html; dpkt's numbers differ by platform
    **{0: dpkt.loopback.Loopback, 1: dpkt.ethernet.Ethernet, 113: dpkt.sll.SLL},
    **{276: dpkt.sll2.SLL2, 12: None, 101: None, 228: None, 229: None},  # None: IP itself
}
_DAMAGE = (AttributeError, IndexError, ValueError, struct.error, dpkt.Error)
_MOST_BYTES = 2**24  # of a record
_SLACK_S = 0.001  # between the processors of a host
_MOST_SEGMENTS = 65_536  # that wait for their acknowledgment


class Packet(NamedTuple):
    """A TCP or UDP packet; `acked` is None where nothing is."""

    time_s: float
    source: tuple[bytes, int]
    destination: tuple[bytes, int]
    bytes_: int
    identity: tuple[int, ...]
    begins: int
    ends: int
    acked: int | None


@dataclass
class _Flow:
    """One direction between two ports."""

    is_forward: bool
    first_s: float
    last_s: float = 0
    bytes_: int = 0
    retransmissions: int = 0
    newest: int | None = None
    waiting: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=_MOST_SEGMENTS))
    rtts: Delays = field(default_factory=Delays)

    def take(self, packet: Packet) -> None:
        self.last_s = packet.time_s
        self.bytes_ += packet.bytes_
        if packet.acked is None or packet.begins == packet.ends:
            return
        if self.newest is None or _is_after(packet.ends, self.newest):
            self.newest = packet.ends
            self.waiting.append((packet.ends, packet.time_s))
        else:
            self.retransmissions += 1
            self.waiting.clear()  # which of the two is acknowledged?

    def acknowledge(self, acked: int, time_s: float) -> float | None:
        """The RTT that an acknowledgment measures."""
        rtt_s = None
        while self.waiting and not _is_after(self.waiting[0][0], acked):
            ends, sent_s = self.waiting.popleft()
            if ends == acked:
                rtt_s = time_s - sent_s
                self.rtts.add(rtt_s)
        return rtt_s

    def figures(self) -> dict[str, object]:
        span_s = self.last_s - self.first_s
        found: dict[str, object] = {}
        if span_s:
            found["throughput_mbps"] = self.bytes_ * 8 / span_s / 1e6
        if self.newest is not None:
            found["retransmissions"] = self.retransmissions
        return found | self.rtts.figures("rtt")


def _is_after(one: int, other: int) -> bool:
    """Of sequence numbers (RFC 9293, 3.4)."""
    return 0 < (one - other) % 2**32 < 2**31


def _recognises(head: bytes) -> bool:
    return head[:4].hex() in _MAGICS


class _Whole:
    """A stream that notices if it ends within a record."""

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path, self._stream = path, stream
        self.name = str(path)

    def read(self, count: int) -> bytes:
        if not 0 <= count <= _MOST_BYTES:
            raise FORMAT.refuse(self._path, f"a record has {count} bytes; capture again")
        found = self._stream.read(count)
        if len(found) < count and (found or count not in (8, 16)):  # a header of a record
            raise FORMAT.refuse(self._path, "its last packet is cut off; copy the whole file")
        return found

    def seek(self, place: int) -> None:
        self._stream.seek(place)


def read_packets(path: Path, stream: BinaryIO) -> Iterator[Packet]:
    """The TCP and UDP packets over IP, in constant memory."""
    try:
        reader = dpkt.pcap.UniversalReader(_Whole(path, stream))
        if reader.snaplen == 0 and isinstance(reader, dpkt.pcap.Reader):
            raise FORMAT.refuse(path, "its snap length is 0; capture again, with tcpdump -s 96")
        if (link := reader.datalink()) not in _LINKS:
            why = f"its link type is {link}; capture Ethernet, or any interface"
            raise FORMAT.refuse(path, why)
        latest_s = -math.inf
        for number, (stamp, data) in enumerate(reader, 1):
            time_s = float(stamp)
            if time_s < latest_s - _SLACK_S:
                why = f"time goes backward at packet {number}; sort it: reordercap"
                raise FORMAT.refuse(path, why)
            latest_s = max(time_s, latest_s)
            with suppress(*_DAMAGE):  # of other protocols
                if packet := _packet(latest_s, data, _LINKS[link]):
                    yield packet
    except _DAMAGE as error:
        raise FORMAT.refuse(path, f"it is damaged ({error}); capture again") from None


def _packet(time_s: float, data: bytes, link: Any) -> Packet | None:
    ip = link(data).data if link else (dpkt.ip.IP if data[:1] < b"P" else dpkt.ip6.IP6)(data)
    if not isinstance(ip, dpkt.ip.IP | dpkt.ip6.IP6):
        return None
    head, is_tcp = ip.data, isinstance(ip.data, dpkt.tcp.TCP)
    if not is_tcp and not isinstance(head, dpkt.udp.UDP):
        return None
    if isinstance(ip, dpkt.ip.IP):
        bytes_, own = ip.len or len(ip), ip.id
        payload = bytes_ - 4 * ip.hl - (4 * head.off if is_tcp else 8)
    else:
        bytes_, own = 40 + ip.plen, 0
        payload = ip.plen - (4 * head.off if is_tcp else 8)
    begins, acked = (head.seq, head.ack) if is_tcp else (0, None)
    word = (own, begins, acked or 0, payload, zlib.crc32(bytes(head.data)[:16]))
    ends = (ip.src, head.sport), (ip.dst, head.dport)
    return Packet(time_s, *ends, bytes_, word, begins, begins + payload, acked)


def _read(path: Path, stream: BinaryIO) -> list[Measurement]:
    flows: dict[tuple[Any, Any], _Flow] = {}
    seen, count, every = (Gathered(), Gathered()), [0, 0], (Delays(), Delays())
    first_s = last_s = 0.0
    for packet in read_packets(path, stream):
        first_s, last_s = first_s or packet.time_s, packet.time_s
        key, back = (packet.source, packet.destination), (packet.destination, packet.source)
        other = flows.get(back)
        flow = flows.get(key)
        if flow is None:
            is_forward = other is None or not other.is_forward
            flow = flows[key] = _Flow(is_forward, packet.time_s)
        flow.take(packet)
        count[flow.is_forward] += 1
        time_s = packet.time_s - first_s
        seen[flow.is_forward].add("egress_bytes", time_s, packet.bytes_)
        if other and packet.acked is not None:
            rtt_s = other.acknowledge(packet.acked, packet.time_s)
            if rtt_s is not None:
                every[other.is_forward].add(rtt_s)
                seen[other.is_forward].add("delay_ms", time_s, rtt_s * 1000)
    amount = [sum(f.bytes_ for f in flows.values() if f.is_forward == way) for way in (False, True)]
    way = amount[True] >= amount[False]
    own = {key: flow for key, flow in flows.items() if flow.is_forward == way}
    if not own:
        raise FORMAT.refuse(path, "it has no TCP or UDP packet over IP; did a flow run?")
    span_s = max(f.last_s for f in own.values()) - min(f.first_s for f in own.values())
    if not span_s:
        raise FORMAT.refuse(path, "all at one time; did it run on?")
    together = {"throughput_mbps": amount[way] * 8 / span_s / 1e6}
    sums: dict[str, object] = {**together, **every[way].figures("rtt")}
    if any(flow.newest is not None for flow in own.values()):
        sums["retransmissions"] = sum(flow.retransmissions for flow in own.values())
    named = [("all", sums)] + [(name_of(*key), flow.figures()) for key, flow in own.items()]
    absent = ["capacity, queue, signal and queueing delay: packets alone do not tell them"]
    absent.append("loss and one-way delay: import the captures of both ends")
    if "rtt_mean_ms" not in sums:
        absent.append("RTT: no segment was acknowledged")
    return [
        Measurement(
            path,
            FORMAT.name,
            last_s - first_s,
            {**together, "packets_sent": count[way]},
            tuple({"name": name, **found} for name, found in named),
            series_of(seen[way].over_time(last_s - first_s), over_time.RTT),
            tuple(absent),
        )
    ]


@cache
def name_of(source: tuple[bytes, int], destination: tuple[bytes, int]) -> str:
    """The name of a flow."""
    ends = (f"{dpkt.utils.inet_to_str(host)}:{port}" for host, port in (source, destination))
    return " > ".join(ends)


FORMAT = Format("capture of packets", _recognises, _read)

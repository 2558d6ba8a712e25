"""Dissects the records of a capture into packets of TCP and UDP over IP.

Offloads merge TCP segments before a capture sees them (in Linux, TSO and GSO of departing segments,
GRO of arriving segments). All merged segments but the last have the size MSS less TCP options,
equal headers, and increasing identifications. If the SYNs with the MSS were captured, a merged
segment therefore counts as the packets that the link carried. An IP length of 0 marks a merged
segment of more than 65,535 bytes.
"""

import socket
import struct
import zlib
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from kneepoint.tools.import_files.measurement import UnreadableError
from kneepoint.tools.import_files.records import Record

_BARE = {0: 4, 108: 4, 12: 0, 101: 0, 228: 0, 229: 0}  # link types whose IP begins at a fixed place
_NAMED = {1: (12, 14), 113: (14, 16), 276: (0, 20)}  # where Ethernet, SLL, SLL2 name the protocol
_IPS, _VLANS, _MPLS, _PPPOE = (0x0800, 0x86DD), (0x8100, 0x88A8, 0x9100), (0x8847, 0x8848), 0x8864
_PPP_IPS = (0x0021, 0x0057)
_TCP, _UDP, _FRAGMENT, _EXTENSIONS = 6, 17, 44, (0, 43, 60)  # protocols
_SYN, _ACK = 2, 16
_MSS = 2  # number of the TCP option
_TIMESTAMPS = b"\x01\x01\x08\x0a"  # first options of Linux and the BSDs
_ETHERNET_BYTES = 1500
_MAX_FRAGMENTED = 4096  # maximum number of incomplete datagrams

_IP4 = struct.Struct(">BxHHHxBxx8s")
_IP6 = struct.Struct(">4xHBx32s")
_IP6_FRAGMENT = struct.Struct(">BxHI")
_TCP_HEAD = struct.Struct(">4sIIBB")
_WORD = struct.Struct(">H")


class Packet(NamedTuple):
    """A packet, or `segments` merged packets, which `split` separates.

    `bytes_` is the number of IP bytes of all segments. `own` is the IP identification (if
    `is_own`), or else TCP's timestamp. `begins` and `ends` are TCP sequence numbers; `acked` is the
    acknowledged sequence number, -1 without an acknowledgment, None for UDP; `content` is a digest
    of UDP's payload. `place` is the interface and direction.
    """

    time_s: float
    flow: bytes
    bytes_: int
    segments: int
    begins: int
    ends: int
    acked: int | None
    own: int
    is_own: bool
    content: int
    place: int
    mss: int | None
    is_first: bool  # a SYN

    @property
    def identity(self) -> tuple[int, int, int, int | None, int]:
        """The values that distinguish the packet within its flow, as far as headers allow."""
        return self.begins, self.ends, self.own, self.acked, self.content

    @property
    def may_be_merged(self) -> bool:
        """Whether it exceeds the MTU of most links, and its number of packets is unknown."""
        return self.mss is None and self.bytes_ > _ETHERNET_BYTES

    def split(self) -> Iterator["Packet"]:
        """Yields the packets that the link carried."""
        if self.segments == 1 or self.mss is None:
            yield self
            return
        header = (self.bytes_ - (self.ends - self.begins)) // self.segments
        for number in range(self.segments):
            begins = self.begins + number * self.mss
            ends = min(begins + self.mss, self.ends)
            own = (self.own + number) % 2**16 if self.is_own else self.own
            bytes_ = header + ends - begins
            yield self._replace(bytes_=bytes_, segments=1, begins=begins, ends=ends, own=own)


@cache
def name_of(flow: bytes) -> str:
    """Returns a flow's name: HOST:PORT > HOST:PORT."""
    size = (len(flow) - 5) // 2
    family = socket.AF_INET if size == 4 else socket.AF_INET6
    hosts = (socket.inet_ntop(family, flow[1 + k * size :][:size]) for k in (0, 1))
    ports = struct.unpack(">HH", flow[-4:])
    return " > ".join(f"{host}:{port}" for host, port in zip(hosts, ports, strict=True))


def back_of(flow: bytes) -> bytes:
    """Returns the flow in the reverse direction."""
    size = (len(flow) - 5) // 2
    hosts = flow[1 + size : 1 + 2 * size] + flow[1 : 1 + size]
    return flow[:1] + hosts + flow[-2:] + flow[-4:-2]


class _Network(NamedTuple):
    """The IP header; `at` is the offset of the payload, `extra` the bytes that no link carries."""

    protocol: int
    hosts: bytes
    start: int
    at: int
    bytes_: int
    extra: int
    own: int
    fragment: int  # offset in the datagram, in units of 8 bytes
    has_more: bool


class Dissector:
    """Dissects the records of a capture, given in order."""

    def __init__(self) -> None:
        self._mss: dict[bytes, int] = {}
        self._ports: dict[tuple[int, bytes, int], bytes] = {}  # ports of fragmented datagrams

    def packet(self, record: Record) -> Packet | None:
        """Returns the packet of a record, None if it is neither TCP nor UDP.

        Raises:
            UnreadableError: the link type is unknown, or the snap length cuts a header.
        """
        try:
            start = _start(record.link, record.data)
            if start is None or (ip := _network(record, start)) is None:
                return None
            if ip.fragment:
                return self._fragment(record, ip)
            return self._tcp(record, ip) if ip.protocol == _TCP else self._udp(record, ip)
        except (IndexError, struct.error):
            if len(record.data) < record.length:
                raise UnreadableError(
                    f"a packet is cut after {len(record.data)} bytes, within its headers; capture "
                    "again, with tcpdump -s 128"
                ) from None
            return None

    def _tcp(self, record: Record, ip: _Network) -> Packet | None:
        data, at = record.data, ip.at
        ports, begins, acked, words, flags = _TCP_HEAD.unpack_from(data, at)
        flow = b"\6" + ip.hosts + ports
        length = words >> 4 << 2
        header = at - ip.start + length
        payload = ip.bytes_ - header
        if length < 20 or payload < 0:
            return None
        if flags & _SYN:
            self._learn_mss(flow, data[at + 20 : at + length], is_first=not flags & _ACK)
            begins += 1
        mss, count, bytes_ = self._mss.get(flow), 1, ip.bytes_ - ip.extra
        if mss is not None and payload > (mss := mss - length + 20) > 0:
            count = -(-payload // mss)
            bytes_ += (count - 1) * (header - ip.extra)
        if not flags & _ACK:
            acked = -1
        own = ip.own
        if not own and data[at + 20 : at + 24] == _TIMESTAMPS:
            own = int.from_bytes(data[at + 24 : at + 28], "big")
        return Packet(
            *(record.time_s, flow, bytes_, count, begins, begins + payload, acked, own),
            *(bool(ip.own), 0, _place(record), mss, bool(flags & _SYN)),
        )

    def _learn_mss(self, flow: bytes, options: bytes, is_first: bool) -> None:
        """Learns the MSS of a new connection: the lesser of both hosts' values."""
        place, both = 0, (flow, back_of(flow))
        if is_first:
            for each in both:
                self._mss.pop(each, None)
        while place + 1 < len(options) and options[place]:
            if options[place] == _MSS:
                (mss,) = _WORD.unpack_from(options, place + 2)
                for each in both:
                    self._mss[each] = min(mss, self._mss.get(each, mss))
            place += 1 if options[place] == 1 else max(options[place + 1], 2)

    def _udp(self, record: Record, ip: _Network) -> Packet | None:
        ports = record.data[ip.at : ip.at + 4]
        payload = ip.bytes_ - (ip.at - ip.start) - 8
        if len(record.data) < ip.at + 8:
            raise IndexError
        if payload < 0:
            return None
        if ip.has_more:
            if len(self._ports) >= _MAX_FRAGMENTED:
                self._ports.pop(next(iter(self._ports)))
            self._ports[ip.protocol, ip.hosts, ip.own] = ports
        content = zlib.crc32(record.data[ip.at + 8 : ip.at + 24])
        return _datagram(record, ip, ports, payload, content)

    def _fragment(self, record: Record, ip: _Network) -> Packet | None:
        """Returns a fragment of a datagram whose first fragment, with the ports, was captured."""
        ports = self._ports.get((ip.protocol, ip.hosts, ip.own))
        return _datagram(record, ip, ports, ip.fragment, 0) if ports else None


def _datagram(record: Record, ip: _Network, ports: bytes, ends: int, content: int) -> Packet:
    flow = bytes((ip.protocol,)) + ip.hosts + ports
    return Packet(
        *(record.time_s, flow, ip.bytes_ - ip.extra, 1, ip.fragment, ends, None, ip.own),
        *(bool(ip.own), content, _place(record), None, False),
    )


def _place(record: Record) -> int:
    if record.link == 113:
        return record.interface << 40 | record.data[1]
    if record.link == 276:
        return record.interface << 40 | record.data[10] << 32 | int.from_bytes(record.data[4:8])
    return record.interface << 40


def _start(link: int, data: bytes) -> int | None:
    """Returns the offset of the IP header; None for other protocols."""
    if (start := _BARE.get(link)) is not None:
        return start
    if (named := _NAMED.get(link)) is None:
        raise UnreadableError(f"its link type is {link}; capture Ethernet, or any interface")
    at, start = named
    (protocol,) = _WORD.unpack_from(data, at)
    while protocol in _VLANS:
        (protocol,) = _WORD.unpack_from(data, start + 2)
        start += 4
    if protocol in _MPLS:
        while not data[start + 2] & 1:  # the last label
            start += 4
        return start + 4
    if protocol == _PPPOE:
        return start + 8 if _WORD.unpack_from(data, start + 6)[0] in _PPP_IPS else None
    return start if protocol in _IPS else None


def _network(record: Record, start: int) -> _Network | None:
    version = record.data[start] >> 4
    ip = None
    if version == 4:
        ip = _ip4(record, start)
    elif version == 6:
        ip = _ip6(record, start)
    return ip if ip and ip.protocol in (_TCP, _UDP) else None


def _ip4(record: Record, start: int) -> _Network | None:
    first, length, own, where, protocol, hosts = _IP4.unpack_from(record.data, start)
    header = (first & 15) << 2
    bytes_ = length or record.length - start
    if header < 20 or bytes_ < header:
        return None
    more = bool(where & 0x2000)
    return _Network(protocol, hosts, start, start + header, bytes_, 0, own, where & 0x1FFF, more)


def _ip6(record: Record, start: int) -> _Network:
    data = record.data
    length, protocol, hosts = _IP6.unpack_from(data, start)
    bytes_ = 40 + length if length else record.length - start
    at, own, where, extra = start + 40, 0, 0, 0
    while protocol in (*_EXTENSIONS, _FRAGMENT):
        if protocol == _FRAGMENT:
            protocol, where, own = _IP6_FRAGMENT.unpack_from(data, at)
            at += 8
        else:
            if not length and not protocol:
                extra = 8  # the jumbo payload's option
            protocol, size = data[at], data[at + 1]
            at += (size + 1) * 8
    return _Network(protocol, hosts, start, at, bytes_, extra, own, where >> 3, bool(where & 1))

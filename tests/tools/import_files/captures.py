"""Captures of known transfers as tcpdump makes them, with merging by offloads."""

import random
import struct
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import dpkt

HOSTS = (b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02")
HOSTS_6 = (b"\xfd" + bytes(14) + b"\x01", b"\xfd" + bytes(14) + b"\x02")
PORTS = (5000, 6000)
MSS = 1460
Seen = list[tuple[float, bytes]]


@dataclass(frozen=True)
class Segment:
    """A TCP segment from the host `way`; segments merged by an offload are one segment."""

    at_s: float
    way: int
    begins: int
    payload: int
    acked: int
    number: int  # IP's identification
    is_syn: bool = False


@dataclass(frozen=True)
class Form:
    """The form in which segments become Ethernet frames."""

    is_ip6: bool = False
    has_timestamps: bool = True
    has_numbers: bool = True  # identifications of IP
    is_syn_seen: bool = True

    @property
    def size(self) -> int:
        """The payload of a full segment."""
        return MSS - 20 * self.is_ip6 - 12 * self.has_timestamps

    def frame(self, segment: Segment) -> bytes:
        """Returns the bytes of a frame; a segment that is too long for IP has the length 0."""
        way, options = segment.way, b""
        if segment.is_syn:
            options = struct.pack(">BBH", 2, 4, MSS - 20 * self.is_ip6)
        if self.has_timestamps:
            now = int(segment.at_s * 1000) % 2**32
            options += struct.pack(">BBBBII", 1, 1, 8, 10, now, now)
        flags = 2 + 16 * (segment.way == 1) if segment.is_syn else 16
        head = struct.pack(
            *(">HHIIBBHHH", PORTS[way], PORTS[1 - way], segment.begins % 2**32),
            *(segment.acked % 2**32, (20 + len(options)) << 2, flags, 500, 0, 0),
        )
        body = head + options + bytes([segment.number % 251]) * segment.payload
        if self.is_ip6:
            hosts, jumbo = HOSTS_6[way] + HOSTS_6[1 - way], b""
            if len(body) >= 2**16:
                jumbo = struct.pack(">BBBBI", 6, 0, 0xC2, 4, len(body) + 8)
            length = 0 if jumbo else len(body)
            outer = struct.pack(">IHBB", 6 << 28, length, 0 if jumbo else 6, 64) + hosts + jumbo
        else:
            length = (20 + len(body)) % 2**16 if 20 + len(body) < 2**16 else 0
            number = segment.number % 2**16 if self.has_numbers else 0
            hosts = HOSTS[way] + HOSTS[1 - way]
            outer = struct.pack(">BBHHHBBH", 0x45, 0, length, number, 0x4000, 64, 6, 0) + hosts
        return bytes(12) + (b"\x86\xdd" if self.is_ip6 else b"\x08\x00") + outer + body

    def seen(self, segments: Iterable[Segment]) -> Seen:
        """Returns the segments as tcpdump sees them."""
        return [(s.at_s, self.frame(s)) for s in segments if self.is_syn_seen or not s.is_syn]


@dataclass(frozen=True)
class Transfer:
    """Segments as the link carried them, at both ends, and the true figures of the data."""

    sender: list[Segment]
    receiver: list[Segment]
    delays_s: list[float]
    sent: int
    lost: int


def transfer(seed: int, form: Form, bursts: int = 60, at_s: float = 1_700_000_000.0) -> Transfer:
    """Returns bursts as TSO takes them; each twelfth segment is lost and retransmitted."""
    drawn = random.Random(seed)
    sequence, number = 2**32 - 100_000 - drawn.randrange(50_000), drawn.randrange(2**16)
    sender = [Segment(at_s, 0, sequence - 1, 0, 0, number, is_syn=True)]
    receiver = [replace(sender[0], at_s=at_s + 0.02)]
    receiver.append(Segment(at_s + 0.0201, 1, 99, 0, sequence, 1, is_syn=True))
    sender.append(replace(receiver[1], at_s=at_s + 0.04))
    delays_s, sent, lost, again = [0.02], 1, 0, list[Segment]()
    for burst in range(bursts):
        at_s = round(at_s + drawn.uniform(0.01, 0.03) + 0.04 * (burst == 0), 6)
        takes_s = round(drawn.uniform(0.02, 0.021), 6)
        count = drawn.choice((1, 2, 7, 20, 44))
        sizes = [form.size] * (count - 1) + [drawn.randint(1, form.size)]
        begins = [sequence + sum(sizes[:k]) for k in range(count)]
        leaving = [replace(each, at_s=at_s - 0.002) for each in again]
        leaving += [Segment(at_s, 0, *each, 100, 0) for each in zip(begins, sizes, strict=True)]
        sequence, again = sequence + sum(sizes), []
        for k, each in enumerate(leaving):
            number += 1
            each = replace(each, number=number)
            sender.append(each)
            sent += 1
            if burst < bursts - 1 and drawn.random() < 1 / 12:
                lost += 1
                again.append(each)
                continue
            delays_s.append(takes_s + k * 1e-6)
            receiver.append(replace(each, at_s=each.at_s + delays_s[-1]))
        answer = Segment(at_s + takes_s + 0.0005, 1, 100, 0, sequence, burst + 2)
        receiver.append(answer)
        sender.append(replace(answer, at_s=answer.at_s + 0.001))
    sender.sort(key=lambda each: each.at_s)
    receiver.sort(key=lambda each: each.at_s)
    return Transfer(sender, receiver, delays_s, sent, lost)


def merged(segments: Sequence[Segment], form: Form, most: int = 65_000) -> list[Segment]:
    """Merges segments like TSO and GRO: contiguous, simultaneous, and full except the last."""
    found: list[Segment] = []
    last = -1
    for each in segments:
        before = found[-1] if found else each
        place = before.way, before.begins + before.payload, last
        if (
            place == (each.way, each.begins, form.size)
            and each.at_s - before.at_s < 1e-4
            and before.number + before.payload // form.size == each.number
            and before.payload + each.payload <= most
        ):
            found[-1] = replace(before, payload=before.payload + each.payload)
        else:
            found.append(each)
        last = each.payload
    return found


def pcap(
    seen: Iterable[tuple[float, bytes]],
    order: str = "<",
    units: int = 10**6,
    link: int = 1,
    snaplen: int = 262_144,
    version: tuple[int, int] = (2, 4),
) -> bytes:
    """Returns a pcap file; records are cut at the snap length, unless it is 0."""
    magic = 0xA1B2C3D4 if units == 10**6 else 0xA1B23C4D
    found = [struct.pack(order + "IHHiIII", magic, *version, 0, 0, snaplen, link)]
    for at_s, data in seen:
        seconds, fraction = divmod(round(at_s * units), units)
        kept = data[:snaplen] if snaplen else data
        found.append(struct.pack(order + "4I", seconds, fraction, len(kept), len(data)) + kept)
    return b"".join(found)


def block(order: str, kind: int, body: bytes) -> bytes:
    """Returns a block of pcapng."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def section(order: str = "<", major: int = 1) -> bytes:
    """Returns the section header of pcapng."""
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, major, 0, -1))


@dataclass(frozen=True)
class Interface:
    """An interface of pcapng; `resolution` is the byte of that option."""

    link: int = 1
    resolution: int | None = None
    offset_s: int | None = None
    changed: Callable[[bytes], bytes] = (
        bytes  # converts an Ethernet frame to this interface's frame
    )
    order: str = "<"

    @property
    def units(self) -> int:
        if self.resolution is None:
            return 10**6
        power = self.resolution & 127
        return int(2**power if self.resolution & 128 else 10**power)

    def described(self) -> bytes:
        """Returns its block, with a comment of five bytes before the other options."""
        options = struct.pack(self.order + "HH8s", 1, 5, b"hello")
        if self.resolution is not None:
            options += struct.pack(self.order + "HHB3x", 9, 1, self.resolution)
        if self.offset_s is not None:
            options += struct.pack(self.order + "HHq", 14, 8, self.offset_s)
        head = struct.pack(self.order + "HHI", self.link, 0, 0)
        return block(self.order, 1, head + options + bytes(4))

    def statistics(self, number: int, **options: int) -> bytes:
        """Returns its block of statistics: ifrecv, ifdrop, osdrop."""
        codes = {"ifrecv": 4, "ifdrop": 5, "osdrop": 7}
        body = struct.pack(self.order + "III", number, 0, 0)
        for name, value in options.items():
            body += struct.pack(self.order + "HHQ", codes[name], 8, value)
        return block(self.order, 5, body + bytes(4))

    def packet(self, number: int, at_s: float, data: bytes, kind: int = 6) -> bytes:
        """Returns a packet's block, with a comment; 2 is the obsolete kind."""
        data = self.changed(data)
        stamp = round((at_s - (self.offset_s or 0)) * self.units)
        which = struct.pack(self.order + ("I" if kind == 6 else "H2x"), number)
        sizes = struct.pack(self.order + "4I", stamp >> 32, stamp % 2**32, len(data), len(data))
        options = struct.pack(self.order + "HH4s4x", 1, 4, b"note")
        return block(self.order, kind, which + sizes + data + bytes(-len(data) % 4) + options)


def pcapng(seen: Seen, *interfaces: Interface, which: Callable[[int], int] | None = None) -> bytes:
    """Returns a file of one section, whose packets pass the interfaces in turn."""
    found = [section(interfaces[0].order), *(each.described() for each in interfaces)]
    for k, (at_s, data) in enumerate(seen):
        number = which(k) if which else k % len(interfaces)
        found.append(interfaces[number].packet(number, at_s, data))
    return b"".join(found)


# Ethernet frames on other links --------------------------------------------------


def bare(data: bytes) -> bytes:
    """Returns the IP packet without its frame."""
    return data[14:]


def cooked(data: bytes) -> bytes:
    """Returns a frame in the form of older versions of `tcpdump -i any`."""
    return struct.pack(">HHH8s", 0, 1, 6, b"") + data[12:]


def cooked_2(interface: int, way: int = 0) -> Callable[[bytes], bytes]:
    """Returns the form of `tcpdump -i any`, for an interface that a frame enters (0) or leaves
    (4)."""
    rest = struct.pack(">HIHBB8s", 0, interface, 1, way, 6, b"")
    return lambda data: data[12:14] + rest + data[14:]


def tagged(*tags: bytes) -> Callable[[bytes], bytes]:
    """Inserts these bytes between the addresses and the protocol."""
    return lambda data: data[:12] + b"".join(tags) + data[12:]


def labelled(data: bytes) -> bytes:
    """Adds two MPLS labels."""
    return data[:12] + b"\x88\x47" + b"\x00\x01\x00\x40" + b"\x00\x02\x01\x40" + data[14:]


def point_to_point(data: bytes) -> bytes:
    """Encapsulates the packet in PPPoE."""
    length = len(data) - 14 + 2
    return data[:12] + struct.pack(">HBBHHH", 0x8864, 0x11, 0, 1, length, 0x21) + data[14:]


def datagram(way: int, number: int, payload: bytes, is_ip6: bool = False) -> bytes:
    """Returns a UDP frame."""
    ports = {"sport": PORTS[way], "dport": PORTS[1 - way]}
    inner = dpkt.udp.UDP(**ports, ulen=8 + len(payload), data=payload)
    if is_ip6:
        ends = {"src": HOSTS_6[way], "dst": HOSTS_6[1 - way]}
        outer = dpkt.ip6.IP6(**ends, nxt=17, plen=8 + len(payload), data=inner)
        return bytes(12) + b"\x86\xdd" + bytes(outer)
    ip = dpkt.ip.IP(src=HOSTS[way], dst=HOSTS[1 - way], p=17, id=number % 2**16, data=inner)
    ip.len = len(ip)
    return bytes(12) + b"\x08\x00" + bytes(ip)

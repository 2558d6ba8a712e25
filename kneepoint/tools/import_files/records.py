"""Records of captures: pcap 2.4 (draft-ietf-opsawg-pcap) and pcapng 1 (...-opsawg-pcapng).

In pcapng, clock (if_tsresol, if_tsoffset) and link type belong to the interface of a packet.
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO, NamedTuple

from kneepoint.tools.import_files.measurement import UnreadableError

_SECTION = b"\x0a\x0d\x0d\x0a"
_PCAP = {  # the order of bytes and a second's units
    bytes.fromhex("d4c3b2a1"): ("<", 10**6),
    bytes.fromhex("a1b2c3d4"): (">", 10**6),
    bytes.fromhex("4d3cb2a1"): ("<", 10**9),
    bytes.fromhex("a1b23c4d"): (">", 10**9),
}
MAGICS = (*_PCAP, _SECTION)
_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _STATISTICS, _PACKET = 1, 2, 3, 5, 6  # blocks
_END, _RESOLUTION, _OFFSET = 0, 9, 14  # options of an interface
_DROPPED = (5, 7)  # options: packets dropped by the interface, and by the system
_MAX_BYTES = 2**24  # maximum size of a record
_SLACK_S = 0.001  # clock differences between processors of a host
_LATEST_S = 7_258_118_400  # the year 2200
_LONGEST_S = 366 * 86_400


class Record(NamedTuple):
    """A captured packet: `data`, cut at the snap length, of a packet of `length` bytes.

    `link` is a type of tcpdump.org/linktypes.html; `interface` numbers the interfaces of the file.
    """

    time_s: float
    link: int
    interface: int
    length: int
    data: bytes


class _Interface(NamedTuple):
    link: int
    number: int
    units: int
    offset_s: int


def read_records(stream: BinaryIO, dropped: dict[int, int]) -> Iterator[Record]:
    """Yields the records in order of time, in constant memory.

    Args:
        stream: the file's content.
        dropped: receives the number of dropped packets by interface (pcapng only).

    Raises:
        UnreadableError: the file is damaged or cut off, or its times are impossible.
    """
    magic = stream.read(4)
    records = _pcapng(stream, dropped) if magic == _SECTION else _pcap(stream, *_PCAP[magic])
    latest_s, max_s = 0.0, float(_LATEST_S)
    try:
        for number, record in enumerate(records, 1):
            if not latest_s <= record.time_s <= max_s:
                _check_time(number, record.time_s, latest_s, max_s)
                record = record._replace(time_s=latest_s)
            latest_s = record.time_s
            if number == 1:
                max_s = min(max_s, latest_s + _LONGEST_S)
            yield record
    except struct.error as error:
        raise UnreadableError(f"it is damaged ({error}); capture again") from None


def _check_time(number: int, time_s: float, latest_s: float, max_s: float) -> None:
    """Refuses an impossible time, or a time well before the latest."""
    if time_s > max_s or time_s < 0:
        raise UnreadableError(
            f"packet {number} has the timestamp {time_s:.6g} s since 1970, "
            + ("which no clock shows" if number == 1 else f"{time_s - latest_s:.6g} s later")
            + "; correct the clock (editcap -t) or the interface's resolution"
        )
    if time_s < latest_s - _SLACK_S:
        raise UnreadableError(f"time goes backward at packet {number}; sort it: reordercap")


def _exactly(stream: BinaryIO, count: int) -> bytes:
    if not 0 <= count <= _MAX_BYTES:
        raise UnreadableError(f"a record has {count} bytes; capture again")
    found = stream.read(count)
    if len(found) < count:
        raise UnreadableError("its last packet is cut off; copy the whole file")
    return found


def _pcap(stream: BinaryIO, order: str, units: int) -> Iterator[Record]:
    major, minor, *_, network = struct.unpack(order + "HH4I", _exactly(stream, 20))
    if (major, minor) != (2, 4):
        raise UnreadableError(f"its version is {major}.{minor}, not 2.4; convert it: editcap")
    link = network & 0x03FFFFFF  # above: the length of the frame check sequence
    unpack = struct.Struct(order + "4I").unpack
    while header := stream.read(16):
        if len(header) < 16:
            raise UnreadableError("its last packet is cut off; copy the whole file")
        seconds, fraction, kept, length = unpack(header)
        if fraction >= units or kept > length:
            raise UnreadableError("a record's header is damaged; capture again")
        yield Record(seconds + fraction / units, link, 0, length, _exactly(stream, kept))


def _pcapng(stream: BinaryIO, dropped: dict[int, int]) -> Iterator[Record]:
    order, own, count = "", list[_Interface](), 0  # state of the section
    for kind_bytes in chain([_SECTION], iter(lambda: stream.read(4), b"")):
        if kind_bytes == _SECTION:
            order, own = _section(stream), []
            continue
        kind, length = struct.unpack(order + "II", kind_bytes + _exactly(stream, 4))
        body = _body(stream, order, length, 12)
        if kind == _INTERFACE:
            own.append(_interface(order, body, count))
            count += 1
        elif kind in (_PACKET, _OLD_PACKET):
            yield _packet(order, body, "I" if kind == _PACKET else "H2x", own)
        elif kind == _STATISTICS:
            (index,) = struct.unpack_from(order + "I", body)
            if index >= len(own):
                raise UnreadableError("a block of statistics is damaged; capture again")
            counts = (v for code, v in _options(order, body, 12) if code in _DROPPED)
            dropped[own[index].number] = sum(struct.unpack(order + "Q", v)[0] for v in counts)
        elif kind == _SIMPLE_PACKET:
            raise UnreadableError("its packets have no timestamps; capture again, with tcpdump")


def _section(stream: BinaryIO) -> str:
    """Returns the byte order of the section that begins."""
    size, magic = _exactly(stream, 4), _exactly(stream, 4)
    if (order := _ORDERS.get(magic)) is None:
        raise UnreadableError("a section's byte order is damaged; capture again")
    (length,) = struct.unpack(order + "I", size)
    body = _body(stream, order, length, 16)
    (major,) = struct.unpack_from(order + "H", body.ljust(2, b"\0"))
    if major != 1:
        raise UnreadableError(f"its version is {major}, not 1; convert it: editcap")
    return order


def _body(stream: BinaryIO, order: str, length: int, around: int) -> bytes:
    """Returns the body of a block, between its header and the repeated length."""
    if length % 4 or length < around:
        raise UnreadableError(f"a block has {length} bytes; capture again")
    body = _exactly(stream, length - around)
    if struct.unpack(order + "I", _exactly(stream, 4)) != (length,):
        raise UnreadableError("a block's lengths differ; capture again")
    return body


def _interface(order: str, body: bytes, number: int) -> _Interface:
    link, units, offset_s = *struct.unpack_from(order + "H", body), 10**6, 0
    for code, value in _options(order, body, 8):
        if code == _RESOLUTION:
            (exponent,) = struct.unpack("B", value)
            units = 2 ** (exponent & 127) if exponent & 128 else 10**exponent
        elif code == _OFFSET:
            (offset_s,) = struct.unpack(order + "q", value)
    return _Interface(link, number, units, offset_s)


def _options(order: str, body: bytes, place: int) -> Iterator[tuple[int, bytes]]:
    """Yields the codes and values of a block's options, from offset `place` on."""
    while place + 4 <= len(body):
        code, length = struct.unpack_from(order + "HH", body, place)
        if code == _END:
            return
        yield code, body[place + 4 : place + 4 + length]
        place += 4 + length + -length % 4


def _packet(order: str, body: bytes, which: str, interfaces: Sequence[_Interface]) -> Record:
    index, high, low, kept, length = struct.unpack_from(order + which + "4I", body)
    if index >= len(interfaces) or kept > min(length, len(body) - 20):
        raise UnreadableError("a record's header is damaged; capture again")
    of = interfaces[index]
    time_s = (high << 32 | low) / of.units + of.offset_s
    return Record(time_s, of.link, of.number, length, body[20 : 20 + kept])

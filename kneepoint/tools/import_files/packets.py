"""Captures of packets (pcap and pcapng).

One capture shows the throughput of IP packets from the first to the last, TCP's retransmissions,
and the RTT from a segment to the acknowledgment of its last byte, without retransmitted segments
(Karn). Captured at the sender, this is the RTT of the path. The direction with more bytes is
measured; a flow's first packet distinguishes directions. Merged packets count as the packets on the
link, and copies count once.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

from kneepoint.analysis import over_time
from kneepoint.tools.import_files.byte_ranges import Acknowledged
from kneepoint.tools.import_files.copies import Copies
from kneepoint.tools.import_files.headers import Dissector, Packet, back_of, name_of
from kneepoint.tools.import_files.measurement import (
    Delays,
    Format,
    Gathered,
    Measurement,
    UnreadableError,
    series_of,
)
from kneepoint.tools.import_files.records import MAGICS, read_records

_MAX_UNSEEN = 0.01  # share of acknowledged bytes
_FEW_BYTES = 1500  # unseen bytes that are ignored, such as a FIN's
_MAX_SEGMENTS = 65_536  # maximum number of unacknowledged segments
OFFLOADS_OFF = "ethtool -K DEV tso off gso off gro off"
DROPPED = "tcpdump dropped them; capture again, with less data (-s 128), more memory (-B 65536)"
MERGED = (
    "offloads may have merged packets, and no SYN shows the MSS; capture from the beginning, or "
    f"first {OFFLOADS_OFF}"
)


@dataclass
class _Flow:
    """One direction between two ports."""

    is_forward: bool
    first: Packet
    last: Packet
    other: "_Flow | None" = None
    bytes_: int = 0
    count: int = 0
    retransmissions: int = 0
    may_be_merged: bool = False
    newest: int | None = None
    waiting: deque[tuple[int, float]] = field(default_factory=lambda: deque(maxlen=_MAX_SEGMENTS))
    rtts: Delays = field(default_factory=Delays)
    acked: Acknowledged = field(default_factory=Acknowledged)

    def take(self, packet: Packet) -> None:
        self.last = packet
        self.bytes_ += packet.bytes_
        self.count += packet.segments
        self.may_be_merged = self.may_be_merged or packet.may_be_merged
        if packet.is_first:
            self.acked.begin()
        if packet.acked is None or packet.begins == packet.ends:
            return
        self.acked.see(packet.begins, packet.ends)
        if self.newest is None or _is_after(packet.ends, self.newest):
            self.newest = packet.ends % 2**32
            self.waiting.append((self.newest, packet.time_s))
        else:
            self.retransmissions += packet.segments
            self.waiting.clear()  # an acknowledgment would be ambiguous (Karn)

    def acknowledge(self, acked: int, time_s: float) -> float | None:
        """Returns the RTT that an acknowledgment measures (s), if any."""
        rtt_s = None
        self.acked.acknowledge(acked)
        while self.waiting and not _is_after(self.waiting[0][0], acked):
            ends, sent_s = self.waiting.popleft()
            if ends == acked:
                rtt_s = time_s - sent_s
                self.rtts.add(rtt_s)
        return rtt_s

    def figures(self) -> dict[str, object]:
        span_s = self.last.time_s - self.first.time_s
        found: dict[str, object] = {}
        if span_s:
            found["throughput_mbps"] = self.bytes_ * 8 / span_s / 1e6
        if self.newest is not None:
            found["retransmissions"] = self.retransmissions
        return found | self.rtts.figures("rtt")


def _is_after(one: int, other: int) -> bool:
    """Returns whether one sequence number follows another (RFC 9293, section 3.4)."""
    return 0 < (one - other) % 2**32 < 2**31


class Passed(NamedTuple):
    """Times of a flow's first and last packet and, for TCP, first and last sequence number."""

    first_s: float
    last_s: float
    sequence: tuple[int, int] | None
    has_first: bool  # the SYN


@dataclass(frozen=True, eq=False)
class Capture(Measurement):
    """The measurement of one capture, with the data that match it with the other end's capture.

    Args:
        passed: flows, in the order of `flows` after its first entry.
        copies: see `Copies`.
        span_s: times of the first and last packet of either direction.
    """

    passed: Mapping[bytes, Passed] = field(default_factory=dict)
    copies: Mapping[bytes, bool] = field(default_factory=dict)
    span_s: tuple[float, float] = (0, 0)


def _recognises(head: bytes) -> bool:
    return head[:4] in MAGICS


def read_packets(stream: BinaryIO, copies: Copies, dropped: dict[int, int]) -> Iterator[Packet]:
    """Yields TCP and UDP packets over IP without copies, in constant memory; see read_records."""
    dissector = Dissector()
    for record in read_records(stream, dropped):
        packet = dissector.packet(record)
        if packet:
            yield from copies.without(packet)


@dataclass
class _Read:
    """Data gathered in a pass over a capture; pairs are (backward, forward)."""

    flows: dict[bytes, _Flow] = field(default_factory=dict)
    seen: tuple[Gathered, Gathered] = field(default_factory=lambda: (Gathered(), Gathered()))
    rtts: tuple[Delays, Delays] = field(default_factory=lambda: (Delays(), Delays()))
    first_s: float | None = None
    last_s: float = 0
    dropped: dict[int, int] = field(default_factory=dict)  # by interfaces

    def take(self, packet: Packet) -> None:
        self.first_s = packet.time_s if self.first_s is None else self.first_s
        self.last_s = packet.time_s
        flow = self.flows.get(packet.flow) or self._begin(packet)
        flow.take(packet)
        time_s = packet.time_s - self.first_s
        self.seen[flow.is_forward].add("egress_bytes", time_s, packet.bytes_)
        if flow.other and packet.acked is not None and packet.acked >= 0:
            way, rtt_s = not flow.is_forward, flow.other.acknowledge(packet.acked, packet.time_s)
            if rtt_s is not None:
                self.rtts[way].add(rtt_s)
                self.seen[way].add("delay_ms", time_s, rtt_s * 1000)

    def _begin(self, packet: Packet) -> _Flow:
        other = self.flows.get(back_of(packet.flow))
        flow = _Flow(other is None or not other.is_forward, packet, packet, other)
        if other:
            other.other = flow
        self.flows[packet.flow] = flow
        return flow

    def own(self) -> dict[bytes, _Flow]:
        """Returns the flows of the direction with more bytes."""
        amount = [0, 0]
        for flow in self.flows.values():
            amount[flow.is_forward] += flow.bytes_
        way = amount[True] >= amount[False]
        return {key: flow for key, flow in self.flows.items() if flow.is_forward == way}


def _read(_: Path, stream: BinaryIO) -> list[Measurement]:
    known: Mapping[bytes, bool] = {}
    while True:
        copies, read = Copies(known), _Read()
        for packet in read_packets(stream, copies, read.dropped):
            read.take(packet)
        if (found := copies.found()) == known:
            return [_measurement(read, copies, known)]
        known = found
        stream.seek(0)


def _measurement(read: _Read, copies: Copies, known: Mapping[bytes, bool]) -> Measurement:
    own = read.own()
    if not own or read.first_s is None:
        raise UnreadableError("it has no TCP or UDP packet over IP; did a flow run?")
    _refuse_translated(own)
    _refuse_dropped(own)
    dropped = sum(read.dropped.values())
    if dropped > _MAX_UNSEEN * sum(flow.count for flow in read.flows.values()):
        raise UnreadableError(f"by its own statistics it lacks {dropped} packets: {DROPPED}")
    span_s = max(f.last.time_s for f in own.values()) - min(f.first.time_s for f in own.values())
    if not span_s:
        raise UnreadableError("its duration is 0; did a flow run?")
    way = next(iter(own.values())).is_forward
    together = {"throughput_mbps": sum(flow.bytes_ for flow in own.values()) * 8 / span_s / 1e6}
    sums: dict[str, object] = {**together, **read.rtts[way].figures("rtt")}
    if any(flow.newest is not None for flow in own.values()):
        sums["retransmissions"] = sum(flow.retransmissions for flow in own.values())
    named = [("all", sums)] + [(name_of(key), flow.figures()) for key, flow in own.items()]
    absent = ["capacity, queue, signal and queueing delay: packets alone do not show them"]
    absent.append("loss and one-way delay: import captures of both ends")
    if "rtt_mean_ms" not in sums:
        absent.append("RTT: no segment was acknowledged")
    metrics: dict[str, float] = dict(together)
    if any(flow.may_be_merged for flow in own.values()):
        absent.append(f"packets, retransmissions, headers in the throughput: {MERGED}")
        for each in (sums, *(found for _, found in named)):
            each.pop("retransmissions", None)
    else:
        metrics["packets_sent"] = sum(flow.count for flow in own.values())
    length_s = read.last_s - read.first_s
    return Capture(
        length_s,
        metrics,
        tuple({"name": name, **found} for name, found in named),
        series_of(read.seen[way].over_time(length_s), over_time.RTT),
        tuple(absent),
        notes=(
            *(f"{copies.count} copies of packets are not counted",) * bool(copies.count),
            *(f"the capture lacks {dropped} packets by its own statistics",) * bool(dropped),
        ),
        passed={key: _passed(flow) for key, flow in own.items()},
        copies=known,
        span_s=(read.first_s, read.last_s),
    )


def _passed(flow: _Flow) -> Passed:
    sequence = None if flow.newest is None else (flow.first.begins % 2**32, flow.newest)
    return Passed(flow.first.time_s, flow.last.time_s, sequence, flow.first.is_first)


def _refuse_dropped(flows: Mapping[bytes, _Flow]) -> None:
    """Refuses flows with many acknowledged bytes that the capture lacks."""
    for flow in flows.values():
        flow.acked.count()
    unseen = sum(flow.acked.unseen for flow in flows.values())
    bytes_ = sum(flow.acked.bytes_ for flow in flows.values())
    if unseen > _MAX_UNSEEN * bytes_ + _FEW_BYTES:
        raise UnreadableError(
            f"it lacks {unseen / bytes_:.1%} of the acknowledged bytes: {DROPPED}"
        )


def _refuse_translated(flows: Mapping[bytes, _Flow]) -> None:
    """Refuses two flows that are the same packets before and after address translation."""
    by_ends: dict[object, bytes] = {}
    for key, flow in flows.items():
        ends = flow.first.identity, flow.last.identity
        if (
            flow.count > 1
            and ends[0] != ends[1]
            and (other := by_ends.setdefault(ends, key)) != key
        ):
            raise UnreadableError(
                f"{name_of(other)} and {name_of(key)} are the same packets, translated; "
                "capture on one interface: tcpdump -i DEV"
            )


FORMAT = Format("capture of packets", _recognises, _read)

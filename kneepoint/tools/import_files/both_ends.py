"""Captures of both ends of a path, which together show one-way delay and loss.

TCP bytes are matched by their sequence numbers, other packets by their headers. Departures and
arrivals are written as a log of Pantheon's tunnel, from which the figures are computed.
"""

import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from heapq import merge
from itertools import combinations
from typing import IO, Any, BinaryIO, cast

from kneepoint.tools.import_files.byte_ranges import ByteRanges, Match
from kneepoint.tools.import_files.copies import Copies
from kneepoint.tools.import_files.headers import Packet, back_of, name_of
from kneepoint.tools.import_files.measurement import Measurement, UnreadableError, opened
from kneepoint.tools.import_files.packets import (
    DROPPED,
    FORMAT,
    MERGED,
    OFFLOADS_OFF,
    Capture,
    Passed,
    read_packets,
)
from kneepoint.tools.import_files.pantheon import measurement_of

_PATIENCE_S = 60.0  # time that a packet waits for its match at the other end
_MAX_UNSEEN = 0.01  # share of arrived bytes without a departure
_FEW = 2  # packets that rewritten headers may hide
_SILENCE_S = 0.1  # minimum time without any packet
_MANY_LOST, _SHARE_LOST = 20, 0.9  # lost packets, and their share, in a silence


def join_ends(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Joins two captures of the same packets into one measurement, in the sender's place.

    Raises:
        KneepointError: the clocks disagree, or departures cannot be matched with arrivals.
    """
    found = list(measurements)
    for one, other in combinations([each for each in found if isinstance(each, Capture)], 2):
        if one not in found or other not in found:
            continue
        shared = set(one.passed) & set(other.passed)
        if not shared:
            with FORMAT.naming(one.path):
                _refuse_translated(one, other)
        if not any(_is_same(one.passed[flow], other.passed[flow]) for flow in shared):
            continue
        # The sender's end sees the whole RTT.
        first, second = sorted((one, other), key=lambda each: -_rtt_ms(each))
        is_known = _rtt_ms(first) > _rtt_ms(second)
        with FORMAT.naming(second.path):
            with FORMAT.naming(first.path):
                both = _joined(first, second, is_known)
            both = both or _joined(second, first, False)
        with FORMAT.naming(first.path):
            if both is None:
                raise _unmatched(second, "the same flow, but different packets")
        found[found.index(first if both.path == first.path else second)] = both
        found = [each for each in found if each not in (one, other)]
    return found


def _rtt_ms(measurement: Measurement) -> float:
    return float(cast(float, measurement.flows[0].get("rtt_p50_ms", 0)))


def _is_same(one: Passed, other: Passed) -> bool:
    """Returns whether two flows of the same name are the same flow."""
    if one.has_first and other.has_first and one.sequence and other.sequence:
        return one.sequence[0] == other.sequence[0]
    if one.first_s > other.last_s or other.first_s > one.last_s:
        return False
    if one.sequence is None or other.sequence is None:
        return one.sequence == other.sequence
    (begins, ends), (other_begins, other_ends) = one.sequence, other.sequence
    after = (other_begins - begins) % 2**32
    return after < (ends - begins) % 2**32 or -after % 2**32 < (other_ends - other_begins) % 2**32


def _refuse_translated(one: Capture, other: Capture) -> None:
    for flow, passed in one.passed.items():
        for alias, own in other.passed.items():
            if passed.has_first and own.has_first and _is_same(passed, own):
                names = f"{name_of(flow)} is {name_of(alias)} in {other.path}"
                raise UnreadableError(f"{names}: capture where addresses are not translated")


def _unmatched(receiver: Capture, what: str) -> UnreadableError:
    return UnreadableError(
        f"{receiver.path} has {what}; offloads may have merged them, or tcpdump dropped some: "
        f"capture both again, first {OFFLOADS_OFF}",
    )


class _Waiting(dict[object, float]):
    """Times of packets seen at one end only, so far, for at most _PATIENCE_S."""

    def add(self, packet: Packet) -> None:
        self[packet.identity] = packet.time_s
        while self[oldest := next(iter(self))] < packet.time_s - _PATIENCE_S:
            del self[oldest]


@dataclass
class _Flow:
    """Packets and bytes seen at one end only, so far: (receiver, sender)."""

    number: int
    packets: tuple[_Waiting, _Waiting] = field(default_factory=lambda: (_Waiting(), _Waiting()))
    ranges: tuple[ByteRanges, ByteRanges] = field(
        default_factory=lambda: (ByteRanges(_PATIENCE_S), ByteRanges(_PATIENCE_S))
    )
    newest: int | None = None  # latest sequence number that left, unwrapped
    _unseen_bytes: float | None = None  # arrived since the last match without a departure

    def take(self, packet: Packet, is_sent: bool) -> list[Match]:
        """Returns matches with packets seen earlier at the other end; unmatched bytes wait."""
        if packet.acked is None or packet.begins == packet.ends:
            return self._take_packet(packet, is_sent)
        begins = self._unwrapped(packet.begins)
        ends = begins + packet.ends - packet.begins
        matches = self.ranges[not is_sent].take(packet, begins)
        has_left = self.newest is not None and ends <= self.newest
        if is_sent and not has_left:
            self.newest = ends
        # An arrival without a departure was duplicated, or is missing in the sender's capture.
        if not matches and (is_sent or not has_left):
            self.ranges[is_sent].add(packet, begins)
        return matches

    def _take_packet(self, packet: Packet, is_sent: bool) -> list[Match]:
        before_s = self.packets[not is_sent].pop(packet.identity, None)
        if before_s is not None:
            return [Match(before_s, packet.bytes_, 1, True)]
        self.packets[is_sent].add(packet)
        return []

    def unseen(self, bytes_: int, share: float) -> float:
        """Returns the bytes that arrived between two matches without a departure."""
        before = self._unseen_bytes or 0
        if share:
            self._unseen_bytes = bytes_ * (1 - share)
            return before
        if self._unseen_bytes is not None:
            self._unseen_bytes += bytes_
        return 0

    def _unwrapped(self, number: int) -> int:
        if self.newest is None:
            return number
        return self.newest + (number - self.newest + 2**31) % 2**32 - 2**31


@dataclass
class _Back:
    """Datagrams of the reverse direction, which must be in both captures once at the sender."""

    left: _Waiting = field(default_factory=_Waiting)
    came: int = 0
    unseen: set[object] = field(default_factory=set)

    def take(self, packet: Packet, is_sent: bool, until_s: float) -> None:
        """Counts a datagram at the sender, from the first datagram with a departure on."""
        if not is_sent:
            self.unseen.discard(packet.identity)  # a clock is late
            self.left.add(packet)
            return
        has_left = self.left.pop(packet.identity, None) is not None
        if packet.time_s <= until_s and (self.came or has_left):
            self.came += 1
            if not has_left:
                self.unseen.add(packet.identity)


@dataclass
class _Ends:
    """Totals over both ends."""

    forward: int = 0
    backward: int = 0
    forward_bytes: float = 0
    came_bytes: int = 0
    unseen_bytes: float = 0
    parts: int = 0  # of packets
    greatest_s: float = 0
    min_s: float = float("inf")
    back: _Back = field(default_factory=_Back)
    silences: list[tuple[float, float]] = field(default_factory=list)  # of the receiver
    sent: Counter[int] = field(default_factory=Counter)  # departures by silence
    came: Counter[int] = field(default_factory=Counter)  # their arrivals
    unjudged: int = 0  # departures before or after the receiver's capture
    left_s: list[float] = field(default_factory=list)  # first and last departure of matches
    came_s: list[float] = field(default_factory=list)  # first and last arrival of matches


def _joined(sender: Capture, receiver: Capture, is_known: bool) -> Measurement | None:
    """Returns the joined measurement, or None if most arrivals have no departure.

    `is_known` says that the captures belong together: mismatches are then errors.
    """
    numbers = {flow: number for number, flow in enumerate(sender.passed, 1)}
    with tempfile.TemporaryFile() as log:
        ends = _match(sender, receiver, numbers, log)
        if ends.backward > ends.forward / 100 and (is_known or ends.backward <= ends.forward):
            raise UnreadableError(
                f"packets came to {receiver.path} before they left; correct a clock: editcap -t"
            )
        if ends.forward <= ends.backward or 2 * ends.forward_bytes < ends.came_bytes:
            return None
        if ends.unseen_bytes > _MAX_UNSEEN * ends.came_bytes:
            share = ends.unseen_bytes / ends.came_bytes
            raise _unmatched(receiver, f"{share:.1%} of bytes that this capture lacks")
        if not ends.greatest_s:
            raise UnreadableError(
                f"{receiver.path} is the same, at the same times; give each capture once"
            )
        if (unseen := len(ends.back.unseen)) > max(_FEW, _MAX_UNSEEN * ends.back.came):
            raise UnreadableError(
                f"{unseen} packets came from {receiver.path}, which lacks them: {DROPPED}"
            )
        found = measurement_of(_judged(log, ends, receiver))
    joined = []
    for flow in found.flows:
        own = sender.flows[0 if flow["name"] == "all" else int(str(flow["name"]))]
        if flow["name"] != "all":
            _refuse_late(receiver, cast(Any, flow["delay_p50_ms"]), cast(Any, own))
        joined.append({**own, **flow, "name": own["name"]})
    metrics, absent = dict(found.metrics), found.absent
    if ends.parts or "packets_sent" not in sender.metrics:
        absent = (*absent, f"packets, retransmissions, headers in the throughput: {MERGED}")
        metrics = {name: v for name, v in metrics.items() if not name.startswith("packets")}
        for each in joined:
            each.pop("retransmissions", None)
    return replace(
        found,
        path=sender.path,
        format=f"{FORMAT.name} of both ends",
        flows=tuple(joined),
        metrics=metrics,
        absent=absent,
        notes=(
            *(f"{each.path}: {said}" for each in (sender, receiver) for said in each.notes),
            *_notes(ends, receiver),
        ),
    )


def _refuse_late(receiver: Capture, delay_ms: float | None, own: Mapping[str, float]) -> None:
    """Refuses captures whose one-way delay far exceeds the RTT: a clock is wrong."""
    rtt_ms = own.get("rtt_p95_ms", float("inf"))
    if delay_ms is not None and delay_ms > 2 * rtt_ms + 1:
        raise UnreadableError(
            f"packets took {delay_ms:g} ms to {receiver.path}, and were acknowledged after "
            f"{rtt_ms:g} ms; correct a clock: editcap -t",
        )


def _judged(log: IO[bytes], ends: _Ends, receiver: Capture) -> Iterator[bytes]:
    """Yields the departures during the receiver's capture, and all arrivals.

    Counts the other departures, and departures and arrivals by the receiver's silences.
    """
    since_s = ends.left_s[0] - (ends.came_s[0] - receiver.span_s[0])
    until_s = ends.left_s[1] + (receiver.span_s[1] - ends.came_s[1])
    begins = [begin - ends.min_s for begin, _ in ends.silences]
    log.seek(0)
    for line in log:
        words = line.split()
        is_sent = words[1] == b"+"
        left_s = (float(words[0]) - (0 if is_sent else float(words[3]))) / 1000
        place = bisect_right(begins, left_s) - 1
        if place >= 0 and left_s < ends.silences[place][1] - ends.min_s:
            (ends.sent if is_sent else ends.came)[place] += 1
        if is_sent and not since_s - 2e-6 <= left_s <= until_s + 2e-6:
            ends.unjudged += 1
        else:
            yield line


def _notes(ends: _Ends, receiver: Capture) -> Iterator[str]:
    """Yields notes on packets that the receiver's capture could not show.

    If nearly all packets of a silence are lost, the capture may have been interrupted; after other
    silences, the delayed packets arrive.
    """
    if ends.unjudged:
        outside = f"before {receiver.path} began or after it ended"
        yield f"{ends.unjudged} packets that left {outside} do not count"
    lost = [
        (end - begin, sent - came)
        for place, (begin, end) in enumerate(ends.silences)
        if (sent := ends.sent[place]) >= _MANY_LOST
        and sent - (came := ends.came[place]) >= _SHARE_LOST * sent
    ]
    if lost:
        seconds, packets = map(sum, zip(*lost, strict=True))
        times = f"{len(lost)} times, together " if len(lost) > 1 else ""
        yield (
            f"{receiver.path} has no packet for {times}{seconds:.3g} s: the link was "
            f"interrupted, or the capture was; in this case {packets} packets are not lost"
        )


def _match(
    sender: Capture, receiver: Capture, numbers: Mapping[bytes, int], log: IO[bytes]
) -> _Ends:
    """Matches the packets of both ends; writes the log, and returns the totals."""
    flows: dict[bytes, _Flow | None] = {}
    ends = _Ends()
    backs = {back_of(flow) for flow in numbers}
    latest_s = receiver.span_s[0]
    for packet, is_sent in _merged(sender, receiver):
        if not is_sent:
            if packet.time_s > latest_s + _SILENCE_S:
                ends.silences.append((latest_s, packet.time_s))
            latest_s = packet.time_s
        if packet.acked is None and packet.flow in backs:
            ends.back.take(packet, is_sent, receiver.span_s[1])
        if packet.flow not in flows:
            number = numbers.get(packet.flow)
            flows[packet.flow] = None if number is None else _Flow(number)
        if (flow := flows[packet.flow]) is None:
            continue
        matches = flow.take(packet, is_sent)
        if is_sent:
            log.write(b"%.3f + %d %d\n" % (packet.time_s * 1000, packet.bytes_, flow.number))
            ends.backward += len(matches)
            continue
        for match in matches:
            waited_s = packet.time_s - match.time_s
            words = (packet.time_s * 1000, match.bytes_, waited_s * 1000, flow.number)
            log.write(b"%.3f - %d %.3f %d\n" % words)
            ends.parts += not match.is_whole
            ends.greatest_s = max(ends.greatest_s, waited_s)
            ends.min_s = min(ends.min_s, waited_s)
            first_s, last_s = ends.left_s or [match.time_s] * 2
            ends.left_s = [min(first_s, match.time_s), max(last_s, match.time_s)]
            ends.came_s = [*ends.came_s[:1], packet.time_s]
        ends.forward += len(matches)
        ends.unseen_bytes += flow.unseen(packet.bytes_, share := sum(m.share for m in matches))
        ends.came_bytes += packet.bytes_
        ends.forward_bytes += packet.bytes_ * share
    return ends


def _merged(sent: Capture, came: Capture) -> Iterator[tuple[Packet, bool]]:
    """Yields packets of both captures by time, split as on the link, with True at the sender."""
    with opened(sent.path) as one, opened(came.path) as other:
        left = ((packet, True) for packet in _split(one, sent))
        right = ((packet, False) for packet in _split(other, came))
        yield from merge(left, right, key=lambda each: each[0].time_s)


def _split(stream: BinaryIO, capture: Capture) -> Iterator[Packet]:
    for packet in read_packets(stream, Copies(capture.copies), {}):
        yield from packet.split()

"""Ranges of bytes of a TCP flow, by sequence numbers: seen at both ends, or acknowledged.

Offloads merge segments differently at both ends, so ranges of bytes are matched, not packets.
"""

from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from typing import NamedTuple

from kneepoint.tools.import_files.headers import Packet

_MAX_HOLES = 1024


@dataclass(order=True, slots=True)
class _Range:
    """Bytes of a packet seen at one end, not yet at the other end."""

    begins: int
    ends: int
    time_s: float
    packet: Packet = field(compare=False)
    origin: int = field(compare=False)  # where the packet begins

    def whole(self) -> tuple[int, int]:
        """Returns the range of the whole packet."""
        return self.origin, self.origin + self.packet.ends - self.packet.begins

    def bytes_up_to(self, place: int) -> int:
        """Returns the link bytes of the payload before `place`, with headers in proportion."""
        packet = self.packet
        return packet.bytes_ * (place - self.origin) // (packet.ends - packet.begins)


class Match(NamedTuple):
    """Bytes seen at both ends, with the time at the first."""

    time_s: float
    bytes_: int
    share: float  # share of the packet that the match covers
    is_whole: bool  # whether it was a whole packet at the other end


class ByteRanges:
    """The bytes seen at one end only, so far."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._ranges: list[_Range] = []
        self._longest = 0

    def add(self, packet: Packet, begins: int) -> None:
        """Adds the bytes of a packet, from the unwrapped sequence number `begins` on."""
        length = packet.ends - packet.begins
        self._longest = max(length, self._longest)
        insort(self._ranges, _Range(begins, begins + length, packet.time_s, packet, begins))
        while self._ranges[0].time_s < packet.time_s - self._patience_s:
            del self._ranges[0]

    def take(self, packet: Packet, begins: int) -> list[Match]:
        """Takes the waiting bytes of a range, first from the same packet, then from the latest."""
        ends = begins + packet.ends - packet.begins
        low = bisect_left(self._ranges, begins - self._longest, key=lambda each: each.begins)
        high = bisect_left(self._ranges, ends, low, key=lambda each: each.begins)
        found = [each for each in self._ranges[low:high] if each.ends > begins]
        found.sort(key=lambda each: (each.packet.own == packet.own, each.time_s), reverse=True)
        wanted, matches = [(begins, ends)], []
        for each in found:
            left = []
            for first, last in wanted:
                one, other = max(first, each.begins), min(last, each.ends)
                if one >= other:
                    left.append((first, last))
                    continue
                is_whole = (begins, ends) == (one, other) == each.whole()
                bytes_ = each.bytes_up_to(other) - each.bytes_up_to(one)
                share = (other - one) / (ends - begins)
                matches.append(Match(each.time_s, bytes_, share, is_whole))
                self._cut(each, one, other)
                left += [(a, b) for a, b in ((first, one), (other, last)) if a < b]
            wanted = left
        return matches

    def _cut(self, each: _Range, begins: int, ends: int) -> None:
        del self._ranges[bisect_left(self._ranges, each)]
        for one, other in ((each.begins, begins), (ends, each.ends)):
            if one < other:
                insort(self._ranges, _Range(one, other, each.time_s, each.packet, each.origin))


class Acknowledged:
    """Numbers of a flow's acknowledged bytes, and of acknowledged bytes that were not captured."""

    def __init__(self) -> None:
        self.bytes_ = self.unseen = 0
        self._seen: list[tuple[int, int]] = []  # apart, by sequence numbers, unwrapped
        self._floor: int | None = None  # all bytes below are counted
        self._acked = 0

    def begin(self) -> None:
        """Starts a connection, possibly on the ports of an earlier connection."""
        self.count()
        self._seen, self._floor = [], None

    def see(self, begins: int, ends: int) -> None:
        """Records captured bytes."""
        if self._floor is None:
            self._floor = self._acked = begins
        length, begins = ends - begins, self._unwrapped(begins)
        ends = begins + length
        if self._seen and self._seen[-1][0] <= begins <= self._seen[-1][1]:  # the usual case
            self._seen[-1] = self._seen[-1][0], max(ends, self._seen[-1][1])
            return
        low = bisect_left(self._seen, begins, key=lambda each: each[1])
        high = bisect_right(self._seen, ends, low, key=lambda each: each[0])
        if low < high:
            begins, ends = min(begins, self._seen[low][0]), max(ends, self._seen[high - 1][1])
        self._seen[low:high] = [(begins, ends)]
        if len(self._seen) > _MAX_HOLES:
            self.count()

    def acknowledge(self, acked: int) -> None:
        """Records an acknowledgment of all bytes before this sequence number."""
        if self._floor is not None:
            self._acked = max(self._acked, self._unwrapped(acked))

    def count(self) -> None:
        """Counts the bytes acknowledged since the last call."""
        if self._floor is None or self._acked <= self._floor:
            return
        seen = 0
        for begins, ends in self._seen:
            seen += max(0, min(ends, self._acked) - max(begins, self._floor))
        self.bytes_ += self._acked - self._floor
        self.unseen += self._acked - self._floor - seen
        self._floor = self._acked
        self._seen = [each for each in self._seen if each[1] > self._acked]

    def _unwrapped(self, number: int) -> int:
        return self._acked + (number - self._acked + 2**31) % 2**32 - 2**31

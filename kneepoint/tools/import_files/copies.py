"""Packets that a capture contains several times: `-i any`, a bridge and its ports, a mirrored port.

The same packet on another interface is a copy. On the same interface, it is a copy if its IP
identification is equal, too. Without an identification (IPv6, or 0), it may be a retransmission: it
is a copy only if most packets of the flow occur twice there at nearly the same time.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kneepoint.tools.import_files.headers import Packet, back_of, name_of
from kneepoint.tools.import_files.measurement import UnreadableError

_WINDOW_S = 1.0  # maximum delay of a copy, such as after a queue
_MAX_AWAITED = 65_536
_AT_ONCE_S = 0.005
_MAX_COPIES = 8  # more copies mean that all datagrams of a flow are equal


@dataclass(slots=True)
class _Seen:
    time_s: float
    places: list[int]
    times: int = 1


class Copies:
    """Finds copies among packets in order of time, in constant memory.

    `known` says for each flow whether an equal packet on the same interface is a copy, as found by
    a first pass (see `found`).
    """

    def __init__(self, known: Mapping[bytes, bool]) -> None:
        self.count = 0
        self._known = known
        self._new: dict[object, _Seen] = {}
        self._old: dict[object, _Seen] = {}
        self._began_s = 0.0
        self._bytes: dict[bytes, Counter[int]] = {}  # bytes of each flow by place
        self._twins: Counter[bytes] = Counter()
        self._merged: set[bytes] = set()  # flows that may have merged packets
        self._alike: set[bytes] = set()  # UDP flows with equal datagrams
        self._spread: set[bytes] = set()  # flows over several interfaces

    def without(self, packet: Packet) -> Iterator[Packet]:
        """Yields the packet, or its parts that are not copies: interfaces may merge differently."""
        if packet.segments == 1:
            if not self._has(packet):
                yield packet
            return
        kept = [each for each in packet.split() if not self._has(each)]
        yield from [packet] if len(kept) == packet.segments else kept

    def _has(self, packet: Packet) -> bool:
        if packet.time_s > self._began_s + _WINDOW_S or len(self._new) >= _MAX_AWAITED:
            self._old, self._new, self._began_s = self._new, {}, packet.time_s
        key = packet.flow, packet.identity
        seen = self._new.get(key) or self._old.get(key)
        if seen is not None and self._is_copy(packet, seen):
            self.count += 1
            return True
        if packet.ends != packet.begins:
            bytes_ = self._bytes.setdefault(packet.flow, Counter())
            bytes_[packet.place] += packet.ends - packet.begins
        if packet.may_be_merged:
            self._merged.add(packet.flow)
        self._new[key] = _Seen(packet.time_s, [packet.place], seen.times if seen else 1)
        return False

    def _is_copy(self, packet: Packet, seen: _Seen) -> bool:
        is_udp = packet.acked is None
        if packet.place not in seen.places:
            seen.places.append(packet.place)
            if is_udp:
                self._spread.add(packet.flow)
            return True
        seen.times += 1
        if is_udp and seen.times > _MAX_COPIES:
            self._alike.add(packet.flow)
        known = self._known.get(packet.flow)
        is_at_once = packet.time_s - seen.time_s < _AT_ONCE_S
        if known is None and is_at_once and not packet.is_own:
            self._twins[packet.flow] += packet.ends - packet.begins
        return packet.is_own if known is None else known and (packet.is_own or is_at_once)

    def found(self) -> dict[bytes, bool]:
        """Returns, after all packets, `known` for a second pass.

        Raises:
            UnreadableError: copies of a flow on several interfaces cannot be recognised.
        """
        found = dict(self._known)
        for flow, twins in self._twins.items():
            if twins and 2 * twins >= self._bytes[flow].total() - twins:
                found |= {flow: True, back_of(flow): True}
        for flow in self._alike:
            found |= {flow: False, back_of(flow): False}
        for flow in (self._alike & self._spread) | {f for f in self._merged if self._is_spread(f)}:
            raise UnreadableError(
                f"several interfaces have {name_of(flow)}, and copies of its packets cannot be "
                "recognised, as packets are all alike or merged; capture one: tcpdump -i DEV"
            )
        return found

    def _is_spread(self, flow: bytes) -> bool:
        """Returns whether the flow's packets on several interfaces are mostly not copies."""
        most = self._bytes[flow].most_common(2) if flow in self._bytes else []
        return len(most) == 2 and 8 * most[1][1] > most[0][1]

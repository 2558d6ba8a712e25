"""Captures of both ends of a path: packets that stand in both tell one-way delay and loss.

What left and what came is written as a log of Pantheon's tunnel, whose figures these are.
"""

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge
from itertools import chain, combinations
from pathlib import Path
from typing import Any, BinaryIO, cast

from analysis.imported import packets
from analysis.imported.measurement import Measurement, opened
from analysis.imported.packets import FORMAT, Packet, read_packets
from analysis.imported.pantheon import measurement_of

_PATIENCE_S = 60.0  # for a packet at the other end


def join_ends(measurements: Sequence[Measurement]) -> list[Measurement]:
    """One measurement, at the sender's place, instead of two captures of the same packets.

    Raises:
        KneepointError: their clocks disagree.
    """
    found = list(measurements)
    for pair in combinations([each for each in found if each.format == FORMAT.name], 2):
        one, other = (set(_flows(each)) - {"all"} for each in pair)
        if not one & other or any(each not in found for each in pair):
            continue
        # The whole RTT is seen where the sender is.
        first, second = sorted(pair, key=lambda each: -_rtt_ms(each))
        is_known = _rtt_ms(first) > _rtt_ms(second)
        both = _joined(first, second, is_known) or _joined(second, first, False)
        if both:
            found[found.index(first if both.path == first.path else second)] = both
            found = [each for each in found if each not in pair]
    return found


def _flows(measurement: Measurement) -> dict[str, Any]:
    return {str(flow["name"]): flow for flow in measurement.flows}


def _rtt_ms(measurement: Measurement) -> float:
    return float(cast(float, measurement.flows[0].get("rtt_p50_ms", 0)))


def _joined(sender: Measurement, receiver: Measurement, is_known: bool) -> Measurement | None:
    """None unless most packets that came had left before; `is_known` whether that must be."""
    flows = _flows(sender)
    numbers = {name: number for number, name in enumerate(flows)}
    waiting: dict[bool, dict[tuple[int, ...], float]] = {True: {}, False: {}}
    forward = backward = 0
    with tempfile.TemporaryFile() as log:
        for packet, is_sent in _merged(sender.path, receiver.path):
            number = numbers.get(packets.name_of(packet.source, packet.destination))
            if number is None:
                continue
            time_s, key = packet.time_s, packet.identity
            before_s = waiting[not is_sent].pop(key, None)
            if is_sent:
                log.write(b"%.3f + %d %d\n" % (time_s * 1000, packet.bytes_, number))
                backward += before_s is not None
            elif before_s is not None:
                words = (time_s * 1000, packet.bytes_, (time_s - before_s) * 1000, number)
                log.write(b"%.3f - %d %.3f %d\n" % words)
                forward += 1
            if before_s is None:
                own = waiting[is_sent]
                own[key] = time_s
                while own[oldest := next(iter(own))] < time_s - _PATIENCE_S:
                    del own[oldest]
        if backward > forward / 100 and (is_known or backward <= forward):
            why = f"packets came to {receiver.path} before they left; correct a clock: editcap -t"
            raise FORMAT.refuse(sender.path, why)
        if not forward or forward < max(backward, len(waiting[False])):
            return None
        log.seek(0)
        found = measurement_of(FORMAT, sender.path, cast(BinaryIO, log))
    named = {str(number): name for name, number in numbers.items()} | {"all": "all"}
    joined = [
        {**flows[name], **flow, "name": name}
        for flow in found.flows
        if (name := named[str(flow["name"])])
    ]
    return replace(found, format=f"{FORMAT.name} of both ends", flows=tuple(joined))


def _merged(sent: Path, came: Path) -> Iterator[tuple[Packet, bool]]:
    """The packets of both, in the order of time; none if they begin at different times."""
    with opened(sent) as one, opened(came) as other:
        first, second = read_packets(sent, one), read_packets(came, other)
        begins = next(first), next(second)
        if abs(begins[0].time_s - begins[1].time_s) > _PATIENCE_S:
            return
        left = ((packet, True) for packet in chain(begins[:1], first))
        right = ((packet, False) for packet in chain(begins[1:], second))
        yield from merge(left, right, key=lambda each: each[0].time_s)

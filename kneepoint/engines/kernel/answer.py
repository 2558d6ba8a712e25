"""Computes a run's answer from samples, in the format of `build/emulate --scenario`.

The kernel reports no one-way delays of a flow's packets: these and the signal delay are None. RTTs
of flows are samples of the kernel's smoothed RTT; RTTs of probes are ping's.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kneepoint.engines.kernel.netlink import TcpSocket, tcp_info
from kneepoint.engines.kernel.scenario import (
    HEADERS_BYTES,
    PAYLOAD_BYTES,
    Flow,
    Link,
    Load,
    Scenario,
)

_NOTHING = TcpSocket(0, 0, 0, **tcp_info(b""))


@dataclass
class FlowSamples:
    """Samples of a flow: the sender's and the receiver's sockets, each with its time (s)."""

    sender: list[tuple[float, TcpSocket]] = field(default_factory=list)
    receiver: list[tuple[float, TcpSocket]] = field(default_factory=list)
    completion_s: float | None = None
    last: dict[str, Any] | None = None


@dataclass
class LinkSamples:
    """Samples of a queue: (time in s, packets, bytes of IP), and its counters at the end."""

    held: list[tuple[float, int, int]] = field(default_factory=list)
    bytes: int = 0
    packets: int = 0
    drops: int = 0


def answer_of(
    scenario: Scenario,
    links: Sequence[LinkSamples],
    flows: Sequence[FlowSamples],
    probes: Sequence[Sequence[float | None]],
) -> dict[str, Any]:
    """Returns the answer; `links` are uplink and downlink."""
    traffic = answer_of_traffic(scenario, flows, probes)
    uplink = _link(scenario, scenario.uplink, links[0])
    return {
        "throughput_mbps": uplink["throughput_mbps"],
        "capacity_mbps": scenario.uplink.rate_mbps,
        "utilization": uplink["utilization"],
        "queueing_delay_p95_ms": uplink["queueing_delay_p95_ms"],
        "signal_delay_p95_ms": None,
        "power": None,
        "packets_sent": sum(flow["packets_sent"] for flow in traffic["flows"]),
        "packets_delivered": sum(flow["packets_received"] for flow in traffic["flows"]),
        "packets_dropped": sum(link.drops for link in links),
        "uplink": uplink,
        "downlink": _link(scenario, scenario.downlink, links[1]),
        **traffic,
    }


def answer_of_traffic(
    load: Load, flows: Sequence[FlowSamples], probes: Sequence[Sequence[float | None]]
) -> dict[str, Any]:
    """Returns the answer's keys `flows` and `probes`."""
    return {
        "flows": [_flow(load, f, s) for f, s in zip(load.flows, flows, strict=True)],
        "probes": [_probe(rtts_ms) for rtts_ms in probes],
    }


def quantile(values: Sequence[float], q: float) -> float | None:
    """Returns element floor(q n) of the n sorted values; None without values."""
    return sorted(values)[min(int(q * len(values)), len(values) - 1)] if values else None


def loss_events_s(samples: Sequence[tuple[float, TcpSocket]]) -> list[float]:
    """Returns the times at which the sender began a loss recovery (s).

    A timeout that interrupts a recovery shows as a change of ssthresh.
    """
    times: list[float] = []
    was_repairing, ssthresh = False, None
    for time_s, sender in samples:
        changed = sender.ssthresh_packets != ssthresh
        if sender.is_repairing and (changed or not was_repairing):
            times.append(time_s)
        was_repairing, ssthresh = sender.is_repairing, sender.ssthresh_packets
    return times


def _link(scenario: Scenario, link: Link, samples: LinkSamples) -> dict[str, Any]:
    carried = samples.bytes + HEADERS_BYTES * samples.packets
    throughput_mbps = carried * 8 / 1e6 / scenario.duration_s
    delays_ms = [
        (size + HEADERS_BYTES * packets) * 8 / link.rate_mbps / 1000
        for _, packets, size in samples.held
    ]
    figures: dict[str, Any] = {
        "throughput_mbps": throughput_mbps,
        "utilization": throughput_mbps / link.rate_mbps,
        "queueing_delay_p50_ms": quantile(delays_ms, 0.5),
        "queueing_delay_p95_ms": quantile(delays_ms, 0.95),
        "packets_dropped": samples.drops,
        "packets_marked": 0,
        "packets_lost": 0,
    }
    if scenario.interval_s:
        held = [(time_s, float(packets)) for time_s, packets, _ in samples.held]
        figures["queue_by_interval_packets"] = _last_by_interval(scenario, held)
    return figures


def _flow(load: Load, flow: Flow, samples: FlowSamples) -> dict[str, Any]:
    """Returns a flow's metrics; for an endless flow, from measure_from_s on."""
    from_s = flow.start_s if flow.bytes else max(flow.start_s, load.measure_from_s)
    end_s = min(load.duration_s, flow.stop_s or load.duration_s)
    seconds = samples.completion_s or end_s - from_s
    counted = [sender for time_s, sender in samples.sender if time_s >= from_s]
    sender, receiver = _last(samples.sender, from_s), _last(samples.receiver, from_s)
    end, arrived = samples.last or vars(_last(samples.sender)), _last(samples.receiver)
    packets, in_order = arrived.packets_received, arrived.bytes_received
    if samples.completion_s and flow.bytes:  # the receiver's last sample precedes its end
        packets, in_order = max(packets, -(-flow.bytes // PAYLOAD_BYTES)), flow.bytes
    sent = end["packets_sent"] - sender.packets_sent
    packets -= receiver.packets_received
    in_order -= receiver.bytes_received
    rtts_ms = [each.rtt_ms for each in counted if each.rtt_ms]
    figures: dict[str, Any] = {
        "controller": flow.controller,
        "throughput_mbps": max(packets * PAYLOAD_BYTES, in_order) * 8 / 1e6 / seconds,
        "goodput_mbps": in_order * 8 / 1e6 / seconds,
        "packets_sent": sent,
        "packets_received": packets,
        "packets_marked": 0,
        "retransmissions": end["retransmissions"] - sender.retransmissions,
        "loss": max(0.0, 1 - packets / sent) if sent else None,
        "delay_p50_ms": None,
        "delay_p95_ms": None,
        "rtt_mean_ms": _mean(rtts_ms),
        "rtt_p50_ms": quantile(rtts_ms, 0.5),
        "rtt_p95_ms": quantile(rtts_ms, 0.95),
        "mean_window_packets": _mean([each.window_packets for each in counted]),
        "completion_s": samples.completion_s,
        "loss_events_s": [t for t in loss_events_s(samples.sender) if t >= from_s],
    }
    if load.interval_s:
        figures["throughput_by_interval_mbps"] = _rates(load, samples)
        windows = [(time_s, float(s.window_packets)) for time_s, s in samples.sender]
        figures["window_by_interval_packets"] = _last_by_interval(load, windows)
        rtts = [(time_s, s.rtt_ms) for time_s, s in samples.sender]
        figures["rtt_by_interval_ms"] = _last_by_interval(load, rtts)
    return figures


def _last(samples: Sequence[tuple[float, TcpSocket]], before_s: float = math.inf) -> TcpSocket:
    """Returns the last sample before a time; all values are zero if there is none."""
    return next((socket for at_s, socket in reversed(samples) if at_s < before_s), _NOTHING)


def _probe(rtts_ms: Sequence[float | None]) -> dict[str, Any]:
    answered = [rtt_ms for rtt_ms in rtts_ms if rtt_ms is not None]
    return {
        "sent": len(rtts_ms),
        "answered": len(answered),
        "rtt_p50_ms": quantile(answered, 0.5),
        "rtt_p95_ms": quantile(answered, 0.95),
        "rtt_mean_ms": _mean(answered),
        "rtts_ms": rtts_ms,
    }


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None


def _intervals(load: Load) -> int:
    return -int(-load.duration_s // load.interval_s)


def _last_by_interval(load: Load, samples: Sequence[tuple[float, float]]) -> list[float | None]:
    """Returns the last value within each interval; 0 in an interval without samples."""
    values: list[float | None] = [0.0] * _intervals(load)
    for time_s, value in samples:
        values[min(int(time_s / load.interval_s), len(values) - 1)] = value
    return values


def _rates(load: Load, samples: FlowSamples) -> list[float]:
    """Returns the rate of received payload in each interval (Mbit/s)."""
    packets = [0] * _intervals(load)
    before = 0
    for time_s, receiver in samples.receiver:
        place = min(int(time_s / load.interval_s), len(packets) - 1)
        packets[place] += receiver.packets_received - before
        before = receiver.packets_received
    return [count * PAYLOAD_BYTES * 8 / 1e6 / load.interval_s for count in packets]

import dataclasses
from typing import Any

import pytest

from kneepoint.engines.kernel.answer import (
    FlowSamples,
    LinkSamples,
    answer_of,
    loss_events_s,
    quantile,
)
from kneepoint.engines.kernel.netlink import TcpSocket
from kneepoint.engines.kernel.scenario import Scenario, scenario_of
from tests.engines.kernel.bufferbloat import BUFFERBLOAT

IDLE = TcpSocket(
    state=1,
    local_port=6001,
    remote_port=5201,
    is_repairing=False,
    window_packets=10,
    ssthresh_packets=1 << 31,
    rtt_ms=20.0,
    retransmissions=0,
    packets_sent=0,
    packets_received=0,
    bytes_received=0,
)


def socket(**values: Any) -> TcpSocket:
    return dataclasses.replace(IDLE, **values)


def scenario(**changes: Any) -> Scenario:
    return scenario_of({**BUFFERBLOAT, "probes": [{}], "duration_s": 10, **changes}, "s")


def test_quantile_is_the_emulators() -> None:
    assert quantile([3, 1, 2, 4], 0.5) == 3
    assert quantile([3, 1, 2, 4], 0.95) == 4
    assert quantile([], 0.5) is None


def test_loss_events_begin_with_a_repair_or_with_another_ssthresh() -> None:
    told = [(False, 100), (True, 50), (True, 50), (False, 50), (False, 55), (True, 27), (True, 13)]
    samples = [
        (float(number), socket(is_repairing=repairs, ssthresh_packets=ssthresh))
        for number, (repairs, ssthresh) in enumerate(told)
    ]
    assert loss_events_s(samples) == [1.0, 5.0, 6.0]


def test_answer_of_a_run() -> None:
    page = BUFFERBLOAT["flows"][1]
    content = scenario(flows=[BUFFERBLOAT["flows"][0], page], interval_s=5)
    long = FlowSamples(
        sender=[
            (1.0, socket(window_packets=10, rtt_ms=20.0)),
            (4.0, socket(window_packets=40, rtt_ms=60.0)),
            (9.0, socket(window_packets=70, rtt_ms=90.0, packets_sent=1100, retransmissions=100)),
        ],
        receiver=[
            (4.0, socket(packets_received=400, bytes_received=400 * 1448)),
            (9.0, socket(packets_received=1000, bytes_received=1000 * 1448)),
        ],
    )
    download = FlowSamples(
        sender=[(5.5, socket(packets_sent=100))],
        receiver=[(5.5, socket(packets_received=90, bytes_received=90 * 1448))],
        completion_s=2.0,
        last={"packets_sent": 130, "retransmissions": 7},
    )
    up = LinkSamples(held=[(1.0, 0, 0), (9.0, 10, 14_960)], bytes=1_496_000, packets=1000, drops=9)
    answer = answer_of(content, [up, LinkSamples()], [long, download], [[20.0, None, 40.0]])
    assert answer["uplink"]["throughput_mbps"] == pytest.approx(1.2)  # 4 bytes more per packet
    assert answer["uplink"]["utilization"] == pytest.approx(0.8)
    assert answer["uplink"]["queueing_delay_p95_ms"] == pytest.approx(80)
    assert answer["uplink"]["queue_by_interval_packets"] == [0, 10]
    assert answer["uplink"]["packets_dropped"] == 9
    flow = answer["flows"][0]
    assert flow["goodput_mbps"] == pytest.approx(1.1584)
    assert (flow["packets_sent"], flow["packets_received"]) == (1100, 1000)
    assert flow["loss"] == pytest.approx(1 / 11)
    assert flow["window_by_interval_packets"] == [40, 70]
    assert flow["rtt_by_interval_ms"] == [60, 90]
    assert flow["throughput_by_interval_mbps"] == pytest.approx([0.926720, 1.390080])
    assert (flow["mean_window_packets"], flow["completion_s"]) == (40, None)
    other = answer["flows"][1]
    assert (other["packets_sent"], other["retransmissions"]) == (130, 7)
    assert other["packets_received"] == 123  # the bytes in segments
    assert other["goodput_mbps"] == pytest.approx(177_669 * 8 / 1e6 / 2)
    assert answer["probes"] == [
        {
            "sent": 3,
            "answered": 2,
            "rtt_p50_ms": 40.0,
            "rtt_p95_ms": 40.0,
            "rtt_mean_ms": 30.0,
            "rtts_ms": [20.0, None, 40.0],
        }
    ]


def test_flow_that_never_began_has_no_figures() -> None:
    content = scenario(flows=BUFFERBLOAT["flows"][:1], interval_s=0)
    answer = answer_of(content, [LinkSamples(), LinkSamples()], [FlowSamples()], [[]])
    flow = answer["flows"][0]
    assert (flow["goodput_mbps"], flow["packets_sent"], flow["loss"]) == (0, 0, None)
    assert answer["probes"][0]["rtt_mean_ms"] is None

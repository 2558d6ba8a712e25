"""TCP's windows under periodic loss against RFC 9438, section 5.1, and shares of several flows."""

import itertools
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kneepoint.networks.traffic import LINUX
from tests.controllers.emulator import EMULATE

SEGMENT_BITS = 1448 * 8
INTERVALS = 100
FEW = 20
"""With fewer rounds between losses, the round that repairs a loss affects the mean."""

# Mean windows in segments: RTT in s, probability of loss, Reno, CUBIC with C = 0.4 and with C = 4.
PUBLISHED = [
    (0.1, 1e-2, 12, 12, 12),
    (0.1, 1e-3, 38, 38, 59),
    (0.1, 1e-4, 120, 187, 333),
    (0.1, 1e-5, 379, 1054, 1874),
    pytest.param(0.1, 1e-6, 1200, 5926, 10538, marks=pytest.mark.long),
    (0.01, 1e-2, 12, 12, None),
    (0.01, 1e-3, 38, 38, None),
    (0.01, 1e-4, 120, 120, None),
    (0.01, 1e-5, 379, 379, None),
    pytest.param(0.01, 1e-6, 1200, 1200, None, marks=pytest.mark.long),
]


# Controller, packets of a queue, number of queues, the kernel's loss events per minute
# (docs/kernel-tcp.md).
OF_THE_KERNEL = [
    ("reno", 20, 1, 29.9),
    ("reno", 20, 2, 28.9),
    ("cubic", 20, 1, 31.1),
    ("cubic", 50, 1, 13.3),
    ("cubic", 100, 1, 9.3),
    ("cubic", 20, 2, 34.5),
    ("cubic", 50, 2, 12.5),
    ("cubic", 100, 2, 8.9),
]

AS_LINUX = LINUX.model_dump(exclude_none=True)
PARAMETERS_OF_LINUX = {"reno": {"whole_packets": 1}, "cubic": {"hystart": 1, "whole_packets": 1}}

STEPS = {"delay_step_ms": 20, "delay_period_s": 2}
"""20 ms more in every other second."""
DRR = {"rate_mbps": 1, "queue": "drr:packets=9,classes=1"}


def run(folder: Path, *options: str | Path, **scenario: Any) -> dict[str, Any]:
    file = folder / "scenario.json"
    file.write_text(json.dumps({"host_model": "ideal", **scenario}))
    command = [EMULATE, "--scenario", file, *options]
    result = subprocess.run(command, check=True, capture_output=True)
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def logged(folder: Path, **scenario: Any) -> tuple[dict[str, Any], list[list[str]]]:
    """Returns the figures of one flow, and the words of each line of its log."""
    log = folder / "flow.log"
    figures = run(folder, "--flow-log", log, **scenario)
    return figures["flows"][0], [line.split() for line in log.read_text().splitlines()[1:]]


def tcp(controller: str, **changes: Any) -> dict[str, Any]:
    return {"controller": controller, "transport": "tcp", **changes}


def mean_window(
    folder: Path, controller: str, rtt_s: float, loss: float, expected: float, c: float = 0.4
) -> float:
    """Returns the mean window over 20 losses.

    CUBIC takes hundreds of losses to reach its steady windows. The first loss therefore occurs
    where RFC 9438 expects a loss: at 4 / (3 + beta) of the mean window, which grows from the mean
    by C t^3 or by a segment per round. Fast convergence is off: the flow is alone, and the analysis
    does not include it.
    """
    link = {"rate_mbps": 100000, "delay_ms": rtt_s * 500}
    parameters: dict[str, float] = {"initial_window": expected, "initial_ssthresh": expected}
    first = 1 / loss / 2
    if controller == "cubic":
        parameters |= {"fast_convergence": 0, "c": c}
        peak = expected * 4 / 3.7
        climb_s = min(((peak - expected) / c) ** (1 / 3), (peak - expected) * rtt_s)
        first = (expected + peak) / 2 * climb_s / rtt_s
    cycle_s = max(1 / loss / expected, 1) * rtt_s
    few = cycle_s < FEW * rtt_s
    duration_s = (first * loss + 20) * cycle_s
    figures = run(
        folder,
        uplink={**link, "loss_period": round(1 / loss), "loss_first": round(first)},
        downlink=link,
        flows=[tcp(controller, parameters=parameters, tcp={"delayed_ack_ms": 0})],
        duration_s=duration_s,
        interval_s=rtt_s if few else duration_s / INTERVALS,
    )
    if few:
        return mean_outside_recoveries(figures["flows"][0], rtt_s)
    rates = figures["flows"][0]["throughput_by_interval_mbps"][INTERVALS // 4 : INTERVALS]
    return float(sum(rates) / len(rates) * 1e6 / SEGMENT_BITS * rtt_s)


def mean_outside_recoveries(flow: dict[str, Any], rtt_s: float) -> float:
    """Returns the mean window of the rounds that repair no loss (the interval is a round).

    The analysis of RFC 9438 has no rounds of repair: a reduced window grows again at once.
    """
    rounds = range(INTERVALS // 4, len(flow["window_by_interval_packets"]))
    repairs = [(event_s / rtt_s - 1, event_s / rtt_s + 1) for event_s in flow["loss_events_s"]]
    windows = [
        flow["window_by_interval_packets"][number]
        for number in rounds
        if not any(begin < number < end for begin, end in repairs)
    ]
    assert len(rounds) / 2 < len(windows) < len(rounds)
    return float(sum(windows) / len(windows))


@pytest.mark.parametrize(("rtt_s", "loss", "reno", "cubic", "steep"), PUBLISHED)
def test_mean_windows_are_those_of_rfc_9438(
    tmp_path: Path, rtt_s: float, loss: float, reno: float, cubic: float, steep: float | None
) -> None:
    # With one loss in a million at 10 ms, CUBIC grows partly by its function and partly like Reno:
    # the RFC gives the larger of the two means, and the mixture is larger than both.
    tolerance = 0.1 if loss in (1e-2, 1e-6) else 0.05
    for controller, c, expected in (
        ("reno", 0.4, reno),
        ("cubic", 0.4, cubic),
        ("cubic", 4, steep),
    ):
        if expected is not None:
            window = mean_window(tmp_path, controller, rtt_s, loss, expected, c)
            assert window == pytest.approx(expected, rel=tolerance), (controller, c)


def test_renos_windows_are_larger_if_losses_are_random(tmp_path: Path) -> None:
    """1.31 / sqrt(p), whereas periodic losses give 1.22 / sqrt(p)."""
    link = {"rate_mbps": 100000, "delay_ms": 5}
    figures = run(
        tmp_path,
        uplink={**link, "loss_probability": 1e-3},
        downlink=link,
        flows=[tcp("reno", parameters={"initial_ssthresh": 40}, tcp={"delayed_ack_ms": 0})],
        duration_s=600,
        seed=1,
    )
    window = figures["flows"][0]["throughput_mbps"] * 1e6 / SEGMENT_BITS * 0.01
    # Rounds that repair losses, here one in 26, have no growth; the formula ignores them.
    assert window == pytest.approx(1.31 / 1e-3**0.5, rel=0.06)


# 8 and 50 Mbit/s, a base RTT of 50 ms, buffers of 1 and 4 bandwidth-delay products in packets.
# Behind the largest of these buffers, Reno loses only every hundred seconds.
SHARED_LINKS = [
    (8, 33, 120),
    (8, 133, 120),
    (50, 208, 120),
    pytest.param(50, 831, 600, marks=pytest.mark.long),
]


@pytest.mark.parametrize("controller", ["reno", "cubic"])
@pytest.mark.parametrize(("rate_mbps", "packets", "duration_s"), SHARED_LINKS)
def test_a_pair_of_a_kind_has_half_the_link_each(
    tmp_path: Path, controller: str, rate_mbps: float, packets: int, duration_s: int
) -> None:
    """Shares are over the second half of a run, in the mean of runs with slightly different
    starts."""
    shares = []
    for start_s in (0.1, 0.37, 0.71, 1.3):
        figures = run(
            tmp_path,
            uplink={"rate_mbps": rate_mbps, "delay_ms": 25, "queue": f"droptail:packets={packets}"},
            downlink={"rate_mbps": 1000, "delay_ms": 25},
            flows=[tcp(controller), tcp(controller, start_s=start_s)],
            duration_s=duration_s,
            interval_s=1,
        )
        assert figures["convergence_s"] is not None
        of_flows = [flow["throughput_by_interval_mbps"] for flow in figures["flows"]]
        late = [
            statistics.fmean(rates[int(duration_s / 2) : int(duration_s)]) for rates in of_flows
        ]
        assert sum(late) > 0.9 * rate_mbps * 1448 / 1504
        assert sum(late) ** 2 / (2 * sum(rate**2 for rate in late)) > 0.9  # Jain's index
        shares.append(late[0] / sum(late))
    assert sum(shares) / len(shares) == pytest.approx(0.5, abs=0.1)


def test_what_one_end_sends_the_other_could_send(tmp_path: Path) -> None:
    """The same path, seen from both ends."""
    fast, slow = {"rate_mbps": 20, "delay_ms": 10}, {"rate_mbps": 2, "delay_ms": 30}
    completions = []
    for up, down, end in ((slow, fast, "near"), (fast, slow, "far")):
        flow = tcp("cubic", bytes=1448 * 300, **{"from": end})
        figures = run(tmp_path, uplink=up, downlink=down, flows=[flow], duration_s=20)
        completions.append(figures["flows"][0]["completion_s"])
    assert completions[0] == pytest.approx(completions[1], abs=1e-4)
    assert completions[0] > 300 * 1504 * 8 / 2e6


@pytest.mark.parametrize("transport", ["tcp", "datagrams"])
def test_flows_load_both_directions_while_probes_are_answered(
    tmp_path: Path, transport: str
) -> None:
    link = {"rate_mbps": 5, "delay_ms": 20, "queue": "droptail:packets=50"}
    near = {"controller": "cubic", "transport": transport}
    figures = run(
        tmp_path,
        uplink=link,
        downlink=link,
        flows=[near, {**near, "from": "far"}],
        probes=[{"interval_ms": 50}],
        duration_s=60,
    )
    for flow, direction in zip(figures["flows"], ("uplink", "downlink"), strict=True):
        assert flow["throughput_mbps"] > 3
        assert figures[direction]["utilization"] > 0.8
    probe = figures["probes"][0]
    assert probe["answered"] > 0.9 * probe["sent"]
    assert probe["rtt_p50_ms"] > 60  # 40 ms and the flows' queue


def test_loss_events_are_when_a_repair_begins(tmp_path: Path) -> None:
    """The connection is open at 50 ms; windows of 10 and 20 segments leave at 50 and 100 ms."""

    def events_s(lost: int, segments: int, **changes: Any) -> list[float]:
        link = {"rate_mbps": 1000, "delay_ms": 25}
        figures = run(
            tmp_path,
            uplink={**link, "loss_first": lost, "loss_period": 1 << 40},
            downlink=link,
            flows=[tcp("reno", bytes=1448 * segments, **changes)],
            duration_s=5,
        )
        events: list[float] = figures["flows"][0]["loss_events_s"]
        return events

    each = {"delayed_ack_ms": 0}
    assert events_s(15, 30, tcp=each) == [pytest.approx(0.15, abs=1e-3)]  # the SYN is packet 1
    # The last of ten segments is lost: no later segment reveals it, and the timer starts at the
    # ninth's ACK.
    assert events_s(11, 10, tcp=each) == [pytest.approx(1.1, abs=1e-3)]
    linux = {"min_rto_ms": 200, **each}
    assert events_s(11, 10, tcp=linux) == [pytest.approx(0.1 + 0.2, abs=1e-3)]
    linux |= {"min_rto_margin_ms": 200}
    assert events_s(11, 10, tcp=linux) == [pytest.approx(0.1 + 0.05 + 0.2, abs=1e-3)]
    # The ninth of ten segments is lost: only the tenth reveals it; RACK waits a quarter of the RTT.
    assert events_s(10, 10, tcp=each) == [pytest.approx(1.1, abs=1e-2)]
    rack = {"rack": True, **each}
    assert events_s(10, 10, tcp=rack) == [pytest.approx(0.1 + 0.05 / 4, abs=1e-3)]
    assert events_s(11, 10, tcp=rack) == []  # a probe repairs it before the timeout
    assert events_s(100, 30, tcp=each) == []
    assert events_s(15, 30, transport="datagrams") == []  # datagrams are not retransmitted


def test_downloads_are_measured_whole(tmp_path: Path) -> None:
    link = {"rate_mbps": 8, "delay_ms": 25, "queue": "droptail:packets=33"}
    scenario: dict[str, Any] = {
        "uplink": link,
        "downlink": link,
        "flows": [tcp("reno"), tcp("reno", start_s=2, bytes=50_000)],
        "duration_s": 30,
    }
    whole = run(tmp_path, **scenario)["flows"]
    late = run(tmp_path, **scenario, measure_from_s=15)["flows"]
    assert late[1] == whole[1] and whole[1]["completion_s"] < 10
    assert late[0] != whole[0]


@pytest.mark.parametrize(("link", "min_ms"), [("rate", 50.176), ("trace", 52)])
def test_delay_steps_up_and_down_on_every_link(tmp_path: Path, link: str, min_ms: float) -> None:
    """Steps equal a trace of the same delays; the link has an opportunity every millisecond."""
    (tmp_path / "trace").write_text("1\n")
    (tmp_path / "delays").write_text("".join(f"{1000 * i} {25 + i % 2 * 20}\n" for i in range(9)))
    kind = {"rate_mbps": 8} if link == "rate" else {"trace": str(tmp_path / "trace")}
    steps = {**kind, **STEPS, "delay_ms": 25}
    figures, of_trace = (
        run(
            tmp_path,
            uplink=each,
            downlink=each,
            flows=[tcp("reno", bytes=1448, start_s=0.5)],
            probes=[{"interval_ms": 1000}],
            duration_s=4.1,
        )
        for each in (steps, {**kind, "delay_trace": str(tmp_path / "delays")})
    )
    assert figures == of_trace
    rtts_ms = figures["probes"][0]["rtts_ms"]
    assert rtts_ms == pytest.approx([min_ms, min_ms + 40] * 2 + [min_ms], abs=1.001)


@pytest.mark.parametrize("controller", ["reno", "cubic", "vegas", "hybla", "bic", "bbr"])
def test_timeouts_that_were_none_leave_the_window_as_it_was(
    tmp_path: Path, controller: str
) -> None:
    """Packets of one second are delayed by two, in which the timer expires three times; none is
    lost.

    BBR's window returns with the end of the recovery (bbr_set_cwnd_to_recover_or_restore of Linux).
    """
    (tmp_path / "delays").write_text("0 25\n5000 2000\n6000 25\n")
    before_and_after = []
    for undo in (False, True):
        flow = run(
            tmp_path,
            uplink={"rate_mbps": 50, "delay_trace": str(tmp_path / "delays")},
            downlink={"rate_mbps": 50, "delay_ms": 25},
            flows=[tcp(controller, tcp={**AS_LINUX, "receive_window_packets": 150, "undo": undo})],
            duration_s=8,
            interval_s=1,
        )["flows"][0]
        assert len(flow["loss_events_s"]) == 3
        windows = flow["window_by_interval_packets"]
        before_and_after.append((windows[4], windows[-1]))
    (before, stood), (_, undone) = before_and_after
    assert before <= undone
    assert (stood < before) == (controller != "bbr")


def test_queue_over_time_holds_what_waits(tmp_path: Path) -> None:
    """In a window of 20 packets of 8 ms each, one packet is in transmission, and two or three
    propagate."""
    figures = run(
        tmp_path,
        uplink={"rate_mbps": 1.504, "delay_ms": 10},
        downlink={"rate_mbps": 1000, "delay_ms": 10},
        flows=[{"controller": "fixed_window", "parameters": {"window": 20}, "stop_s": 1.9}],
        duration_s=3,
        interval_s=0.5,
    )
    held = figures["uplink"]["queue_by_interval_packets"]
    assert len(held) == 6
    assert all(16 <= packets <= 17 for packets in held[:3]), held
    assert held[4:] == [0, 0]
    assert figures["downlink"]["queue_by_interval_packets"] == [0] * 6


# Both links: 8 Mbit/s, so that a byte takes 1 us; 25 ms.
HTTP_LINK = {"rate_mbps": 8, "delay_ms": 25}


@pytest.mark.parametrize("end", ["near", "far"])
def test_an_answer_takes_two_round_trips_and_its_own_time(tmp_path: Path, end: str) -> None:
    """From the SYN to the answer's last byte. On the link a SYN and an acknowledgment take 56
    bytes, the request 156; its acknowledgment precedes five segments of 1504."""
    flow = tcp("cubic", bytes=1448 * 5, request_bytes=100, **{"from": end})
    figures = run(tmp_path, uplink=HTTP_LINK, downlink=HTTP_LINK, flows=[flow], duration_s=5)
    completion_s = figures["flows"][0]["completion_s"]
    expected_us = 4 * 25000 + 56 + 56 + 156 + 56 + 5 * 1504
    assert completion_s == pytest.approx(expected_us / 1e6, abs=2e-5)
    assert figures["flows"][0]["answers_s"] == [completion_s]
    assert figures["flows"][0]["goodput_mbps"] == pytest.approx(1448 * 40 / 1e6 / completion_s)


def test_an_answer_beyond_the_initial_window_takes_another_round_trip(tmp_path: Path) -> None:
    """RFC 6928: ten segments at once."""

    def completion_s(segments: int) -> float:
        flow = tcp("reno", bytes=1448 * segments, request_bytes=100, tcp={"delayed_ack_ms": 0})
        link = {"rate_mbps": 1000, "delay_ms": 25}
        figures = run(tmp_path, uplink=link, downlink=link, flows=[flow], duration_s=5)
        return float(figures["flows"][0]["completion_s"])

    assert completion_s(10) == pytest.approx(0.1, abs=0.001)
    assert completion_s(11) == pytest.approx(0.15, abs=0.001)
    assert completion_s(30) == pytest.approx(0.15, abs=0.001)
    assert completion_s(31) == pytest.approx(0.2, abs=0.001)


def test_requests_follow_each_other_over_one_connection(tmp_path: Path) -> None:
    flow = tcp("cubic", bytes=1448 * 5, request_bytes=3000, requests=3, think_s=1, start_s=0.5)
    figures = run(tmp_path, uplink=HTTP_LINK, downlink=HTTP_LINK, flows=[flow], duration_s=9)
    first, second, third = figures["flows"][0]["answers_s"]
    assert first - second == pytest.approx(0.05 + 2 * 56e-6, abs=1e-4)  # the handshake
    assert second == pytest.approx(third, abs=1e-4)
    assert figures["flows"][0]["completion_s"] == pytest.approx(first + second + third + 2)
    assert figures["flows"][0]["packets_received"] == 15


@pytest.mark.parametrize("transport", ["tcp", "datagrams"])
@pytest.mark.parametrize("controller", ["reno", "cubic"])
def test_an_outage_costs_little_more_than_its_time(
    tmp_path: Path, controller: str, transport: str
) -> None:
    """RFC 5681, section 3.1, and RFC 9438, section 4.8: one outage reduces ssthresh once."""
    link = {"rate_mbps": 12, "queue": "droptail:packets=100", "delay_ms": 25}
    linux = {"min_rto_ms": 1, "min_rto_margin_ms": 200, "rack": True, "prr": True, "undo": True}
    details = {"tcp": linux} if transport == "tcp" else {}
    figures = run(
        tmp_path,
        uplink={**link, "impairments": ["on_off:on=10,off=1"]},
        downlink={"rate_mbps": 1000, "delay_ms": 25},
        flows=[{"controller": controller, "transport": transport, **details}],
        duration_s=110,
    )["uplink"]
    assert figures["throughput_mbps"] > 0.93 * 12 * 10 / 11


@pytest.mark.parametrize("controller", ["reno", "cubic", "bic", "hybla"])
def test_a_window_that_is_not_needed_does_not_grow(tmp_path: Path, controller: str) -> None:
    """RFC 9002, section 7.8: answers of five segments never fill a window of ten."""
    flow = tcp(controller, bytes=1448 * 5, request_bytes=100, requests=40, think_s=0.1)
    flow["parameters"] = {"initial_window": 10}
    figures = run(
        tmp_path,
        uplink=HTTP_LINK,
        downlink=HTTP_LINK,
        flows=[flow],
        duration_s=20,
        interval_s=1,
    )["flows"][0]
    assert max(figures["window_by_interval_packets"]) == 10


def test_lost_requests_and_answers_are_sent_again(tmp_path: Path) -> None:
    link = {**HTTP_LINK, "loss_probability": 0.05}
    for seed in range(5):
        flow = tcp("reno", bytes=1448 * 20, request_bytes=5000, requests=5)
        figures = run(tmp_path, uplink=link, downlink=link, flows=[flow], duration_s=900, seed=seed)
        assert len(figures["flows"][0]["answers_s"]) == 5
        assert figures["flows"][0]["goodput_mbps"] > 0


@pytest.mark.parametrize(
    "queue",
    [
        "codel:target=5,interval=100,ecn=1",
        "fq_codel:target=5,interval=100",
        "pie:qdelay_ref=15,max_burst=150,ecn=1",
        "red:min=10,max=40,max_p=0.1,weight=0.002,gentle=1,ecn=1,rate_mbps=8",
    ],
)
@pytest.mark.parametrize("controller", ["reno", "cubic"])
def test_marks_take_the_place_of_losses(tmp_path: Path, controller: str, queue: str) -> None:
    def flow_of(ecn: bool) -> dict[str, Any]:
        figures = run(
            tmp_path,
            uplink={"rate_mbps": 8, "delay_ms": 25, "queue": queue},
            downlink={"rate_mbps": 100, "delay_ms": 25},
            # The first slow start would overflow any of these queues.
            flows=[tcp(controller, tcp={"ecn": ecn}, parameters={"initial_ssthresh": 40})],
            duration_s=60,
        )
        flow: dict[str, Any] = figures["flows"][0]
        assert flow["packets_marked"] == figures["uplink"]["packets_marked"]
        assert flow["goodput_mbps"] > 6
        return flow

    marked, dropped = flow_of(True), flow_of(False)
    assert marked["packets_marked"] > 0 and marked["retransmissions"] == 0
    assert dropped["packets_marked"] == 0 and dropped["retransmissions"] > 0


@pytest.mark.parametrize("sack", [True, False])
def test_a_file_of_known_size_completes(tmp_path: Path, sack: bool) -> None:
    figures = run(
        tmp_path,
        uplink={"rate_mbps": 10, "delay_ms": 25, "loss_probability": 0.02},
        downlink={"rate_mbps": 10, "delay_ms": 25, "loss_probability": 0.02},
        flows=[tcp("reno", bytes=1448 * 500, tcp={"sack": sack})],
        duration_s=120,
        seed=1,
    )
    flow = figures["flows"][0]
    assert 0.9 < flow["completion_s"] < 60
    assert flow["packets_sent"] == 500 + flow["retransmissions"]
    assert flow["goodput_mbps"] == pytest.approx(1448 * 500 * 8 / 1e6 / flow["completion_s"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flows": []}, ".flows has no flow"),
        (
            {"flows": [tcp("reno", start_s=20)]},
            ".flows[0].start_s is not before the end of the run",
        ),
        ({"flows": [tcp("reno", start_s=2, stop_s=1)]}, ".flows[0].stop_s is not after start_s"),
        ({"flows": [tcp("renno")]}, "unknown controller 'renno'"),
        ({"flows": [tcp("reno", transport="sctp")]}, 'is neither "datagrams" nor "tcp"'),
        ({"uplink": {"delay_ms": 1}}, ".uplink needs either trace or rate_mbps"),
        (
            {"uplink": {"rate_mbps": 1, "loss_probability": 1.5}},
            "loss_probability 1.5 is outside [0, 1]",
        ),
        ({"uplink": {"rate_mbps": 1, "queue": "droptail:packets=0"}}, "packets 0 is outside [1, "),
        (
            {"uplink": {"rate_mbps": 1, "delay_trace": "{backwards}"}},
            "line 2: 0 ms does not follow",
        ),
        (
            {"uplink": {"trace": "{trace}", "delay_trace": "{fraction}"}},
            "fraction: delays of a link with a trace must be whole",
        ),
        ({"uplink": {"rate_mbps": 1, "delay_step_ms": 9}}, "delay_step_ms needs delay_period_s"),
        (
            {"uplink": {"trace": "{trace}", "delay_step_ms": 0.5, "delay_period_s": 1}},
            ".uplink.delay_step_ms must be whole",
        ),
        (
            {"uplink": {**STEPS, "rate_mbps": 1, "delay_trace": "{fraction}"}},
            ".uplink.delay_trace replaces delay_step_ms",
        ),
        ({"uplink": {**STEPS, "rate_mbps": 1, "delay_period_s": 0}}, "is outside [0.01, 86400]"),
        (
            {"uplink": {"rate_mbps": 1, "queue": "drr:packets=9,classes=2"}},
            ".uplink.queue has the class 1, but no flow is in it",
        ),
        ({"flows": [tcp("reno", **{"class": 1})], "uplink": DRR}, ".uplink.queue has no class 1"),
        ({"flows": [tcp("reno", **{"from": "left"})]}, 'is neither "near" nor "far"'),
        ({"flows": [tcp("reno", request_bytes=99)]}, ".request_bytes needs bytes, the size of"),
        ({"flows": [tcp("reno", bytes=1, request_bytes=14481)]}, "is outside [1, 14480]"),
        (
            {"flows": [{"controller": "reno", "bytes": 1, "request_bytes": 9}]},
            ".request_bytes needs transport tcp",
        ),
        ({"flows": [tcp("reno", bytes=1, requests=2)]}, "but no request_bytes"),
        ({"flows": [tcp("reno", tcp={"sack": False, "rack": True})]}, ".tcp.rack needs sack"),
        ({"duration_s": None}, "duration_s is not a number"),
        ({"bandwidth": 1}, "has no key 'bandwidth'; there are: uplink downlink flows"),
    ],
)
def test_bad_scenarios_are_refused_in_one_line(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    contents = {"backwards": "5 10\n0 10\n", "fraction": "0 10\n5 1.5\n", "trace": "1\n"}
    for name, content in contents.items():
        (tmp_path / name).write_text(content)
    link = {"rate_mbps": 5, "delay_ms": 20}
    scenario = {"uplink": link, "downlink": link, "flows": [tcp("reno")], "duration_s": 10}
    file = tmp_path / "scenario.json"
    text = json.dumps({**scenario, **changes})
    for name in contents:
        text = text.replace(f"{{{name}}}", str(tmp_path / name))
    file.write_text(text)
    result = subprocess.run([EMULATE, "--scenario", file], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert message in result.stderr


def as_linux(controller: str) -> dict[str, Any]:
    return tcp(controller, parameters=PARAMETERS_OF_LINUX[controller], tcp=AS_LINUX)


@pytest.mark.parametrize(("controller", "packets", "queues", "expected"), OF_THE_KERNEL)
def test_flow_in_whole_packets_loses_as_often_as_the_kernels(
    tmp_path: Path, controller: str, packets: int, queues: int, expected: float
) -> None:
    flow = as_linux(controller)
    download = {**flow, "bytes": 177_669, "request_bytes": 66, "class": queues - 1}
    bound = f"packets={packets},classes={queues},per_class=1"
    events = 0
    for download_s in (90, 110, 130):
        figures = run(
            tmp_path,
            uplink={"rate_mbps": 1.5, "delay_ms": 10, "queue": f"drr:{bound}"},
            downlink={"rate_mbps": 100, "delay_ms": 10},
            flows=[
                {**flow, "start_s": 15},
                {**download, "start_s": download_s},
            ],
            probes=[{"interval_ms": 1000, "start_s": 45.5, "class": queues - 1}],
            measure_from_s=45,
            duration_s=180,
        )
        events += len(figures["flows"][0]["loss_events_s"])
        if queues == 2:
            assert figures["flows"][1]["completion_s"] == pytest.approx(2.01, rel=0.02)
    assert events / 3 / 135 * 60 == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("prr", [False, True])
def test_recovery_in_proportion_never_falls_silent(tmp_path: Path, prr: bool) -> None:
    """A window of 40 is halved: RFC 6675 waits for half of it, RFC 6937 sends one segment per
    two."""
    link = {"rate_mbps": 100, "delay_ms": 50}
    flow = tcp("reno", tcp={"delayed_ack_ms": 0, "prr": prr}, bytes=1448 * 400)
    flow["parameters"] = {"initial_window": 40, "initial_ssthresh": 40}
    lost, lines = logged(
        tmp_path,
        uplink={**link, "rate_mbps": 4, "loss_first": 60, "loss_period": 1 << 40},
        downlink=link,
        flows=[flow],
        duration_s=5,
    )
    (loss_s,) = lost["loss_events_s"]
    sent_s = [int(line[0]) / 1e6 for line in lines if line[2] == "sent"]
    recovery = [time_s for time_s in sent_s if loss_s <= time_s < loss_s + 0.12]
    gaps_s = [after - before for before, after in itertools.pairwise(recovery)]
    serialization_s = 1504 * 8 / 4e6
    assert len(recovery) == pytest.approx(20, abs=2)
    if prr:
        assert max(gaps_s) < 3.1 * serialization_s
    else:
        assert max(gaps_s) > 12 * serialization_s


def test_first_segments_are_acknowledged_at_once(tmp_path: Path) -> None:
    link = {"rate_mbps": 100, "delay_ms": 50}
    flow = tcp("reno", tcp={"quick_acks": 4}, bytes=1448 * 10)
    _, lines = logged(tmp_path, uplink=link, downlink=link, flows=[flow], duration_s=5)
    acknowledged = [int(line[3]) for line in lines if line[2] == "ack"]
    assert acknowledged == [0, 1, 2, 3, 5, 7, 9]


@pytest.mark.parametrize("controller", ["reno", "cubic", "bic", "hybla"])
@pytest.mark.parametrize(
    ("buffers", "held"),
    [
        ({"send_buffer_bytes": 144_801}, 101),  # the last segment may exceed it
        ({"receive_buffer_bytes": 2 * 144_801}, 100),  # half of the buffer is overhead
        ({"send_buffer_bytes": 144_800, "receive_buffer_bytes": 2 * 72_400}, 50),
    ],
)
def test_a_buffer_bounds_an_unlimited_queue_and_the_window(
    tmp_path: Path, controller: str, buffers: dict[str, int], held: int
) -> None:
    link = {"rate_mbps": 4, "delay_ms": 10}
    flow = tcp(controller, tcp={**buffers, "delayed_ack_ms": 0})
    figures = run(
        tmp_path,
        uplink=link,
        downlink={**link, "rate_mbps": 1000},
        flows=[flow],
        duration_s=30,
        measure_from_s=10,
        interval_s=1,
    )["flows"][0]
    serialization_ms = 1504 * 8 / 4e3
    assert figures["rtt_p50_ms"] == pytest.approx(held * serialization_ms, abs=serialization_ms)
    assert held < max(figures["window_by_interval_packets"]) < held + 20


@pytest.mark.parametrize(
    ("buffer", "kernel"),
    [(33, 0.561), (133, 0.773)],  # 14 runs on Linux 6.18: docs/kernel-tcp.md
)
def test_cubic_beside_reno_takes_what_the_kernels_takes(
    tmp_path: Path, buffer: int, kernel: float
) -> None:
    shares = []
    for seed in range(12):
        figures = run(
            tmp_path,
            uplink={"rate_mbps": 8, "delay_ms": 25, "queue": f"droptail:packets={buffer}"},
            downlink={"rate_mbps": 100, "delay_ms": 25},
            flows=[
                {**as_linux("cubic"), "start_s": 0.15 * seed},
                {**as_linux("reno"), "start_s": 1.8 - 0.13 * seed},
            ],
            measure_from_s=60,
            duration_s=120,
        )
        first, second = (flow["throughput_mbps"] for flow in figures["flows"])
        shares.append(first / (first + second))
    assert sum(shares) / len(shares) == pytest.approx(kernel, abs=0.05)

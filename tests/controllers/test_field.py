"""The field's controllers: their defaults and results, against their sources."""

import itertools
import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kneepoint.networks.traffic import LINUX
from tests.controllers.emulator import EMULATE, Link, emulate

DEFAULTS: dict[str, dict[str, float]] = {
    # Brakmo & Peterson, JSAC 1995, and Linux's tcp_vegas.c.
    "vegas": {"alpha": 2, "beta": 4, "gamma": 1, "initial_window": 10, "keepalive_ms": 1000},
    # RFC 6817, sections 2.4.2 and 2.5.
    "ledbat": {
        "target_ms": 100,
        "gain": 1,
        "current_filter": 4,
        "base_history_min": 10,
        "allowed_increase": 1,
        "initial_window": 2,
        "keepalive_ms": 1000,
    },
    # draft-irtf-iccrg-ledbat-plus-plus, section 4.
    "ledbat_pp": {
        "target_ms": 60,
        "decrease": 1,
        "slowdown_factor": 9,
        "base_history_min": 10,
        "initial_window": 2,
        "keepalive_ms": 1000,
    },
    # Caini & Firrincieli, IJSCN 2004.
    "hybla": {"rtt0_ms": 25, "beta": 0.5, "initial_window": 1, "keepalive_ms": 1000},
    # Linux's tcp_bic.c; min_increment: Xu, Harfoush & Rhee, INFOCOM 2004.
    "bic": {
        "max_increment": 16,
        "min_increment": 0.01,
        "beta": 819 / 1024,
        "low_window": 14,
        "smooth_part": 20,
        "fast_convergence": 1,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # Contest reports; values that they leave open are ours.
    "dalida": {
        "initial_window": 60,
        "new_share": 0.8,
        "deviation_share": 0.6,
        "target": 1.5,
        "deviations": 2,
        "increase": 1.5,
        "decrease": 3,
        "silence_factor": 0.9,
        "keepalive_ms": 50,
    },
    "tensor_fairness": {
        "delay_ms": 18,
        "new_share": 0.1,
        "increase": 0.6,
        "decrease": 0.0125,
        "silence_factor": 0.75,
    },
    "rate_horizon": {"horizon_ms": 60, "keepalive_ms": 50},
    "pid": {"target_ms": 80, "kp": 5, "ki": 20, "kd": 0, "gain": 0.5, "keepalive_ms": 50},
    # Arun & Balakrishnan, NSDI 2018.
    "copa": {
        "delta": 0.5,
        "min_rtt_s": 10,
        "standing_share": 0.5,
        "competitive": 1,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # Goyal et al., HotNets 2017; the increase: NSDI 2020.
    "abc": {"increase": 1, "initial_window": 10, "keepalive_ms": 1000},
    # draft-briscoe-iccrg-prague-congestion-control; the gain: RFC 8257.
    "prague": {"gain": 1 / 16, "virtual_rtt_ms": 25, "initial_window": 10, "keepalive_ms": 1000},
    # draft-cardwell-iccrg-bbr-congestion-control-00.
    "bbr": {
        "high_gain": 2.885,
        "cwnd_gain": 2,
        "probe_gain": 1.25,
        "rate_rounds": 10,
        "full_growth": 1.25,
        "min_rtt_s": 10,
        "probe_rtt_ms": 200,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # draft-huitema-ccwg-c4-spec.
    "c4": {
        "push": 1.25,
        "weak_push": 1.0625,
        "recovery": 0.9375,
        "cruise_rtts": 4,
        "beta": 0.25,
        "delay_ms": 25,
        "max_jitter_ms": 250,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # Winstein, Sivaraman & Balakrishnan, NSDI 2013; the keepalive is ours.
    "sprout": {
        "sigma": 200,
        "outage_escape": 1,
        "percentile": 5,
        "horizon_ticks": 5,
        "keepalive_ms": 100,
    },
    "sprout_ewma": {"new_share": 0.125, "horizon_ms": 100, "keepalive_ms": 100},
    # Zaki et al., SIGCOMM 2015, and its authors' verus.hpp and verus_server.cpp.
    "verus": {
        "epoch_ms": 5,
        "ratio": 6,
        "small_step_ms": 1,
        "step_ms": 2,
        "kept": 0.7,
        "refit_s": 1,
        "slow_start_ms": 500,
        "old_share": 0.875,
        "initial_window": 1,
        "keepalive_ms": 1000,
    },
    # Dong et al., NSDI 2018, section 5.
    "vivace": {
        "exponent": 0.9,
        "latency": 900,
        "loss": 11.35,
        "tolerated_gradient": 0.01,
        "probe": 0.05,
        "theta": 1,
        "boundary": 0.05,
        "boundary_step": 0.1,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # draft-ietf-ccwg-bbr; random draws have their mean.
    "bbr3": {
        "startup_gain": 2.77,
        "cwnd_gain": 2,
        "up_gain": 1.25,
        "loss_threshold": 0.02,
        "beta": 0.7,
        "probe_wait_s": 2.5,
        "probe_rtt_ms": 200,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # Kumar et al., SIGCOMM 2020: its microseconds are milliseconds; reset_after is ours.
    "swift": {
        "target_ms": 25,
        "ai": 1,
        "beta": 0.8,
        "max_mdf": 0.5,
        "scaling_range": 5,
        "scaling_low": 0.1,
        "scaling_high": 100,
        "reset_after": 5,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_published(name: str) -> None:
    listed = json.loads(subprocess.run([EMULATE, "--list"], check=True, capture_output=True).stdout)
    declared = {each["name"]: each for each in listed["controllers"]}[name]
    defaults = {each["name"]: each["default"] for each in declared["parameters"]}
    assert {key: defaults[key] for key in DEFAULTS[name]} == DEFAULTS[name]


# Figure 2b of ABC (Goyal et al., HotNets 2017): mahimahi's queues of 100 packets; utilization, and
# 100 ms plus the 95th percentile of the queueing delay, read off the figure.
FIGURE_2B = [
    ("abc", "abc", 0.857, 194.6),
    ("cubic", "droptail:packets=100", 0.974, 557),
    ("cubic", "codel-mahimahi:packets=100,target=50,interval=100", 0.621, 208),
    ("cubic", "pie-mahimahi:packets=100,qdelay_ref=50,max_burst=100", 0.551, 173),
    ("bbr", "droptail:packets=100", 0.932, 580),
]
AS_PUBLISHED = {"cubic": {"hystart": 1, "whole_packets": 1}, "abc": {"increase": 0}}


def measured(folder: Path, scenario: dict[str, Any]) -> dict[str, Any]:
    """Returns the figures of a scenario, on the ideal host."""
    file = folder / "scenario.json"
    file.write_text(json.dumps({"host_model": "ideal", **scenario}))
    result = subprocess.run([EMULATE, "--scenario", file], check=True, capture_output=True)
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def over(folder: Path, scenario: dict[str, Any]) -> dict[str, Any]:
    """Returns the figures of the bottleneck."""
    figures: dict[str, Any] = measured(folder, scenario)["uplink"]
    return figures


def flows_over(folder: Path, scenario: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the figures of each flow."""
    figures: list[dict[str, Any]] = measured(folder, scenario)["flows"]
    return figures


def flow(name: str, **parameters: float) -> dict[str, Any]:
    tcp = LINUX.model_dump(exclude_none=True)
    return {"controller": name, "transport": "tcp", "tcp": tcp, "parameters": parameters}


@pytest.mark.parametrize(("name", "queue", "utilization", "delay_ms"), FIGURE_2B)
def test_figure_2b_is_met(
    contest: Link, tmp_path: Path, name: str, queue: str, utilization: float, delay_ms: float
) -> None:
    link = over(
        tmp_path,
        {
            "uplink": {"trace": str(contest.uplink), "queue": queue, "delay_ms": 50},
            "downlink": {"rate_mbps": 48, "delay_ms": 50},
            "flows": [flow(name, **AS_PUBLISHED.get(name, {}))],
            "duration_s": 140,
        },
    )
    assert link["utilization"] == pytest.approx(utilization, abs=0.06)
    assert 100 + link["queueing_delay_p95_ms"] == pytest.approx(delay_ms, rel=0.1)


@pytest.mark.parametrize(
    ("rate_mbps", "packets", "most"),
    [(6, 60, 0.1), (None, 100, 0.2)],  # the trace of figure 2b
)
def test_verus_loses_what_its_rule_explains(
    contest: Link, tmp_path: Path, rate_mbps: int | None, packets: int, most: float
) -> None:
    """Behind drop-tail the delay saturates; the delay profile must not give unbounded windows."""
    link = {"trace": str(contest.uplink)} if rate_mbps is None else {"rate_mbps": rate_mbps}
    figures = measured(
        tmp_path,
        {
            "uplink": {**link, "queue": f"droptail:packets={packets}", "delay_ms": 25},
            "downlink": {"rate_mbps": 48, "delay_ms": 25},
            "flows": [{"controller": "verus", "parameters": {"ratio": 4}}],
            "duration_s": 60,
        },
    )
    assert figures["flows"][0]["loss"] < most
    assert figures["uplink"]["utilization"] > 0.8


@pytest.mark.parametrize("rate_mbps", [40, 100])
@pytest.mark.parametrize("rtt_ms", [5, 10, 20])
@pytest.mark.parametrize("transport", ["tcp", "datagrams"])
def test_prague_and_cubic_share_dualpi2(
    tmp_path: Path, rate_mbps: int, rtt_ms: int, transport: str
) -> None:
    """RFC 9332: about equal rates, and queueing delays of 1 ms for L4S, 15 ms for classic
    traffic."""
    prague = flow("prague") if transport == "tcp" else {"controller": "prague"}
    wire = {"delay_ms": rtt_ms / 2}
    scenario = {
        "uplink": {**wire, "rate_mbps": rate_mbps, "queue": "dualpi2"},
        "downlink": {**wire, "rate_mbps": 1000},
        "duration_s": 60,
        "measure_from_s": 20,
    }
    both = flows_over(tmp_path, {**scenario, "flows": [prague, flow("cubic", hystart=1)]})
    assert 0.5 < both[0]["throughput_mbps"] / both[1]["throughput_mbps"] < 2
    (alone,) = flows_over(tmp_path, {**scenario, "flows": [prague]})
    assert alone["throughput_mbps"] > 0.94 * rate_mbps
    queued_ms = [
        each["delay_p95_ms"] - rtt_ms / 2 - 1504 * 8 / rate_mbps / 1000 for each in (*both, alone)
    ]
    assert queued_ms[0] < 1.2 and queued_ms[2] < 1.2 and 15 < queued_ms[1] < 25


@pytest.mark.parametrize(
    ("controller", "throughput_mbps", "delay_ms", "within"),
    [
        (flow("vegas", whole_packets=1), 4.23, None, 0.02),
        ({"controller": "sprout", "parameters": {"keepalive_ms": 50}}, 3.55, 88, 0.05),
    ],
)
def test_figures_are_those_of_a_reproduction_of_sprout(
    contest: Link,
    tmp_path: Path,
    controller: dict[str, Any],
    throughput_mbps: float,
    delay_ms: float | None,
    within: float,
) -> None:
    """Stanford CS 244, without a limit of the queue: means of three runs, as in the studies."""
    scenario = {
        "uplink": {"trace": str(contest.uplink), "delay_ms": 20},
        "downlink": {"trace": str(contest.downlink), "delay_ms": 20},
        "flows": [controller],
        "host_model": "event-loop",
        "duration_s": 140,
    }
    runs = [over(tmp_path, {**scenario, "seed": seed}) for seed in (1, 2, 3)]
    mean_mbps = statistics.fmean(run["throughput_mbps"] for run in runs)
    assert mean_mbps == pytest.approx(throughput_mbps, rel=within)
    if delay_ms is not None:
        mean_ms = statistics.fmean(run["signal_delay_p95_ms"] for run in runs)
        assert mean_ms == pytest.approx(delay_ms, rel=0.1)


def test_heartbeats_are_empty_and_follow_what_was_sent(small_link: Link, tmp_path: Path) -> None:
    """In the link's gap of 300 ms, with and without acknowledgments; other keepalives are
    full-sized."""
    for name, sizes in (("sprout", {80, 1504}), ("dalida", {1504})):
        log, flow_log = tmp_path / "uplink.log", tmp_path / "flow.log"
        options = ["--uplink-log", str(log), "--flow-log", str(flow_log), "--host-model", "ideal"]
        emulate(small_link, name, {"keepalive_ms": 20}, *options)
        arrived = [line.split() for line in log.read_text().splitlines() if " + " in line]
        assert {int(bytes_) for _, _, bytes_ in arrived} == sizes
        events = [line.split() for line in flow_log.read_text().splitlines() if line[0] != "#"]
        sent_us = [int(event[0]) for event in events if event[2] == "sent"]
        longest_us = max(later - first for first, later in itertools.pairwise(sent_us))
        assert (longest_us <= 20_000) == (name == "sprout")


@pytest.mark.parametrize(("name", "power"), [("dalida", 44.3)])
def test_power_is_that_of_its_report(contest: Link, name: str, power: float) -> None:
    """On the contest's network, with the hosts of its network file."""
    options = ["--host-model", "event-loop", "--host-latency-us", "600"]
    runs = [emulate(contest, name, {}, "--seed", str(seed), *options) for seed in range(5)]
    assert sum(run["power"] for run in runs) / 5 == pytest.approx(power, rel=0.02)


@pytest.mark.parametrize(
    "transport, delay_ms", [("tcp", 2), ("tcp", 5), ("tcp", 20), ("datagrams", 20)]
)
def test_vivace_fills_a_link_and_loses_little(
    tmp_path: Path, transport: str, delay_ms: float
) -> None:
    """A round trip may be shorter than ten packets; retransmissions of TCP do not hide losses."""
    link = {"rate_mbps": 12, "delay_ms": delay_ms}
    figures = measured(
        tmp_path,
        {
            "uplink": {**link, "queue": "droptail:packets=200"},
            "downlink": link,
            "flows": [{"controller": "vivace", "transport": transport}],
            "duration_s": 60,
        },
    )
    assert figures["utilization"] > 0.85
    assert figures["packets_dropped"] < 0.05 * figures["packets_sent"]

"""Scoring rules: rules of known contests, and safe expressions."""

import math
from dataclasses import replace

import pytest

from kneepoint.engines.base import RunRecord
from kneepoint.entries.score import score_of
from kneepoint.networks.omniscient import Bound
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork

BOUND = Bound(5.0, 31, 160.0)
NETWORK = PreparedNetwork("n", PreparedLink(), PreparedLink(), None, "event-loop", 0, BOUND)
RUN = RunRecord(
    "id",
    "ok",
    throughput_mbps=4.0,
    capacity_mbps=5.0,
    utilization=0.8,
    queueing_delay_p95_ms=60.0,
    signal_delay_p50_ms=25.0,
    signal_delay_p95_ms=100.0,
    age_p50_ms=50.0,
    age_p95_ms=125.0,
    power=40.0,
    packets_sent=1000,
    packets_delivered=990,
    packets_dropped=10,
    packets_lost=5,
)


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("power", 32.0),
        ("log_power", math.log(32)),
        # 0.8 of 35 points, 100 - 8 * 3 % of 35, 99 of 100 packets of 30
        ("transhub", 0.8 * 35 + 0.76 * 35 + 0.99 * 30),
        ("loss", 0.015),
        ("queue_loss", 0.01),
        ("configured_loss", 0.0),
        ("throughput_mbps - signal_delay_p95_ms / 100", 3.0),
        ("max(utilization, 0.5) * 2 ** 3", 6.4),
        ("-abs(log2(power / omniscient_power))", -2.0),
        ("sqrt(loss - 0.005) + min(1, 2, 3) - omniscient_delay_ms", -29.9),
        ("1", 1.0),
        ("median_power", 1000 * 4.0 / 50),
        # 20 ms of propagation, and 94 ms above the omniscient 31 ms
        ("excess_power", 1000 * 4.0 / (20 + 94)),
        ("-excess_delay_ms", -69.0),
    ],
)
def test_rules_give_their_values(rule: str, value: float) -> None:
    assert score_of(rule).of(RUN, NETWORK) == pytest.approx(value)


@pytest.mark.parametrize(
    "rule",
    [
        *("__import__('os').system('true')", "power.real", "().__class__", "[1]", "lambda: 1"),
        *("power if 1 else 2", "'power'", "open", "eval('1')", "max(*[1])", "f'{power}'"),
        *("power or 1", "power < 3", "powr", "True + x", "1j", "log()", "log(1, 2)", "max(1)"),
        *("min(power, key=1)", "a := 1", "power; power", "", "1e400", "10 ** 10 ** 400 + " * 50),
        "-" * 600 + "1",
        "(" * 200 + "1" + ")" * 200 + "+x",
    ],
)
def test_anything_else_is_refused(rule: str) -> None:
    with pytest.raises(ValueError, match=r"expression|metric|nested|call|number"):
        score_of(rule)


@pytest.mark.parametrize(
    "rule", ["log(loss - 1)", "1 / (power - 40)", "9 ** 9 ** 9 ** 9", "power ** 999"]
)
def test_a_run_without_a_score_says_so(rule: str) -> None:
    with pytest.raises(ValueError, match=r"error|division|range|is inf"):
        score_of(rule).of(RUN, NETWORK)


@pytest.mark.parametrize(
    ("ratio", "points"), [(0, 100), (1, 92), (9.9, 20.8), (10, 20), (10.1, 200 / 10.1), (400, 0.5)]
)
def test_delay_scores_of_transhub(ratio: float, points: float) -> None:
    run = replace(RUN, queueing_delay_p95_ms=ratio * 20, utilization=0.0, packets_dropped=1000)
    assert score_of("transhub").of(run, NETWORK) == pytest.approx(0.35 * points)


@pytest.mark.parametrize(("dropped", "points"), [(0, 30), (105, 30), (209, 27)])
def test_transhub_takes_the_configured_loss_from_the_queues(dropped: int, points: float) -> None:
    run = replace(RUN, packets_dropped=dropped, packets_lost=106, queueing_delay_p95_ms=200.0)
    lossy = PreparedLink(loss_probability=0.1, loss_period=100, loss_after_link=True)
    network = replace(NETWORK, uplink=lossy)
    assert score_of("configured_loss").of(run, network) == pytest.approx(0.109)
    assert score_of("transhub").of(run, network) == pytest.approx(28 + 7 + points)

"""Scores: worked by hand."""

import math
from dataclasses import replace
from typing import Any

import pytest

from kneepoint.engines.base import RunRecord
from kneepoint.engines.expression import Expression
from kneepoint.networks.omniscient import Bound
from kneepoint.runs.results import FinishedRun, FinishedTrial, PlannedRun
from kneepoint.search import objective
from kneepoint.search.objective import (
    Score,
    find_best,
    score_bounded,
    score_expression,
    score_fit,
    score_flows,
    score_front,
    score_least,
    score_power,
    score_worst_case,
)
from tests.experiments.fakes import network, run_spec

WIRE, AIR = network("wire"), network("air", uplink={"delay_ms": 30})


def run(
    power: float | None,
    *,
    on: Any = WIRE,
    row: int | None = None,
    reason: str = "",
    status: Any = "ok",
    **metrics: float,
) -> FinishedRun:
    spec = run_spec(network=on)
    record = RunRecord(spec.run_id, status, reason, power=power, **metrics)  # type: ignore[arg-type]
    return FinishedRun(PlannedRun(0, 0, row, spec), record)


def failed(**place: Any) -> FinishedRun:
    return run(None, status="failed", reason="crashed: SIGSEGV", **place)


def trial(number: int, value: float) -> FinishedTrial:
    return FinishedTrial(number, {}, value, "", {}, 1)


def test_power_is_averaged_over_seeds_and_then_over_networks() -> None:
    runs = [run(10.0), run(20.0), run(5.0, on=AIR)]
    assert score_power(runs, "mean") == Score(10.0)
    assert score_power(runs, "worst") == Score(5.0)
    expected = (math.log(15) + math.log(5)) / 2
    assert score_power(runs, "mean_log").value == pytest.approx(expected, rel=1e-12)


def test_failed_run_counts_as_no_power_and_keeps_its_reason() -> None:
    runs = [run(10.0), failed(on=AIR)]
    assert score_power(runs, "mean") == Score(5.0, "crashed: SIGSEGV")
    assert score_power(runs, "worst").value == 0
    logarithm = score_power([failed()], "mean_log").value
    assert logarithm == math.log(objective.MIN_POWER)


def test_misfit_is_quadratic_near_and_linear_far() -> None:
    near, far = math.exp(0.01), math.exp(0.5)
    runs = [run(1.0, row=0, throughput_mbps=2 * near), run(1.0, row=1, throughput_mbps=2 / far)]
    published = {0: {"throughput_mbps": 2.0}, 1: {"throughput_mbps": 2.0}}
    value = score_fit(runs, [published], robust=True).value
    assert value == pytest.approx((0.01**2 / 0.04 + 0.5 - 0.01) / 2, rel=1e-9)
    value = score_fit(runs, [published], robust=False).value
    assert value == pytest.approx((0.01**2 + 0.5**2) / 2, rel=1e-9)


def test_misfit_counts_power_only_where_a_row_prints_nothing_else() -> None:
    runs = [run(7.0, row=0, throughput_mbps=2.0)]
    assert score_fit(runs, [{0: {"throughput_mbps": 2.0, "power": 5.0}}], True).value == 0
    assert score_fit(runs, [{0: {"power": 7.0}}], True).value == 0


def test_tables_count_alike_however_many_rows_they_have() -> None:
    """Four rows match; the fifth, in another table, is off by e."""
    runs = [run(1.0, row=row, throughput_mbps=2.0) for row in range(5)]
    met = {row: {"throughput_mbps": 2.0} for row in range(4)}
    off = {4: {"throughput_mbps": 2.0 / math.e}}
    assert score_fit(runs, [{**met, **off}], False).value == pytest.approx(1 / 5)
    assert score_fit(runs, [met, off], False).value == pytest.approx(1 / 2)


def test_one_wrong_row_does_not_drag_a_robust_fit() -> None:
    """Nine rows print 1.00 and one row 3.00; our value is x for all rows."""

    def best(robust: bool) -> float:
        published = {row: {"throughput_mbps": 3.0 if row == 4 else 1.0} for row in range(10)}
        places = [*(1 + step / 1000 for step in range(20)), *(1 + k / 50 for k in range(1, 50))]
        scores = [
            score_fit([run(1.0, row=r, throughput_mbps=x) for r in range(10)], [published], robust)
            for x in places
        ]
        return min(zip(places, scores, strict=True), key=lambda pair: pair[1].value)[0]

    assert best(robust=True) < 1.003
    assert best(robust=False) > 1.1


def test_row_that_failed_has_the_worst_misfit_whatever_the_loss() -> None:
    published = {0: {"throughput_mbps": 2.0}}
    for robust in (True, False):
        score = score_fit([failed(row=0)], [published], robust)
        assert score == Score(objective.WORST_MISFIT, "crashed: SIGSEGV")
        absurd = [run(1.0, row=0, throughput_mbps=2e30)]
        assert score_fit(absurd, [published], robust).value <= objective.WORST_MISFIT


def test_best_is_the_first_of_equals() -> None:
    trials = [trial(0, 6.0), trial(1, 5.0), trial(2, 7.0), trial(3, 7.0), trial(4, 5.0)]
    assert find_best(trials, minimise=False).number == 2
    assert find_best(trials, minimise=True).number == 1


def flows(**goodputs: float) -> FinishedRun:
    spec = run_spec()
    measured = tuple({"name": k, "goodput_mbps": v} for k, v in goodputs.items())
    return FinishedRun(PlannedRun(0, 0, None, spec), RunRecord(spec.run_id, "ok", flows=measured))


def test_flows_are_scored_by_their_goodputs() -> None:
    runs = [flows(own=1.0, other=3.0), flows(own=2.0, other=2.0)]
    own = frozenset({"own"})
    assert score_flows(runs, "share", own) == Score(0.375)
    assert score_flows(runs, "worst", own) == Score(1.5)
    expected = (math.log(3) + math.log(4)) / 2
    assert score_flows(runs, "sum_log", own).value == pytest.approx(expected, rel=1e-12)


def test_least_parameter_counts_where_the_bound_is_reached() -> None:
    bound = [("utilization", 0.95)]
    assert score_least([run(1.0, utilization=0.96)], 30, 400, bound) == Score(30)
    missed = [score_least([run(1.0, utilization=u)], 3, 400, bound).value for u in (0.94, 0.5)]
    assert missed == pytest.approx([400 * (1 + 0.01 / 0.95), 400 * (1 + 0.45 / 0.95)])
    assert score_least([failed()], 3, 400, bound) == Score(800, "crashed: SIGSEGV")


def test_tail_is_the_mean_of_the_worst_runs() -> None:
    runs = [run(power) for power in (8.0, 2.0, 4.0)] + [run(power, on=AIR) for power in (6.0, 10.0)]
    assert score_power(runs, "cvar", 0.4) == Score(3.0)
    assert score_power(runs, "cvar", 1.0) == Score(6.0)
    assert score_power([*runs, failed()], "cvar", 0.1) == Score(0.0, "crashed: SIGSEGV")


def measured(throughput: float, delay: float, on: Any = WIRE) -> FinishedRun:
    return run(1.0, on=on, throughput_mbps=throughput, signal_delay_p95_ms=delay)


def test_throughput_under_a_bound_on_delay() -> None:
    runs = [measured(4, 90), measured(2, 130), measured(1, 60, AIR)]
    mean, worst = score_bounded(runs, "mean", 100), score_bounded(runs, "worst", 100)
    assert mean.value == 2.0 and mean.violation == pytest.approx(-0.15)  # (110 + 60) / 2
    assert worst.value == 1.0 and worst.violation == pytest.approx(0.1)
    log = score_bounded(runs, "mean_log", 100)
    assert log.value == pytest.approx(math.log(3) / 2)
    assert log.violation is not None and log.violation > 3 / 100 - 1
    tail = score_bounded(runs, "cvar", 100, 0.3)
    assert tail.value == 1.0 and tail.violation == pytest.approx(0.3)
    lost = score_bounded([failed()], "mean", 100)
    assert lost.value == 0 and lost.violation == pytest.approx(599)


def test_front_has_throughput_and_delay_and_its_value_is_their_power() -> None:
    score = score_front([measured(4, 100), measured(1, 50, AIR)], "mean")
    assert score.objectives == (2.5, 75)
    assert score.value == pytest.approx(2.5 / 75 * 1000)
    assert score_front([measured(4, 100), measured(1, 50, AIR)], "worst").objectives == (1, 100)
    both = score_front([measured(4, 100), measured(1, 25, AIR)], "mean_log").objectives
    assert both == pytest.approx((2, 50))


def test_stopped_trial_is_never_the_best() -> None:
    trials = [replace(trial(0, 9), is_stopped=True), trial(1, 5)]
    assert find_best(trials, minimise=False).number == 1


def test_worst_case_is_relative_to_the_omniscient_sender() -> None:
    bounded = network("bounded", omniscient=Bound(10, 20, 500))
    runs = [run(100, on=bounded), run(None, on=bounded, status="failed", reason="crashed")]
    assert score_worst_case(runs, ()) == Score(0.1, "crashed")


def test_worst_case_is_relative_to_the_opponent() -> None:
    assert score_worst_case([run(30), run(50)], [run(20), run(60)]) == Score(1)
    assert score_worst_case([run(30)], [run(60)]) == Score(0.5)
    nothing = run(None, status="failed", reason="crashed")
    assert score_worst_case([nothing], [nothing]).value == 1  # neither is worse
    assert score_worst_case([nothing], [run(1)]).value == objective.MIN_POWER


def test_expression_is_averaged_on_each_network_first() -> None:
    ratio = Expression("throughput_mbps / (delay_ms + queueing_delay_p95_ms)")
    runs = [  # AIR has 30 ms of delay, WIRE 20
        run(1, on=AIR, throughput_mbps=2, queueing_delay_p95_ms=10),
        run(1, on=WIRE, throughput_mbps=3, queueing_delay_p95_ms=10),
        run(1, on=WIRE, throughput_mbps=5, queueing_delay_p95_ms=10),
    ]
    assert score_expression(runs, ratio, "mean").value == pytest.approx((0.05 + 4 / 30) / 2)
    assert score_expression(runs, ratio, "worst").value == pytest.approx(0.05)


def test_run_without_a_value_is_worse_than_any_with_one() -> None:
    rate = Expression("log(throughput_mbps)")
    slow = score_expression([run(1, throughput_mbps=1e-3)], rate, "mean")
    nothing = score_expression([run(0, throughput_mbps=0)], rate, "mean")
    crashed = score_expression([run(None, status="failed", reason="it fell")], rate, "mean")
    assert slow.value > nothing.value == crashed.value == pytest.approx(math.log(1e-6))
    assert crashed.reason == "it fell"

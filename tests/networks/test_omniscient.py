"""The omniscient bound of small traces, computed by hand, and of the contest's trace."""

import numpy as np
import pytest

from kneepoint.analysis import link_log
from kneepoint.common.errors import KneepointError
from kneepoint.networks.omniscient import omniscient_bound
from tests.analysis.synthetic import events_of


@pytest.mark.parametrize(
    ("times_ms", "end_ms", "repeats", "opportunities", "last_ms", "delay_ms"),
    [
        # Every packet arrives in the millisecond before its opportunity: the age is always 1 ms.
        ([1], 100, True, 100, 100, 1),
        # Arrivals at 2 (twice) and 6; ages at 2: 1, at 3 to 6: 4 3 2 1. Sorted 1 1 2 3 4; element
        # 4. The opportunity at 0 carries no packet, but counts as capacity: four in 7 ms.
        ([0, 3, 3, 7], 7, False, 4, 7, 4),
        # Ages: 1, then 1 for each of 95 gaps of 1 ms, then 5 4 3 2 1; element floor(0.95 * 101) =
        # 95.
        ([*range(1, 97), 101], 101, False, 97, 101, 1),
        # One age above 1 too many: 95 gaps of 1 ms, one gap of 7 ms; element 97 of 103.
        ([*range(1, 97), 103], 103, False, 97, 103, 2),
        # The opportunity at 9 is after the end of the run.
        ([0, 3, 9], 8, False, 2, 3, 1),
        # Opportunities at 2 5, 7 10, 12; ages 1, then 3 2 1, 2 1, 3 2 1, 2 1: element 10 of 11 is
        # 3. Each pass is shifted by the last time.
        ([2, 5], 12, True, 5, 12, 3),
    ],
)
def test_bound_is_what_is_worked_by_hand(
    times_ms: list[int],
    end_ms: int,
    repeats: bool,
    opportunities: int,
    last_ms: int,
    delay_ms: int,
) -> None:
    bound = omniscient_bound(times_ms, end_ms, repeats=repeats)
    assert bound.signal_delay_p95_ms == delay_ms
    assert bound.capacity_mbps == pytest.approx(opportunities * 1504 * 8 / (1000 * last_ms))
    assert bound.power == pytest.approx(1000 * bound.capacity_mbps / delay_ms)


@pytest.mark.parametrize(("times_ms", "end_ms"), [([0, 9], 8), ([5, 9], 4)])
def test_bound_refuses_a_run_without_a_usable_opportunity(times_ms: list[int], end_ms: int) -> None:
    with pytest.raises(KneepointError, match=f"the run ends at {end_ms} ms, before the uplink"):
        omniscient_bound(times_ms, end_ms)


@pytest.mark.parametrize("seed", range(5))
def test_bound_is_what_the_metrics_make_of_such_a_run(seed: int) -> None:
    gaps = np.random.default_rng(seed).geometric(0.05 + 0.1 * seed, 2000) - 1
    times_ms = 1 + np.cumsum(gaps)
    log = events_of(times_ms - 1, times_ms, times_ms, 1)
    end_ms = int(times_ms[-1])
    measured = link_log.metrics(log)
    bound = omniscient_bound(times_ms.tolist(), end_ms)
    assert bound.signal_delay_p95_ms == measured["signal_delay_p95_ms"]
    span_ms = end_ms - int(times_ms[0] - 1)
    assert bound.capacity_mbps * end_ms == pytest.approx(measured["throughput_mbps"] * span_ms)

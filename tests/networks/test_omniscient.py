"""The omniscient bound of small traces, worked by hand, and of the contest's."""

from dataclasses import astuple

import numpy as np
import pytest

from analysis import link_log
from analysis.link_log import LinkLog
from common.errors import KneepointError
from networks.omniscient import omniscient_bound

DATAGRAM_BITS = 1504 * 8


def test_bound_of_a_packet_a_millisecond_has_a_delay_of_one() -> None:
    # Every packet arrives in the millisecond before its own, so that the signal is 1 ms old always.
    bound = omniscient_bound([1], 100, repeats=True)
    assert astuple(bound) == pytest.approx((12.032, 1, 12032))


def test_bound_takes_the_age_of_the_signal_from_the_gaps() -> None:
    # Arrivals at 2 (twice) and 6; ages at 2: 1, at 3 to 6: 4 3 2 1. Sorted 1 1 2 3 4; element 4.
    # The opportunity at 0 finds nothing, but counts as capacity: four in 7 ms.
    bound = omniscient_bound([0, 3, 3, 7], 7)
    assert bound.signal_delay_p95_ms == 4
    assert bound.capacity_mbps == pytest.approx(4 * DATAGRAM_BITS / 7000)
    assert bound.power == pytest.approx(bound.capacity_mbps / 0.004)


def test_bound_leaves_out_the_oldest_twentieth() -> None:
    # Ages: 1, then 1 for each of 95 gaps of 1 ms, then 5 4 3 2 1; element floor(0.95 * 101) = 95.
    times_ms = [*range(1, 97), 101]
    assert omniscient_bound(times_ms, 101).signal_delay_p95_ms == 1
    # One age more above 1 than one in twenty: 95 gaps of 1 ms, one of 7; element 97 of 103.
    assert omniscient_bound([*range(1, 97), 103], 103).signal_delay_p95_ms == 2


def test_bound_ends_with_the_run() -> None:
    bound = omniscient_bound([0, 3, 9], 8)
    assert astuple(bound) == pytest.approx((8.02133, 1, 8021.33), rel=1e-6)  # 2 * 12032 in 3 ms


def test_bound_of_a_trace_that_repeats_is_shifted_by_its_last_time() -> None:
    # Opportunities at 2 5, 7 10, 12; ages 1, then 3 2 1, 2 1, 3 2 1, 2 1: element 10 of 11 is 3.
    bound = omniscient_bound([2, 5], 12, repeats=True)
    assert bound.signal_delay_p95_ms == 3
    assert bound.capacity_mbps == pytest.approx(5 * DATAGRAM_BITS / 12000)


@pytest.mark.parametrize(("times_ms", "end_ms"), [([0, 9], 8), ([5, 9], 4)])
def test_bound_refuses_a_run_without_a_usable_opportunity(times_ms: list[int], end_ms: int) -> None:
    with pytest.raises(KneepointError, match=f"the run ends at {end_ms} ms, before the uplink"):
        omniscient_bound(times_ms, end_ms)


@pytest.mark.parametrize("seed", range(5))
def test_bound_is_what_the_metrics_make_of_such_a_run(seed: int) -> None:
    gaps = np.random.default_rng(seed).geometric(0.05 + 0.1 * seed, 2000) - 1
    times_ms = 1 + np.cumsum(gaps)
    sizes = np.full(times_ms.size, 1504)
    log = LinkLog(
        trace="made-up",
        queue="infinite",
        arrival_ms=times_ms - 1,
        arrival_bytes=sizes,
        opportunity_ms=times_ms,
        opportunity_bytes=sizes,
        departure_ms=times_ms,
        departure_bytes=sizes,
        departure_delay_ms=np.ones(times_ms.size, dtype=np.int64),
        drop_ms=times_ms[:0],
        drop_packets=times_ms[:0],
        drop_bytes=times_ms[:0],
    )
    end_ms = int(times_ms[-1])
    measured = link_log.metrics(log)
    bound = omniscient_bound(times_ms.tolist(), end_ms)
    assert bound.signal_delay_p95_ms == measured.signal_delay_p95_ms
    span_ms = end_ms - int(times_ms[0] - 1)
    assert bound.capacity_mbps * end_ms == pytest.approx(measured.throughput_mbps * span_ms)

"""The end of the probe: records made by hand."""

import dataclasses
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.questions.probe import HostProbe
from kneepoint.questions.probe.plan import Level, climb, difference
from kneepoint.runs.results import FinishedRun, PlannedRun
from tests.experiments.fakes import measure, run_spec

WANTED = HostProbe(controller="fixed_window", network="wire", alone=3, most=20)
Run = Callable[[RunSpec], RunRecord]


def record(throughput_mbps: float = 4.0, signal_delay_p95_ms: float = 100.0) -> RunRecord:
    return dataclasses.replace(
        measure(run_spec()),
        throughput_mbps=throughput_mbps,
        signal_delay_p95_ms=signal_delay_p95_ms,
    )


def plan(level: int, runs: int, attempt: int) -> list[PlannedRun]:
    return [
        PlannedRun(level, run, None, run_spec(seed=1000 * attempt + 100 * level + run))
        for run in range(runs)
    ]


def climbed(
    wanted: HostProbe, run: Run, spoils: Callable[[RunRecord], bool] = lambda _: False
) -> tuple[list[Level], list[FinishedRun]]:
    """Climbs like the pipeline: batches with `together` run at once, others in sequence."""
    steps = climb(wanted, plan, spoils)
    records: dict[str, RunRecord] = {}
    try:
        batch = next(steps)
        while True:
            threads = len(batch.runs) if batch.together else 1
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(run, [each.spec for each in batch.runs]))
            finished = list(map(FinishedRun, batch.runs, found))
            records |= {each.planned.spec.run_id: each.record for each in finished}
            batch = steps.send(iter(finished))
    except StopIteration as end:
        levels, planned = end.value
        return levels, [FinishedRun(each, records[each.spec.run_id]) for each in planned]


def level_of(spec: RunSpec) -> int:
    return spec.seed % 1000 // 100


def slower_from(level: int) -> Run:
    """A host whose throughput is a tenth less from this level on."""
    return lambda spec: record(3.6 if level_of(spec) >= level else 4.0)


def test_level_at_which_results_differ_is_the_last() -> None:
    levels, finished = climbed(WANTED, slower_from(3))
    assert [(level.concurrency, level.agrees) for level in levels] == [
        (1, True),
        (2, True),
        (4, True),
        (8, False),
    ]
    assert [level.tries for level in levels] == [1, 1, 1, 3]
    assert levels[-1].reason == "with 8 at once throughput_mbps is 3.6 instead of 4"
    assert [run.planned.trial for run in finished] == [0] * 3 + [1] * 2 + [2] * 4 + [3] * 8
    assert [run.record.throughput_mbps for run in finished[-8:]] == [3.6] * 8


def test_runs_of_a_level_go_on_at_once_and_lone_runs_alone() -> None:
    """Each run waits for all runs of its level; single runs wait for no other."""
    together = {level: threading.Barrier(2**level) for level in (1, 2)}
    alone = threading.Lock()

    def run(spec: RunSpec) -> RunRecord:
        if level_of(spec) == 0:
            assert alone.acquire(blocking=False)
            alone.release()
        else:
            together[level_of(spec)].wait(60)
        return record()

    levels, _ = climbed(WANTED.model_copy(update={"most": 4}), run)
    assert [level.concurrency for level in levels] == [1, 2, 4]


def test_level_that_keeps_the_host_too_busy_is_the_last() -> None:
    busy = {8: 4, 16: 9}  # runs that are spoilt, by their number

    def run(spec: RunSpec) -> RunRecord:
        delay_us = 2000.0 if spec.seed % 100 < busy.get(2 ** level_of(spec), 0) else 500.0
        return dataclasses.replace(record(), scheduling_delay_p99_us=delay_us)

    def spoils(of: RunRecord) -> bool:
        return of.scheduling_delay_p99_us == 2000.0

    levels, _ = climbed(WANTED, run, spoils)
    assert [(level.concurrency, level.agrees) for level in levels[-2:]] == [(8, True), (16, False)]
    assert levels[-1].reason == "with 16 at once the host is too busy for 9 of them"


def test_run_that_fails_among_others_ends_the_climb() -> None:
    def run(spec: RunSpec) -> RunRecord:
        if spec.seed % 1000 == 201:
            return RunRecord(spec.run_id, "fault", "no acknowledgment arrived")
        return record()

    levels, finished = climbed(WANTED, run)
    assert [level.agrees for level in levels] == [True, True, False]
    assert levels[-1].reason == "with 4 at once a run fails: no acknowledgment arrived"
    assert len(finished) == 3 + 2 + 4


def test_lone_run_that_fails_is_an_error() -> None:
    with pytest.raises(KneepointError, match="probe: even a single run fails: no tunnel"):
        climbed(WANTED, lambda spec: RunRecord(spec.run_id, "fault", "no tunnel"))


def test_level_that_something_else_disturbed_is_tried_again() -> None:
    disturbed = iter([3.6, 3.6, 3.6, 4.0])

    def run(spec: RunSpec) -> RunRecord:
        return record(next(disturbed, 4.0) if level_of(spec) == 1 else 4.0)

    levels, finished = climbed(WANTED, run)
    assert [(level.concurrency, level.agrees, level.tries) for level in levels] == [
        (1, True, 1),
        (2, True, 3),  # the second try has one slow run of two: 3.8
        (4, True, 1),
        (8, True, 1),
        (16, True, 1),
    ]
    assert len(finished) == 3 + 2 + 4 + 8 + 16
    assert {run.record.throughput_mbps for run in finished} == {4.0}


LONE = [record(throughput, delay) for throughput, delay in ((3.99, 99), (4.0, 100), (4.01, 101))]


@pytest.mark.parametrize(
    ("throughput", "delay", "reason"),
    [
        (4.0, 100, ""),
        (3.975, 100, ""),  # within three standard errors of chance: 0.027
        (3.965, 100, ""),  # within the tolerance: 1 %
        (3.955, 100, "with 4 at once throughput_mbps is 3.955 instead of 4"),
        (4.045, 100, "with 4 at once throughput_mbps is 4.045 instead of 4"),
        (4.0, 102.2, ""),  # within three standard errors, 2.3 ms, and not within the tolerance
        (4.0, 102.4, "with 4 at once signal_delay_p95_ms is 102.4 instead of 100"),
    ],
)
def test_difference_counts_beyond_chance_and_tolerance(
    throughput: float, delay: float, reason: str
) -> None:
    assert difference(LONE, [record(throughput, delay)] * 4) == reason

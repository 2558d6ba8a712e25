"""Runs that the host disturbs are repeated, and finally refused."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engines.base import MachineFaultError, RunRecord
from engines.kernel.engine import KernelSettings
from engines.real_time import run_undisturbed
from tests.experiments.fakes import measure, run_spec

SETTINGS = KernelSettings("f" * 64, Path("build"), busy_us=1500)


def runs_with(*delays_us: float) -> Callable[[], RunRecord]:
    record = measure(run_spec())
    records = iter([replace(record, scheduling_delay_p99_us=each) for each in delays_us])
    return lambda: next(records)


@pytest.mark.parametrize(
    ("delays_us", "tries"),
    [([1500], ""), ([1501, 1500], "1 earlier try"), ([1501, 23_700, 900], "2 earlier tries")],
)
def test_run_is_repeated_until_the_host_was_quiet(delays_us: list[float], tries: str) -> None:
    record = run_undisturbed(SETTINGS, runs_with(*delays_us))
    assert record.scheduling_delay_p99_us == delays_us[-1]
    spoilt = ", ".join(f"{each / 1000:.1f}" for each in delays_us[:-1])
    assert (tries in record.reason) and (spoilt in record.reason)
    assert bool(record.reason) == bool(tries)


def test_failure_of_the_controller_is_not_repeated() -> None:
    failed = RunRecord("x", "failed", "the window burst", scheduling_delay_p99_us=1e9)
    assert run_undisturbed(SETTINGS, lambda: failed) == failed


def test_host_that_stays_busy_is_a_fault_not_a_result() -> None:
    with pytest.raises(MachineFaultError, match=r"too busy in 3 tries .*; use fewer slots"):
        run_undisturbed(SETTINGS, runs_with(*[1501] * 3))


def test_level_of_the_probe_counts_however_busy_the_host_was() -> None:
    record = run_undisturbed(SETTINGS.taking_all(), runs_with(1e6))
    assert record.scheduling_delay_p99_us == 1e6 and not record.reason


def test_run_that_does_not_time_its_packets_is_never_spoiled() -> None:
    assert not SETTINGS.spoils(replace(measure(run_spec()), scheduling_delay_p99_us=None))

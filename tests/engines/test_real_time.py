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


def test_run_is_repeated_until_the_host_was_quiet() -> None:
    record = run_undisturbed(SETTINGS, runs_with(1501, 23_700, 1500))
    assert record.scheduling_delay_p99_us == 1500
    assert (
        record.reason == "the host was too busy in 2 earlier tries (scheduling delay 1.5, 23.7 ms)"
    )


def test_host_that_stays_busy_is_a_fault_not_a_result() -> None:
    with pytest.raises(MachineFaultError, match=r"too busy in 3 tries .*; use fewer slots"):
        run_undisturbed(SETTINGS, runs_with(*[1501] * 3))


def test_level_of_the_probe_counts_however_busy_the_host_was() -> None:
    record = run_undisturbed(SETTINGS.taking_all(), runs_with(1e6))
    assert record.scheduling_delay_p99_us == 1e6 and not record.reason


def test_run_that_does_not_time_its_packets_is_never_spoiled() -> None:
    assert not SETTINGS.spoils(replace(measure(run_spec()), scheduling_delay_p99_us=None))

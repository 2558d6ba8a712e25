"""Runs that the host disturbs are repeated, and finally refused."""

from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from kneepoint.engines.base import MachineFaultError, RunRecord, RunSpec
from kneepoint.engines.kernel.engine import KernelSettings
from kneepoint.engines.real_time import RealTimeEngine
from tests.experiments.fakes import measure, run_spec

SETTINGS = KernelSettings("f" * 64, Path("build"), busy_us=1500)
SPEC = run_spec()


class Disturbed(RealTimeEngine[KernelSettings]):
    """An engine whose runs have these scheduling delays, one after the other."""

    def __init__(self, settings: KernelSettings, delays_us: Iterable[float]) -> None:
        super().__init__(settings)
        self._delays_us = iter(delays_us)

    def answer_to(self, spec: RunSpec) -> dict[str, Any]:
        delay_us = next(self._delays_us)
        return asdict(replace(measure(spec), scheduling_delay_p99_us=delay_us))


@pytest.mark.parametrize(
    ("delays_us", "tries"),
    [([1500], ""), ([1501, 1500], "1 earlier try"), ([1501, 23_700, 900], "2 earlier tries")],
)
def test_run_is_repeated_until_the_host_was_quiet(delays_us: list[float], tries: str) -> None:
    record = Disturbed(SETTINGS, delays_us).run(SPEC)
    assert record.scheduling_delay_p99_us == delays_us[-1]
    spoilt = ", ".join(f"{each / 1000:.1f}" for each in delays_us[:-1])
    assert (tries in record.reason) and (spoilt in record.reason)
    assert bool(record.reason) == bool(tries)


def test_failure_of_the_controller_is_not_repeated_and_keeps_its_reason() -> None:
    class Failing(Disturbed):
        def answer_to(self, spec: RunSpec) -> dict[str, Any]:
            answer = super().answer_to(spec)
            is_quiet = answer["scheduling_delay_p99_us"] < 1000
            return {"status": "failed", "reason": "the window burst"} if is_quiet else answer

    failed = RunRecord(SPEC.run_id, "failed", "the window burst")
    assert Failing(SETTINGS, [1501, 0]).run(SPEC) == failed


def test_host_that_stays_busy_is_a_fault_not_a_result() -> None:
    with pytest.raises(MachineFaultError, match=r"too busy in 3 tries .*; use fewer slots"):
        Disturbed(SETTINGS, [1501] * 3).run(SPEC)


def test_level_of_the_probe_counts_however_busy_the_host_was() -> None:
    record = Disturbed(SETTINGS.without_busy_limit(), [1e6]).run(SPEC)
    assert record.scheduling_delay_p99_us == 1e6 and not record.reason


def test_run_that_does_not_time_its_packets_is_never_spoiled() -> None:
    assert not SETTINGS.spoils(replace(measure(run_spec()), scheduling_delay_p99_us=None))

"""The kernel engine: a scenario on the kernel's own TCP, one supervisor per run."""

import math
import platform
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from common.code import ROOT
from engines.base import RunRecord, RunSpec
from engines.kernel.diagnosis import SEARCH_PATH, UNSHARE, diagnose
from engines.kernel.scenario import scenario_of
from engines.limits import KERNEL
from engines.real_time import RealTimeSettings, digest_of, run_undisturbed
from engines.supervision import START_AND_END_S, SupervisedRuns

_DELAY_LINE = "delay_line"
_MOST_S = 10.0
"""Time limit for building a rig."""
_RUNS_PER_CORE = 4
"""Runs at once. With 8 of 8 Mbit/s on two cores packets are a millisecond late (99th percentile),
with 16 1.4 ms, with 30 24 ms."""


@dataclass(frozen=True)
class KernelSettings(RealTimeSettings):
    """Settings of the engine, whose digest is that of delay_line, iperf3, ping and the kernel."""

    limits = KERNEL

    @classmethod
    def of(cls, build: Path, busy_us: float = math.inf) -> Self:
        """Settings of the current programs; see RealTimeSettings.

        Raises:
            KneepointError: the rig does not work here, or delay_line is not built.
        """
        diagnose()
        return cls(_digest(build), build.resolve(), busy_us)

    def runs_at_once(self, slots: int, cores: int) -> int:
        """So many on each core: runs in mahimahi, by which slots are probed, are lighter."""
        del slots
        return _RUNS_PER_CORE * cores

    def open(self) -> "KernelEngine":
        """Makes the engine."""
        return KernelEngine(self)


class KernelEngine:
    """Runs on the kernel's rig, one run after the other."""

    def __init__(self, settings: KernelSettings) -> None:
        self._settings = settings
        self._runs = SupervisedRuns()

    def run(self, spec: RunSpec) -> RunRecord:
        """Executes one run (see Engine), again if the host was too busy for the delay line."""
        return run_undisturbed(
            self._settings, lambda: RunRecord.measured(spec, self.answer(spec.scenario()))
        )

    def answer(self, scenario: Mapping[str, Any], *, only_builds: bool = False) -> dict[str, Any]:
        """Runs a decoded scenario and returns the answer (see engines.kernel.answer).

        Args:
            scenario: the scenario.
            only_builds: builds its rig and takes it down; the answer has no metrics.

        Raises:
            MachineFaultError: retrying may help.
            KneepointError: the kernel cannot run it; retrying will not help.
        """
        settings = self._settings
        duration_s = 0 if only_builds else scenario_of(scenario, "the scenario").duration_s
        settings.require_programs(_digest(settings.build))
        return self._runs.carry_out(
            [*UNSHARE, sys.executable, "-m", "engines.kernel.supervisor"],
            {
                "scenario": scenario,
                "delay_line": str(settings.build / _DELAY_LINE),
                "only_builds": only_builds,
            },
            duration_s + _MOST_S + START_AND_END_S,
            where="kernel",
            folder=ROOT,
            environment={"PATH": SEARCH_PATH},
        )

    def stop(self) -> None:
        """Ends the current run; the thread that waits for it notices."""
        self._runs.stop()

    def close(self) -> None:
        """Ends the current run, if there is one."""
        self._runs.close()


def _digest(build: Path) -> str:
    found = (shutil.which(name, path=SEARCH_PATH) or name for name in ("iperf3", "ping"))
    return digest_of([build / _DELAY_LINE, *map(Path, found)], platform.release())

"""The kernel engine: a scenario on the kernel's own TCP, one supervisor per run."""

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from kneepoint.common.programs import find_program
from kneepoint.engines.base import EngineSettings, RunSpec
from kneepoint.engines.kernel.diagnosis import SEARCH_PATH, UNSHARE, diagnose
from kneepoint.engines.kernel.scenario import scenario_of
from kneepoint.engines.kernel.traffic import require_buffers
from kneepoint.engines.limits import KERNEL
from kneepoint.engines.real_time import RealTimeEngine, digest_of_programs

_DELAY_LINE = "delay_line"


@dataclass(frozen=True)
class KernelSettings(EngineSettings):
    """Settings of the engine; the digest covers delay_line, iperf3, ping and the kernel release."""

    limits = KERNEL
    build: Path

    @classmethod
    def of(cls, build: Path, busy_us: float = math.inf) -> Self:
        """Settings of the current programs; raises KneepointError if they do not work here."""
        diagnose()
        return cls(_digest(build), build.resolve(), busy_us=busy_us)

    def open(self) -> "KernelEngine":
        """Makes the engine."""
        return KernelEngine(self)


class KernelEngine(RealTimeEngine[KernelSettings]):
    """Runs on the kernel's rig."""

    def answer_to(self, spec: RunSpec) -> dict[str, Any]:
        """Executes one run once and returns the answer."""
        return self.answer(spec.scenario())

    def answer(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Runs a decoded scenario and returns the answer (see kneepoint.engines.kernel.answer)."""
        settings, load = self._settings, scenario_of(scenario, "the scenario")
        require_buffers(load.flows)  # the run's own namespace may hide the limits
        settings.require_unchanged(_digest(settings.build), settings.build)
        return self.supervise(
            "kneepoint.engines.kernel.supervisor",
            {"scenario": scenario, "delay_line": str(settings.build / _DELAY_LINE)},
            load.duration_s,
            where="kernel",
            before=UNSHARE,
        )


def _digest(build: Path) -> str:
    remedy = "the kernel's rig needs it; run: make kernel-rig"
    found = [find_program(name, remedy, SEARCH_PATH) for name in ("iperf3", "ping")]
    return digest_of_programs([build / _DELAY_LINE, *found], platform.release())

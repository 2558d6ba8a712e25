"""The engines by their names in configurations and results."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from kneepoint.engines.base import EngineSettings
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.kernel import diagnosis as kernel
from kneepoint.engines.kernel.engine import KernelSettings
from kneepoint.engines.kernel.scenario import Load
from kneepoint.engines.limits import KERNEL, MAHIMAHI
from kneepoint.engines.mahimahi import diagnosis as mahimahi
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from kneepoint.engines.mahimahi.tcp import LinkLoad

LOADS: Mapping[str, type[Load]] = {MAHIMAHI.engine: LinkLoad, KERNEL.engine: Load}
"""The model of the traffic of each engine with the kernel's TCP."""

DIAGNOSES: Mapping[str, Callable[[], None]] = {
    MAHIMAHI.engine: mahimahi.diagnose,
    KERNEL.engine: kernel.diagnose,
}
"""Functions that raise KneepointError, with cause and remedy, if the engine cannot work here."""


def settings_of(
    engine: str, build: Path, busy_us: float = math.inf, *, keep_awake: bool
) -> EngineSettings:
    """Returns an engine's current settings, with programs of the folder `build`.

    Raises KneepointError if the engine is not built, or does not work on this machine. See
    EngineSettings for `busy_us` and MahimahiSettings for `keep_awake`.
    """
    if engine == "emulator":
        return EmulatorSettings.of(build / "emulate")
    if engine == "kernel":
        return KernelSettings.of(build, busy_us)
    return MahimahiSettings.of(build, busy_us, keep_awake)

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
"""What engines with the kernel's TCP can send."""

DIAGNOSES: Mapping[str, Callable[[], None]] = {
    MAHIMAHI.engine: mahimahi.diagnose,
    KERNEL.engine: kernel.diagnose,
}
"""Each raises KneepointError, with cause and remedy, if its engine cannot work here."""


def settings_of(
    engine: str, build: Path, busy_us: float = math.inf, *, keep_awake: bool
) -> EngineSettings:
    """Returns an engine's current settings, for programs in the folder `build`.

    Raises KneepointError if it is not built, or does not work on this machine. For `busy_us` and
    `keep_awake` see EngineSettings and MahimahiSettings.
    """
    if engine == "emulator":
        return EmulatorSettings.of(build / "emulate")
    if engine == "kernel":
        return KernelSettings.of(build, busy_us)
    return MahimahiSettings.of(build, busy_us, keep_awake)

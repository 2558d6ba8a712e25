"""The engines by their names in configurations and results."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from engines.base import EngineSettings
from engines.emulator import EmulatorSettings
from engines.kernel import diagnosis as kernel
from engines.kernel.engine import KernelSettings
from engines.kernel.scenario import Load
from engines.limits import KERNEL, MAHIMAHI
from engines.mahimahi import diagnosis as mahimahi
from engines.mahimahi.engine import MahimahiSettings
from engines.mahimahi.tcp import LinkLoad

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

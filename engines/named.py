"""The engines by their names in configurations and results."""

import math
from pathlib import Path

from engines.base import EngineSettings
from engines.emulator import EmulatorSettings
from engines.kernel.engine import KernelSettings
from engines.mahimahi.engine import MahimahiSettings


def settings_of(
    engine: str, build: Path, busy_us: float = math.inf, *, keep_awake: bool
) -> EngineSettings:
    """Returns an engine's current settings.

    Args:
        engine: emulator, mahimahi or kernel.
        build: folder of the built programs.
        busy_us: in real time: see EngineSettings.
        keep_awake: for mahimahi: see MahimahiSettings.

    Raises:
        KneepointError: it is not built, or does not work on this machine.
    """
    if engine == "emulator":
        return EmulatorSettings.of(build / "emulate")
    if engine == "kernel":
        return KernelSettings.of(build, busy_us)
    return MahimahiSettings.of(build, busy_us, keep_awake)

"""The engines in real time for tests, where they work, and tests of their figures."""

import functools
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import ParamSpec

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.engines.kernel.diagnosis import diagnose as diagnose_kernel
from kneepoint.engines.kernel.engine import KernelSettings
from kneepoint.engines.mahimahi.diagnosis import diagnose
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from tests.conftest import ROOT

_PATIENT_US = 1e6
"""Limit of the scheduling delay (us): tests tolerate a busy host."""

_TRIES, _PAUSE_S = 3, 10
"""Attempts, and the pause between them (s), in which a disturbance of the host may end."""

Given = ParamSpec("Given")


def unless_disturbed(test: Callable[Given, None]) -> Callable[Given, None]:
    """Repeats a test of figures that fails: a disturbance of the host affects one attempt, a defect
    affects all."""

    @functools.wraps(test)
    def tried(*given: Given.args, **named: Given.kwargs) -> None:
        for _ in range(_TRIES - 1):
            with suppress(AssertionError):
                return test(*given, **named)
            time.sleep(_PAUSE_S)
        return test(*given, **named)

    return tried


def real_engine(keep_awake: bool = False) -> MahimahiSettings:
    """Returns mahimahi, or skips the test, loudly."""
    try:
        diagnose()
    except KneepointError as error:
        pytest.skip(f"NOT TESTED in real mahimahi: {error}")
    return MahimahiSettings.of(ROOT / "build", _PATIENT_US, keep_awake=keep_awake)


def kernel_engine() -> KernelSettings:
    """Returns the kernel's own TCP, or skips the test, loudly."""
    try:
        diagnose_kernel()
    except KneepointError as error:
        pytest.skip(f"NOT TESTED on the kernel's own TCP: {error}")
    return KernelSettings.of(ROOT / "build")


def write_traces(folder: Path, trace: str) -> dict[str, dict[str, str]]:
    """Writes both traces of the tests' network; returns their entries in its description."""
    for name in ("up.trace", "down.trace"):
        (folder / name).write_text(trace)
    digest = sha256_of(trace.encode())
    return {direction: {"trace_sha256": digest} for direction in ("uplink", "downlink")}

"""Real mahimahi for tests, where it works."""

from pathlib import Path

import pytest

from common.errors import KneepointError
from common.files import sha256_of
from engines.mahimahi.diagnosis import diagnose
from engines.mahimahi.engine import MahimahiSettings
from tests.conftest import ROOT

_PATIENT_US = 1e6
"""A test does not mind a busy host."""


def real_engine(build: Path = ROOT / "build", busy_us: float = _PATIENT_US) -> MahimahiSettings:
    """Returns the engine, or skips the test, loudly."""
    try:
        diagnose()
    except KneepointError as error:
        pytest.skip(f"NOT TESTED in real mahimahi: {error}")
    return MahimahiSettings.of(build, busy_us, keep_awake=True)


def write_traces(folder: Path, trace: str) -> dict[str, dict[str, str]]:
    """Writes both traces of the tests' network; returns what it says of them."""
    for name in ("up.trace", "down.trace"):
        (folder / name).write_text(trace)
    digest = sha256_of(trace.encode())
    return {direction: {"trace_sha256": digest} for direction in ("uplink", "downlink")}

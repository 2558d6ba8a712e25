"""The links of the emulator's tests, and the entries that run on them."""

from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.controllers.conftest import contest, small_link
from tests.entries.building import SOURCES, build_entry, build_sender

__all__ = ["contest", "small_link"]

ATTACKS = Path(__file__).parents[1] / "tools/contest/attacks/attacks.cc"


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """An honest sender, probes and attacks, built; some compilers check buffers by default."""
    folder = tmp_path_factory.mktemp("entries")
    flags = ("-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2")
    return {
        "kit_sender": build_sender(folder, *flags),
        "shim_probe": build_entry(SOURCES / "shim_probe.cc", folder, *flags),
        "attacks": build_entry(ATTACKS, folder, "-std=c++20", f"-I{ROOT / 'controllers'}"),
    }

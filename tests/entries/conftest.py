"""The links of the emulator's tests, entries that run on them, and the builder of entries."""

from pathlib import Path

import pytest

from kneepoint.cli.entries import python_digest
from kneepoint.common.files import sha256_of
from kneepoint.entries.build import Compiler
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder
from tests.conftest import ROOT
from tests.controllers.conftest import contest, small_link
from tests.entries.building import ENTRY, SOURCES, build_entry, build_sender

__all__ = ["contest", "small_link"]

ATTACKS = Path(__file__).parent / "attacks/attacks.cc"


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


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> EntryBuilder:
    """Builds entries, each source once, in the standard with the shortest headers."""
    confined = Confined(ROOT / "build/confine")
    kept = tmp_path_factory.mktemp("kept")
    compiler = Compiler(kept, confined, standards=["-std=gnu++14"])
    return EntryBuilder(compiler, sha256_of(ENTRY.read_bytes()), python_digest())

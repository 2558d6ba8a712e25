"""The small link of the emulator's tests, and what was built to attack on it."""

from pathlib import Path

import pytest

from tests.controllers.conftest import small_link
from tests.entries.building import build_entry, build_sender

__all__ = ["small_link"]


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The attacks and an honest sender, built."""
    folder = tmp_path_factory.mktemp("entries")
    attacks = build_entry(Path(__file__).parent / "attacks.cc", folder)
    return {"attacks": attacks, "kit_sender": build_sender(folder)}

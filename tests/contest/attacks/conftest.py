"""The small link of the emulator's tests, and what was built to attack on it."""

from pathlib import Path

import pytest

from tests.controllers.conftest import small_link
from tests.entries.building import SOURCES, build_entry

__all__ = ["small_link"]


@pytest.fixture(scope="session")
def objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The attacks and an honest sender, built."""
    folder = tmp_path_factory.mktemp("entries")
    sources = (Path(__file__).parent / "attacks.cc", SOURCES / "kit_sender.cc")
    return {source.stem: build_entry(source, folder) for source in sources}

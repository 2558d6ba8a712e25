"""Fixtures of tests of runs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kneepoint.common import files


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    """A thread that runs functions which the test observes."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
def no_folder_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails if a folder that this process made for a run exists after the test."""
    made: list[Path] = []
    make = files._make_folder

    def remember(path: Path, mode: int) -> int:
        made.append(path)
        return make(path, mode)

    monkeypatch.setattr(files, "_make_folder", remember)
    yield
    assert not any(folder.exists() for folder in made)

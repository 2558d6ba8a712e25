"""What tests of runs share."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kneepoint.common import files


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    """Runs what the test looks at meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
def no_folder_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Afterwards, the folders that this process has made for runs, and it only, must be gone."""
    made: list[Path] = []
    make = files._make_folder

    def remember(path: Path, mode: int) -> int:
        made.append(path)
        return make(path, mode)

    monkeypatch.setattr(files, "_make_folder", remember)
    yield
    assert not any(folder.exists() for folder in made)

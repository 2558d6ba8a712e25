"""What tests of runs share."""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    """Runs what the test looks at meanwhile."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


@pytest.fixture
def no_folder_is_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Afterwards, the folders that this process has made for runs, and it only, must be gone."""
    made: list[Path] = []
    make = tempfile.mkdtemp

    def remember(*arguments: Any, **options: Any) -> str:
        made.append(Path(make(*arguments, **options)))
        return str(made[-1])

    monkeypatch.setattr(tempfile, "mkdtemp", remember)
    yield
    assert not any(folder.exists() for folder in made)

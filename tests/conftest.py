"""What all tests share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test neither reads nor writes the traces that its user has cached."""
    monkeypatch.setenv("KNEEPOINT_CACHE", str(tmp_path / "cache"))

"""What all tests share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the tests of a file in one process, and all those of real mahimahi, where time is real.

    What a file sets up for its module, a Ray for example, is set up once then.
    """
    real = {item.path for item in items if item.get_closest_marker("real_time")}
    for item in items:
        group = "real time" if item.path in real else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test neither reads nor writes the traces that its user has cached."""
    monkeypatch.setenv("KNEEPOINT_CACHE", str(tmp_path / "cache"))

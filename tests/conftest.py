"""What all tests share."""

import os
import signal
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from tests.analysis.workspace import make_workspace

ROOT = Path(__file__).parent.parent


REAL_TIME = "pytest.mark.real_time"


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Keeps the tests of a file in one process, and those of files that belong together.

    What a file sets up for its module, a Ray for example, is set up once then. All tests in real
    time belong together, in the process that begins with them; so do those on one finished
    workflow.
    """

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid.partition("::")[0])


@cache
def _group(path: str) -> str:
    text = (ROOT / path).read_text()
    shared = (REAL_TIME, "finished_workflow")
    return next((each for each in shared if each in text), path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileScheduling:
    """Several processes share the tests by files. (xdist's groups do nothing with pytest 9.2.)"""
    return FileScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that no process is left alone with it at the end."""
    items.sort(key=lambda item: (not _is_in_real_time(item), _is_short(item)))


def _is_short(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is None and "workflow" not in item.path.parts


def _is_in_real_time(item: pytest.Item) -> bool:
    return _group(str(item.path)) == REAL_TIME


_in_real_time_have_ended: list[Path] = []
"""The file that says so, in the process that begins with the tests in real time."""


@pytest.fixture(scope="session", autouse=True)
def _leave_room_for_tests_in_real_time(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Of several processes, one begins with those and one gives way to it; the others wait."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or not any(map(_is_in_real_time, request.session.items)):
        yield
        return
    ended = tmp_path_factory.getbasetemp().parent / "in-real-time-have-ended"
    if worker == "gw0":
        _in_real_time_have_ended.append(ended)
    else:
        # Not by niceness: only an idle process gives way as soon as another wakes up.
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        while worker != "gw1" and not ended.exists():
            time.sleep(0.1)
    yield
    ended.touch()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lets the processes that wait begin."""
    if _in_real_time_have_ended and not _is_in_real_time(item):
        _in_real_time_have_ended.pop().touch()


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test neither reads nor writes the traces that its user has cached."""
    monkeypatch.setenv("KNEEPOINT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def usual_signals() -> Iterator[None]:
    """Lets what a test starts end on signals, though the test's caller, as nohup, ignores some."""
    ends: dict[signal.Signals, Any] = {
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, end) for number, end in ends.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of `tests.analysis.workspace`, which is the current one, too."""
    monkeypatch.chdir(tmp_path)
    make_workspace(tmp_path)
    return tmp_path

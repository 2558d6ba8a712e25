"""Fixtures and scheduling of all tests."""

import os
import signal
from collections.abc import Iterator
from contextlib import chdir, suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests.analysis.workspace import finish, make_workspace
from tests.once import made_once

ROOT = Path(__file__).parent.parent
pytest_plugins = ["tests.fixtures"]


REAL_TIME = "pytest.mark.real_time"


class FileScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Keeps the tests of a file, and of files that belong together, in one process.

    Fixtures of a module, such as a Ray, are then set up once. All tests on the finished workflow
    belong together, and so do all tests in real time. While tests in real time run, the other
    processes yield the processor to them.
    """

    def _split_scope(self, nodeid: str) -> str:
        return _group(nodeid.partition("::")[0])

    def schedule(self) -> None:
        super().schedule()
        if self._real_time_goes_on():
            # SCHED_IDLE, not niceness: only an idle process yields as soon as another process wakes
            # up.
            others = [node for node in self.nodes if REAL_TIME not in self.assigned_work[node]]
            self._schedule_as(os.SCHED_IDLE, others)

    def mark_test_complete(
        self, node: WorkerController, item_index: int, duration: float = 0
    ) -> None:
        went_on = self._real_time_goes_on()
        super().mark_test_complete(node, item_index, duration)
        if went_on and not self._real_time_goes_on():
            # Only root can leave SCHED_IDLE. Beside a process that is not idle, idle processes
            # would starve.
            self._schedule_as(os.SCHED_OTHER if os.geteuid() == 0 else os.SCHED_IDLE, self.nodes)

    def _real_time_goes_on(self) -> bool:
        assigned = (units.get(REAL_TIME, {}) for units in self.assigned_work.values())
        return any(not completed for unit in assigned for completed in unit.values())

    def _schedule_as(self, policy: int, nodes: list[WorkerController]) -> None:
        for node in nodes:  # xdist has asked for their ids before
            for task in _tasks(node.gateway._rinfo().pid):
                with suppress(ProcessLookupError):
                    os.sched_setscheduler(task, policy, os.sched_param(0))


def _tasks(pid: int) -> Iterator[int]:
    """Yields the threads of a process and of its living descendants."""
    for task in Path(f"/proc/{pid}/task").glob("*"):
        yield int(task.name)
        with suppress(FileNotFoundError, ProcessLookupError):
            for child in (task / "children").read_text().split():
                yield from _tasks(int(child))


@cache
def _group(path: str) -> str:
    text = (ROOT / path).read_text()
    shared = (REAL_TIME, "finished_workflow")
    return next((each for each in shared if each in text), path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> FileScheduling:
    """Distributes tests by files. (xdist's groups have no effect with pytest 9.2.)"""
    return FileScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Runs the longest tests first, so that none is left to a single process at the end."""
    items.sort(key=lambda item: (not _is_in_real_time(item), not _is_long_chain(item)))


def _is_long_chain(item: pytest.Item) -> bool:
    return not {"workflow", "docs"}.isdisjoint(item.path.relative_to(ROOT).parts)


def _is_in_real_time(item: pytest.Item) -> bool:
    return _group(str(item.path)) == REAL_TIME


@pytest.fixture(scope="session", autouse=True)
def _no_flushes() -> Iterator[None]:
    """Tests do not wait for the disk: only a power failure would show the difference."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


@pytest.fixture(autouse=True)
def _no_cache_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests neither read nor write the user's cached traces."""
    monkeypatch.setenv("KNEEPOINT_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def usual_signals() -> Iterator[None]:
    """Lets children of a test end on signals, even if the test's caller, such as nohup, ignores
    some."""
    ends: dict[signal.Signals, Any] = {
        signal.SIGHUP: signal.SIG_DFL,
        signal.SIGINT: signal.default_int_handler,
        signal.SIGTERM: signal.SIG_DFL,
    }
    before = {number: signal.signal(number, end) for number, end in ends.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small configuration and its results, which tests copy."""
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    with chdir(ROOT):
        return made_once(tmp_path_factory, "finished", finish)


@pytest.fixture
def workspace(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the finished results with their configuration, as the current folder."""
    monkeypatch.chdir(tmp_path)
    make_workspace(tmp_path, finished)
    return tmp_path

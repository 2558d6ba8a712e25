"""keep_awake: busy at the lowest priority, one process per host, as long as it is needed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.engines.live_run import lives, wait_until

PROGRAM = ROOT / "build" / "keep_awake"
PATIENCE_S = 30.0
PROCESSORS = len(os.sched_getaffinity(0))


@contextmanager
def running(*words: str | Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen([PROGRAM, *words], stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def threads_of(process_id: int) -> list[int]:
    return [int(each.name) for each in Path(f"/proc/{process_id}/task").iterdir()]


def is_busy(process_id: int) -> bool:
    return len(threads_of(process_id)) == 1 + PROCESSORS


def test_every_processor_is_busy_with_work_that_gives_way(tmp_path: Path) -> None:
    with running(tmp_path / "lock") as process:
        wait_until(lambda: is_busy(process.pid))
        threads = threads_of(process.pid)
        assert {os.sched_getscheduler(thread) for thread in threads} == {os.SCHED_IDLE}
        workers = sorted(set(threads) - {process.pid})
        wait_until(lambda: all(len(os.sched_getaffinity(each)) == 1 for each in workers))
        bound = sorted(processor for each in workers for processor in os.sched_getaffinity(each))
        assert bound == sorted(os.sched_getaffinity(0))
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0


def test_one_at_a_time_and_the_next_takes_over(tmp_path: Path) -> None:
    with running(tmp_path / "lock") as first:
        wait_until(lambda: is_busy(first.pid))
        with running(tmp_path / "lock") as second, running(tmp_path / "lock") as third:
            waiting = f"/proc/{second.pid}/stat"
            wait_until(lambda: Path(waiting).read_text().split()[2] == "S")
            assert len(threads_of(second.pid)) == 1
            third.send_signal(signal.SIGTERM)
            assert third.wait(PATIENCE_S) in (
                0,
                -signal.SIGTERM,
            )  # before or after it handles the signal
            first.kill()
            wait_until(lambda: is_busy(second.pid))


def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    program = f"""
import subprocess, sys
process = subprocess.Popen([{str(PROGRAM)!r}, {str(tmp_path / "lock")!r}, "--end-with-parent"])
print(process.pid, flush=True)
sys.stdin.read()
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        process_id = int(parent.stdout.readline())
        wait_until(lambda: is_busy(process_id))
        parent.kill()
    wait_until(lambda: not lives(process_id))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "LOCK alone, or with --end-with-parent"),
        (("lock", "--forever"), "LOCK alone, or with --end-with-parent"),
        (("/no/such/folder/lock",), "/no/such/folder/lock: No such file or directory"),
    ],
)
def test_bad_arguments_are_named(words: tuple[str, ...], message: str) -> None:
    with running(*words) as process:
        assert process.wait(PATIENCE_S) == 2
        assert process.stderr is not None
        assert message in process.stderr.read()

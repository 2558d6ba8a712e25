"""A signal to an entry's process from outside is a fault of the machine, not the entry's."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.controllers.emulator import EMULATE, Link
from tests.controllers.test_sender_receiver import receiving
from tests.engines.live_run import descendants
from tests.entries.building import NO_NAMESPACES, scenario_of
from tests.entries.test_entry_sender import ENTRY_SENDER

pytestmark = pytest.mark.attacks

_FROM_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGSTOP)
_SECONDS = 5000
"""Duration in virtual time, long enough that the limit of CPU time is not reached."""


def _prefix_for(number: int) -> tuple[str, ...]:
    """In a PID namespace, an entry is the first process, which ignores most signals."""
    return () if number in (signal.SIGKILL, signal.SIGSTOP) else NO_NAMESPACES


def _has_begun(process: int) -> bool:
    """Whether a process has computed for longer than an entry takes to start."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12]) > 30


def _is_confined(process: int) -> bool:
    return "Seccomp:\t2" in Path(f"/proc/{process}/status").read_text()


def _is_ready(process: int, *, must_compute: bool) -> bool:
    try:
        return _is_confined(process) and (_has_begun(process) or not must_compute)
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return False


def _disturbed(command: list[str], request: str, number: int, *, must_compute: bool) -> Any:
    """Sends the signal to an entry, and returns the answer of the program that started it."""
    with subprocess.Popen(
        [*_prefix_for(number), *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as starter:
        assert starter.stdin is not None
        starter.stdin.write(request)
        starter.stdin.flush()
        try:
            while starter.poll() is None:
                for process in descendants(starter.pid):
                    if _is_ready(process, must_compute=must_compute):
                        os.kill(process, number)
                        return json.loads(starter.communicate()[0])
                time.sleep(0.01)
            raise AssertionError(starter.communicate())
        finally:
            starter.kill()


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        *(("c++", number) for number in _FROM_OUTSIDE),
        *(("real time", number) for number in _FROM_OUTSIDE),
        *(("python", number) for number in _FROM_OUTSIDE if not _prefix_for(number)),
    ],
)
def test_signal_from_outside_is_a_fault(
    kind: str, number: int, objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    if kind == "real time":
        with receiving() as receiver:
            words = [str(ENTRY_SENDER), "127.0.0.1", str(receiver.port), "--entry"]
            words.append(str(objects["kit_sender"]))
            answer = _disturbed(words, "", number, must_compute=False)
    else:
        entry = tmp_path / "entry.py" if kind == "python" else objects["attacks"]
        (tmp_path / "entry.py").write_text("while True: pass\n")
        environment = {"ATTACK": "endless_loop"}
        scenario = scenario_of(small_link, entry, environment, duration_s=_SECONDS)
        request = json.dumps({"scenario": scenario}) + "\n"
        answer = _disturbed([str(EMULATE), "--batch"], request, number, must_compute=True)
    assert answer["status"] == "fault", answer
    name = "stopped" if number == signal.SIGSTOP else signal.Signals(number).name
    assert name in answer["reason"]

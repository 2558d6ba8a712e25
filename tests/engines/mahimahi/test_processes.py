import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from kneepoint.engines.mahimahi.diagnosis import ordinary_user
from kneepoint.engines.mahimahi.processes import (
    delete_rules_of_the_dead,
    end_session,
    start_as_ordinary_user,
)
from tests.engines.live_run import lives

SHOW = "grep -E '^(SigIgn|SigBlk|Uid|Groups)' /proc/self/status"


def test_start_as_ordinary_user_sets_signals_back(tmp_path: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with (tmp_path / "output").open("wb") as output:
            start_as_ordinary_user(["sh", "-c", SHOW], None, Path("/"), output).wait()
    finally:
        signal.signal(signal.SIGHUP, before)
    words = (tmp_path / "output").read_text().split()
    assert int(words[words.index("SigIgn:") + 1], 16) & 1 << (signal.SIGHUP - 1) == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root can change to another user")
def test_start_as_ordinary_user_drops_root(tmp_path: Path) -> None:
    user = ordinary_user()
    assert user is not None
    with (tmp_path / "output").open("wb") as output:
        start_as_ordinary_user(["sh", "-c", SHOW], user, Path("/"), output).wait()
    words = (tmp_path / "output").read_text().split()
    assert words[words.index("Uid:") + 1 :][:4] == [str(user[0])] * 4
    assert words[words.index("Groups:") + 1] == "SigBlk:"  # none


@pytest.mark.parametrize("trap", ["exit", ""])
def test_end_session_ends_children_too(tmp_path: Path, trap: str) -> None:
    script = f"trap '{trap}' TERM; sleep 300 & echo started > {tmp_path}/started; wait; wait"
    process = start_as_ordinary_user(["bash", "-c", script], None, tmp_path)
    while not (tmp_path / "started").exists():
        time.sleep(0.01)
    end_session(process, patience_s=1)
    while process.pid in sessions():  # a child that was killed takes a moment
        time.sleep(0.01)
    end_session(process)  # there is nothing to end


SHELL = "-A PREROUTING -s 100.64.0.{n}/32 -j CONNMARK --set-xmark {mark:#x}/0xffffffff"
LEAVING = "-A POSTROUTING -m connmark --mark {mark:#x} -j MASQUERADE"
OTHERS = [
    "-P PREROUTING ACCEPT",
    "-A PREROUTING -s 10.0.0.2/32 -j CONNMARK --set-xmark 0x7ffffff1/0xffffffff",
    "-A PREROUTING -s 100.64.0.9/32 -j MARK --set-xmark 0x7ffffff2/0xffffffff",
    "-A PREROUTING -s 100.64.0.0/10 -j CONNMARK --set-xmark 0x7ffffff4/0xffffffff",
    "-A PREROUTING -s 100.64.0.9/32 -j CONNMARK --set-xmark 0x7fff0000/0xffff0000",
    "-A POSTROUTING -m connmark --mark 0x7ffffff3 -j MASQUERADE",
    "-A POSTROUTING -s 100.64.0.0/10 -j MASQUERADE",
]
DEAD = 0x7FFFFFFF  # beyond all process ids of Linux


def test_rules_of_the_dead_are_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules of an ended shell are deleted, but not rules of a living shell or of other programs."""
    own = Path("/proc/self/comm")
    name = own.read_text()
    rules = [line.format(n=2, mark=DEAD) for line in (SHELL, LEAVING)]
    living = [line.format(n=4, mark=os.getpid()) for line in (SHELL, LEAVING)]
    table = [*OTHERS, *rules, *living]

    def iptables(command: list[str], **_: object) -> "subprocess.CompletedProcess[str]":
        assert command[:4] == ["iptables", "-w", "-t", "nat"]
        if command[4] == "-D":
            table.remove(" ".join(["-A", *command[5:]]))
        return subprocess.CompletedProcess(command, 0, "\n".join(table), "")

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(subprocess, "run", iptables)
    own.write_text("mm-delay")
    try:
        delete_rules_of_the_dead()
    finally:
        own.write_text(name)
    assert table == [*OTHERS, *living]
    delete_rules_of_the_dead()  # this process is no shell now
    assert table == OTHERS


def sessions() -> list[int]:
    """Returns the session of every living process."""
    found = []
    for pid in filter(lives, psutil.pids()):
        with suppress(ProcessLookupError):
            found.append(os.getsid(pid))
    return found

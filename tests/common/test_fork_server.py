"""Programs that are forked do what they do by themselves, and end when nobody waits for them."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from common import fork_server, forked
from tests.conftest import ROOT

PROGRAM = """
import os, signal, subprocess, sys, time
print("words", *sys.argv[1:])
print("complaint", file=sys.stderr)
if "fail" in sys.argv:
    sys.exit(7)
if "explain" in sys.argv:
    sys.exit("no room")
if "raise" in sys.argv:
    raise ValueError("odd")
if "child" in sys.argv:
    sys.exit(subprocess.run(["sh", "-c", "exit 5"]).returncode)
if "kill" in sys.argv:
    os.kill(os.getpid(), signal.SIGKILL)
if "wait" in sys.argv:
    open("pid", "w").write(str(os.getpid()))
    time.sleep(600)
"""
Ask = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Asks for the program, in a folder that has a server of its own unless `alone`."""
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")

    def start(*words: str, alone: bool = False, module: str = "program") -> "subprocess.Popen[str]":
        if not alone and not fork_server.SOCKET.exists():
            fork_server.start_fork_server(["json"], tmp_path / "server.log")
        command = [sys.executable, "-IS", str(ROOT / "common/forked.py"), module, *words]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    yield start
    log = tmp_path / "server.log"
    assert not log.exists() or log.read_text() == ""


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    ("word", "status", "said"),
    [
        ("", 0, "complaint\n"),
        ("fail", 7, "complaint\n"),
        ("explain", 1, "complaint\nno room\n"),
        ("child", 5, "complaint\n"),
        ("raise", 1, "ValueError: odd\n"),
    ],
)
def test_program_does_what_it_does_by_itself(
    ask: Ask, word: str, status: int, said: str, alone: bool
) -> None:
    asked = ask("two words", word, alone=alone)
    output, complaints = asked.communicate()
    assert (asked.returncode, output) == (status, f"words two words {word}\n")
    assert complaints.endswith(said)


def test_many_at_once_do_not_mix(ask: Ask) -> None:
    asked = [ask(str(number)) for number in range(12)]
    assert [each.communicate()[0] for each in asked] == [f"words {n}\n" for n in range(12)]


def test_a_late_module_is_imported_once_for_all(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "library.py").write_text("open('imports', 'a').write('once ')\n")
    (tmp_path / "late.py").write_text("import library\nif __name__ == '__main__': print('ran')\n")
    fork_server.start_fork_server(["json"], tmp_path / "server.log", late=["late"])
    for _ in range(3):
        assert ask("", module="late").communicate() == ("ran\n", "")
    assert (tmp_path / "imports").read_text() == "once "


def test_a_late_module_that_cannot_be_imported_fails_in_its_own_job(
    tmp_path: Path, ask: Ask
) -> None:
    (tmp_path / "late.py").write_text("raise ValueError('odd')\n")
    fork_server.start_fork_server(["json"], tmp_path / "server.log", late=["late"])
    for _ in range(2):
        asked = ask("", module="late")
        assert asked.communicate()[1].endswith("ValueError: odd\n")
        assert asked.returncode == 1


def test_program_that_is_killed_is_an_error(ask: Ask) -> None:
    asked = ask("kill")
    assert "the process of this job was killed" in asked.communicate()[1]
    assert asked.returncode == 2


def test_program_ends_with_whoever_asked_for_it(ask: Ask, tmp_path: Path) -> None:
    asked = ask("wait")
    started = tmp_path / "pid"
    wait_for(lambda: started.exists() and started.read_text() != "")
    pid = int(started.read_text())
    asked.send_signal(signal.SIGTERM)
    asked.communicate()
    wait_for(lambda: not Path(f"/proc/{pid}").exists())


def test_server_ends_with_whoever_started_it(tmp_path: Path) -> None:
    start = (
        "import os; from pathlib import Path; from common.fork_server import start_fork_server;"
        f"start_fork_server([], Path('{tmp_path}/log'), Path('{tmp_path}/socket'))"
    )
    subprocess.run([sys.executable, "-c", start], cwd=ROOT, check=True)
    command = f"{sys.executable}\0-m\0common.fork_server"

    def servers() -> list[Path]:
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                is_ours = (path / "cmdline").read_text().startswith(command)
                if is_ours and (path / "fd/1").readlink() == tmp_path / "log":
                    found.append(path)
            except OSError:  # it has just ended
                continue
        return found

    wait_for(lambda: not servers())


def test_both_sides_meet_at_the_same_place() -> None:
    assert str(fork_server.SOCKET) == forked.SOCKET


def wait_for(what: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not what():
        assert time.monotonic() < deadline
        time.sleep(0.05)

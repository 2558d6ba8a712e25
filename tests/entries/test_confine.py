"""Untrusted commands see only the given files, and leave nothing behind."""

import os
import re
import resource
import shlex
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from kneepoint.entries.confine import Confined
from tests.conftest import ROOT
from tests.engines.live_run import wait_until
from tests.entries.building import NO_NAMESPACES, SOURCES, are_running, can_refuse_namespaces

pytestmark = pytest.mark.attacks

CONFINE = ROOT / "build" / "confine"
SYSTEM = ("--read", "/usr", "/lib", "/lib64", "/etc/ld.so.cache")
PROGRAMS = ("--run", "/usr/bin", "/bin", "/usr/lib", "/lib", "/lib64", "/usr/libexec")


def words_of(folder: Path, script: str, *options: str) -> list[str]:
    """Returns the command that runs a script, which may write into the folder."""
    words = [str(CONFINE), *SYSTEM, *PROGRAMS, "--write", str(folder), *options]
    return [*words, "--", "/bin/bash", "-c", script]


def confine(folder: Path, script: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Runs a script that may write into the folder; returns its result."""
    words = words_of(folder, script, *options)
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_exit_status_is_the_commands(tmp_path: Path) -> None:
    ended = confine(tmp_path, "echo said; exit 7")
    assert (ended.returncode, ended.stdout, ended.stderr) == (7, "said\n", "")


def test_entry_is_built(tmp_path: Path) -> None:
    (tmp_path / "entry.cc").write_text("#include <iostream>\nint main() { std::cout << 1; }\n")
    script = f"cd {tmp_path} && TMPDIR=. g++ -shared -fPIC -o entry.so entry.cc"
    assert confine(tmp_path, script, "--no-network").returncode == 0
    assert (tmp_path / "entry.so").stat().st_size > 0


def test_build_cannot_take_a_trace_in(tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir()
    secret = tmp_path / "secret.trace"
    secret.write_text("1\n2\n")
    source = folder / "entry.cc"
    source.write_text(f'asm(".incbin \\"{secret}\\"");\nint main() {{}}\n')
    build = f"cd {folder} && TMPDIR=. g++ -shared -fPIC -o entry.so entry.cc"
    assert subprocess.run(["bash", "-c", build], check=False).returncode == 0
    (folder / "entry.so").unlink()
    ended = confine(folder, build)
    assert ended.returncode != 0
    assert "secret.trace" in ended.stderr
    assert not (folder / "entry.so").exists()


@pytest.mark.parametrize(
    "script",
    [
        "cat {secret}",
        "cat < {secret}",
        "ln {secret} stolen && cat stolen",
        "ln -s {secret} stolen && cat stolen",
        "echo x > {secret}",
        "rm {secret}",
        "mv {secret} here",
        "ls {parent}",
        "cp /bin/true mine && ./mine",
        "cat /proc/self/environ",
    ],
)
def test_other_files_are_out_of_reach(script: str, tmp_path: Path) -> None:
    folder = tmp_path / "build"
    folder.mkdir()
    secret = tmp_path / "secret"
    secret.write_text("the secret\n")
    ended = confine(folder, f"cd {folder}; " + script.format(secret=secret, parent=tmp_path))
    assert ended.returncode != 0
    assert "the secret" not in ended.stdout
    assert secret.read_text() == "the secret\n"


@pytest.mark.parametrize(
    ("script", "options", "reason"),
    [
        ("while :; do :; done", ("--cpu-s", "1"), "more than 1 s of CPU time"),
        ("sleep 60", ("--wall-s", "1"), "more than 1 s"),
        ("head -c 9000000 /dev/zero > big", ("--file-mb", "4"), "a file of more than 4 MB"),
        (
            "for i in {1..99}; do head -c 900000 /dev/zero > big$i; sleep .01; done",
            ("--file-mb", "4"),
            "wrote more than 4 MB",
        ),
        ("f() { f | f & }; f; sleep 60", ("--processes", "30"), "more than 30 processes"),
    ],
)
def test_limit_stops_it(script: str, options: tuple[str, ...], reason: str, tmp_path: Path) -> None:
    ended = confine(tmp_path, f"cd {tmp_path}; {script}", *options)
    assert ended.returncode > 128
    assert ended.stderr.splitlines()[-1] == f"confine: stopped: {reason}"


def test_a_command_that_computes_is_waited_for(tmp_path: Path) -> None:
    """Computing extends the limit of wall-clock time, so that slow machines suffice."""
    computing = "for ((i = 0; i < 80000; i++)); do :; done"  # a tenth of a second
    ended = confine(tmp_path, f"({computing}); sleep 1.2; echo done", "--wall-s", "1")
    assert (ended.returncode, ended.stdout) == (0, "done\n")
    ended = confine(tmp_path, f"({computing}); sleep 600", "--wall-s", "1")
    assert ended.returncode > 128
    waited = re.search(r"stopped: more than (\d+) s(?: for \d+ s of CPU time)?\n$", ended.stderr)
    assert waited and int(waited[1]) > 1


def test_memory_is_bounded(tmp_path: Path) -> None:
    ended = confine(tmp_path, "head -c 500000000 /dev/zero | tail", "--memory-mb", "200")
    assert "memory exhausted" in ended.stderr


def test_network_is_out_of_reach(tmp_path: Path) -> None:
    ended = confine(tmp_path, "echo > /dev/udp/127.0.0.1/9", "--no-network")
    assert "not permitted" in ended.stderr


@dataclass
class Outside:
    """A process and a socket that a command tries to reach."""

    process: "subprocess.Popen[bytes]"
    socket: str

    def state(self) -> tuple[object, ...]:
        """Returns the state that a command might change, including the kernel's tables."""
        pid = self.process.pid
        tables = (Path("/proc/sysvipc", name) for name in ("shm", "sem", "msg"))
        return (
            self.process.poll(),
            os.getpriority(os.PRIO_PROCESS, pid),
            os.sched_getaffinity(pid),
            os.sched_getscheduler(pid),
            resource.prlimit(pid, resource.RLIMIT_CPU),
            [len(table.read_text().splitlines()) for table in tables],
            socket.gethostname(),
        )


@pytest.fixture
def outside() -> Iterator[Outside]:
    name = f"kneepoint-{uuid4()}"
    with socket.socket(socket.AF_UNIX) as listener, subprocess.Popen(["sleep", "600"]) as process:
        listener.bind(f"\0{name}")
        listener.listen()
        yield Outside(process, name)
        process.kill()


@pytest.fixture(scope="module")
def reaching_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("reaching") / "reaches_out"
    source = SOURCES / "reaches_out.cc"
    subprocess.run(["g++", "-std=c++20", "-o", program, source], check=True)
    return program


@pytest.mark.parametrize("is_apart", [True, False], ids=["namespaces", "filters"])
def test_nothing_outside_is_reached(
    is_apart: bool, reaching_out: Path, outside: Outside, tmp_path: Path
) -> None:
    if not is_apart and not can_refuse_namespaces():
        pytest.skip("this host grants no namespaces: there is only one case")
    before = outside.state()
    script = f"ABSTRACT={outside.socket} {reaching_out} {outside.process.pid}"
    options = ("--run", str(reaching_out.parent), "--no-network")
    words = words_of(tmp_path, script, *options)
    ended = subprocess.run(
        [*(() if is_apart else NO_NAMESPACES), *words], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert outside.state() == before


def test_processes_are_the_commands_own(tmp_path: Path) -> None:
    assert confine(tmp_path, "echo $$ $PPID").stdout == "2 1\n"


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    mark = str(uuid4())
    confine(tmp_path, f"(setsid bash -c 'sleep 600' {mark} &); exit 3")
    assert not are_running(mark)


@pytest.mark.parametrize("ended", ["confine", "its parent"])
def test_everything_ends_with_its_supervisor(ended: str, tmp_path: Path) -> None:
    mark = str(uuid4())
    words = words_of(tmp_path, f"(setsid bash -c 'sleep 600; :' {mark} &); sleep 600; :")
    words.insert(1, "--end-with-parent")
    if ended == "its parent":
        words = ["/bin/bash", "-c", '"$@"; :', "bash", *words]
    with subprocess.Popen(words) as supervisor:
        wait_until(lambda: are_running(mark))
        supervisor.kill()
    wait_until(lambda: not are_running(mark))


def test_contest_says_once_that_namespaces_are_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Confined(CONFINE).check()
    granted = subprocess.run([CONFINE, "--isolation"], capture_output=True, text=True, check=True)
    assert ("filters alone" in granted.stdout) == ("filters alone" in capsys.readouterr().err)
    if not can_refuse_namespaces():
        pytest.skip("this host grants no namespaces")
    program = tmp_path / "confine"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(NO_NAMESPACES)} {CONFINE} "$@"\n')
    program.chmod(0o755)
    Confined(program).check()
    (output,) = capsys.readouterr().err.splitlines()
    assert "filters alone" in output
    assert "user.max_user_namespaces" in output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--read", "/usr"], "-- COMMAND is missing"),
        (["--reed", "/usr", "--", "true"], "unknown option '--reed'"),
        (["--cpu-s", "0", "--", "true"], "--cpu-s"),
    ],
)
def test_bad_words_are_refused(words: list[str], message: str) -> None:
    ended = subprocess.run([CONFINE, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert message in ended.stderr

"""Whole senders over real UDP, confined."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.controllers.test_sender_receiver import receiving
from tests.entries.building import SOURCES

ENTRY_SENDER = ROOT / "build" / "entry-sender"


def send(port: int, entry: Path, duration_s: float, **environment: str) -> dict[str, Any]:
    """Returns the sender's report when it has ended, or after a time limit."""
    words = [str(ENTRY_SENDER), "127.0.0.1", str(port), "--entry", str(entry)]
    words += ["--duration-s", str(duration_s)]
    for name, value in environment.items():
        words += ["--env", f"{name}={value}"]
    ended = subprocess.run(words, capture_output=True, text=True, check=False)
    assert ended.stdout, ended.stderr
    report: dict[str, Any] = json.loads(ended.stdout)
    assert ended.returncode == (0 if report["status"] == "ok" else 3)
    return report


def test_honest_sender_is_acknowledged(objects: dict[str, Path]) -> None:
    with receiving() as receiver:
        report = send(receiver.port, objects["kit_sender"], 1, WINDOW="4")
        heard = receiver.end()
    assert report["status"] == "ok"
    assert 0 < report["acknowledgments"] <= report["packets_sent"]
    assert 0 < heard["packets_received"] <= report["packets_sent"]
    assert heard["malformed"] == 0


_STOPPED = {
    "fork_bomb": "system call clone",
    "execve": "system call execve",
    "kill_parent": "system call kill",
    "raw_socket": "system call socket",
    "ptrace": "system call ptrace",
    "open_file": "nothing to be seen",
    "write_file": "nothing to be seen",
    "small_datagrams": "system call sendto",
    "large_datagrams": "system call sendto",
    "throws": "the student's own words",
    "memory": "bad_alloc",
    "exits_at_once": "ended by itself, with exit status 0",
}
_STOPPED_WHILE_LOADING = {
    "open_file": "nothing to be seen",
    "looks_up": "nothing to be seen",
    "looks_up_by_place": "nothing to be seen",
    "own_filter": "system call seccomp",
    "turns_data_into_code": "system call mprotect",
    "raw_socket": "system call socket",
}
_STOPPED_IN_PYTHON = {
    "kill_parent": "system call kill",
    "fork": "system call clone",
    "start_program": "system call pipe2",
    "open_file": "FileNotFoundError",
    "write_file": "PermissionError",
    "second_socket": "ended by itself",
    "small_datagram": "system call sendto",
    "own_code": "system call mmap",
    "memory": "MemoryError",
}


@pytest.mark.parametrize(
    ("kind", "attack", "reason"),
    [
        *(("c++", *each) for each in _STOPPED.items()),
        *(
            pytest.param("loading", *each, marks=pytest.mark.attacks)
            for each in _STOPPED_WHILE_LOADING.items()
        ),
        *(("python", *each) for each in _STOPPED_IN_PYTHON.items()),
    ],
)
def test_attack_is_stopped(
    kind: str, attack: str, reason: str, objects: dict[str, Path], tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the secret\n")
    environment = {"ATTACK": attack, "SECRET": str(secret)}
    environment |= {"WHILE_LOADING": "1"} if kind == "loading" else {}
    entry = SOURCES / "python/attacks.py" if kind == "python" else objects["attacks"]
    with receiving() as receiver:
        report = send(receiver.port, entry, 60, **environment)
    assert report["status"] == "failed"
    assert reason in report["reason"]
    assert secret.read_text() == "the secret\n"


_OTHER_SENDS = {
    **{way: f"system call {way}," for way in ("write", "writev", "pwritev2", "dup", "dup3")},
    **{way: f"system call {way}," for way in ("fcntl", "sendto", "sendmsg", "sendmmsg")},
    **{way: f"system call {way}," for way in ("sendfile", "splice", "vmsplice", "bind")},
    **dict.fromkeys(("library", "continued", "elsewhere"), "system call sendto,"),
    **dict.fromkeys(("segments", "cork"), "system call setsockopt,"),
}


@pytest.mark.attacks
def test_every_way_out_has_one_size(objects: dict[str, Path]) -> None:
    for way, reason in _OTHER_SENDS.items():
        with receiving() as receiver:
            environment = {"ATTACK": "sends_otherwise", "WAY": way}
            report = send(receiver.port, objects["attacks"], 60, **environment)
            heard = receiver.end()
        assert report["status"] == "failed", way
        assert reason in report["reason"], way
        assert heard["packets_received"] == heard["malformed"] == 0, way


@pytest.mark.parametrize("name", ["controller", "whole_sender"])
def test_sender_in_python_is_acknowledged(name: str) -> None:
    with receiving() as receiver:
        entry = SOURCES / "python" / f"{name}.py"
        report = send(receiver.port, entry, 1, WINDOW="4", KEEPALIVE_MS="100")
    assert report["status"] == "ok", report
    assert 0 < report["acknowledgments"] <= report["packets_sent"]


def test_nobody_answers(objects: dict[str, Path]) -> None:
    with receiving() as receiver:
        port = receiver.port
    report = send(port, objects["kit_sender"], 60)
    assert report["status"] == "failed"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["127.0.0.1"], "HOST PORT is missing"),
        (["127.0.0.1", "9"], "--entry OBJECT is missing"),
        (["127.0.0.1", "0", "--entry", "x"], "port"),
        (["127.0.0.1", "9", "--entry", "/none.so"], "/none.so"),
        (["127.0.0.1", "9", "--entry", "x", "--dialect", "martian"], "no dialect is named"),
    ],
)
def test_bad_words_are_refused(words: list[str], message: str) -> None:
    ended = subprocess.run([ENTRY_SENDER, *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert message in ended.stderr

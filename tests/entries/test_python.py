"""Senders in Python, in virtual time: a class in the kit's loop, or a whole program."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.controllers.emulator import Link
from tests.entries.building import (
    NO_NAMESPACES,
    SOURCES,
    can_refuse_namespaces,
    require_lost,
    require_same_bytes,
    require_twins,
    run_batch,
    scenario_of,
)

PYTHON = SOURCES / "python"
_TWINS: dict[str, dict[str, float]] = {
    "fixed_window": {"window": 50, "keepalive_ms": 1000},
    "aimd_timeout": {"initial_window": 10, "alpha": 0.1, "beta": 1.5, "keepalive_ms": 80},
}


def _scenario(
    link: Link, name: str, environment: dict[str, str], **settings: Any
) -> dict[str, Any]:
    scenario = scenario_of(link, PYTHON / f"{name}.py", environment, **settings)
    scenario["flows"][0]["entry"]["interpreter"] = sys.executable
    return scenario


@pytest.mark.parametrize("rule", sorted(_TWINS))
def test_class_is_its_built_in_twin(rule: str, contest: Link) -> None:
    parameters = _TWINS[rule]
    environment = {
        "WINDOW": str(parameters.get("window", parameters.get("initial_window"))),
        "ALPHA": str(parameters.get("alpha", 0)),
        "BETA": str(parameters.get("beta", 1)),
        "KEEPALIVE_MS": str(parameters["keepalive_ms"]).removesuffix(".0"),
    }
    require_twins(contest, _scenario(contest, "controller", environment), rule, parameters)


_HONEST = {"WINDOW": "5", "KEEPALIVE_MS": "1000"}


def test_batches_change_no_byte(small_link: Link, tmp_path: Path) -> None:
    require_same_bytes(_scenario(small_link, "controller", _HONEST), tmp_path)


def test_whole_sender_runs(small_link: Link) -> None:
    whole, again, its_class = run_batch(
        [
            _scenario(small_link, "whole_sender", {}),
            _scenario(small_link, "whole_sender", {}),
            _scenario(small_link, "controller", _HONEST),
        ]
    )
    assert whole == again
    assert whole["status"] == "ok"
    assert whole["throughput_mbps"] == pytest.approx(its_class["throughput_mbps"], rel=0.01)


_LOST = {
    "open_file": "FileNotFoundError|PermissionError",
    "list_folder": "FileNotFoundError|PermissionError",
    "look_up": "FileNotFoundError|PermissionError",
    "look_up_by_place": "FileNotFoundError|PermissionError",
    "look_up_by_system_call": "unseen$",
    "times_of_output": "times 0$",
    "number": "numbers 1 0 0$",
    "hidden_clock": "SIGSEGV|system call clock_gettime",
    "own_filter": "system call seccomp",
    "write_file": "RuntimeError: written",
    "kill_parent": "system call kill",
    "start_program": "system call pipe2",
    "fork": "system call",
    "remove_file": "system call unlink",
    "thread": "threads, which virtual time lacks",
    "second_socket": "ended by itself, with exit status 1",
    "small_datagram": "a datagram of 48 bytes",
    "own_code_in_a_file": "system call mmap",
    "own_code": "system call mmap",
    "null_pointer": "SIGSEGV",
    "memory": "MemoryError",
    "endless_loop": "s of CPU time",
    "prints_without_end": "s of CPU time",
    "sleeps": "no datagram was delivered",
    "resident_pages": "system call mincore",
    "evicted_pages": r"moved \[-1, -1, -1, -1\]",
    "pages_by_another_read": "system call preadv2",
    "read_past_the_cache": "PermissionError",
    "advised_pages": "system call fadvise64",
    "own_file": r"own \[33060, 0, 0, 1, 1\] 0$",
    "own_file_by_system_call": f"own {'00' * 8} {'00' * 48}$",
    "own_file_by_statx": "unseen$",
    "own_folder": "folder /$",
    "packages": r"packages \[\]$",
    "processes": "FileNotFoundError",
    "host_name": "system call uname",
    "large_pages": "system call mmap",
    "own_report": "a datagram of 72340172838076673 bytes",
    "order_without_waiting": "OSError",
    "order_by_its_size": "OSError",
    "orders_by_select": "system call poll",
    "timer": "system call setitimer",
    "signal_of_its_own": "system call alarm",
    "wait_with_a_limit": "s of CPU time|sleeps outside poll",
    "priority": "system call getpriority",
    "processor": "system call sched_setaffinity",
    "limits": "system call prlimit64",
    "shared_memory": "system call shmget",
    "library_of_the_system": "No such file",
    "compiled_code_of_its_own": "No such file",
    "module_that_is_left_out": "No module named 'asyncio'",
    "descriptors": "Too many open files",
    "end_of_the_emulator": "Bad file descriptor",
}


_OF_EACH_KIND = (
    *("open_file", "number", "hidden_clock", "own_filter", "start_program", "thread", "memory"),
    *("own_code", "endless_loop", "sleeps", "read_past_the_cache", "own_file", "own_report"),
    *("timer", "library_of_the_system", "descriptors"),
)


@pytest.mark.attacks
@pytest.mark.parametrize(
    "attacks",
    [
        pytest.param(_OF_EACH_KIND, id="of each kind"),
        pytest.param((*_LOST,), id="all", marks=pytest.mark.slow),
    ],
)
def test_attacks_lose_their_own_runs_only(
    attacks: tuple[str, ...], small_link: Link, tmp_path: Path
) -> None:
    def hostile(attack: str, secret: Path) -> dict[str, Any]:
        return _scenario(small_link, "attacks", {"ATTACK": attack, "SECRET": str(secret)})

    honest = _scenario(small_link, "controller", _HONEST)
    expected = {attack: _LOST[attack] for attack in attacks}
    require_lost(expected, hostile, honest, tmp_path)


@pytest.mark.attacks
def test_all_runs_see_the_same(small_link: Link, tmp_path: Path) -> None:
    """Observations do not depend on earlier runs, or on the time and the name of the entry's
    file."""

    def run() -> str:
        environment = {"ATTACK": "everything", "SECRET": ""}
        scenario = scenario_of(small_link, entry, environment)
        scenario["flows"][0]["entry"]["interpreter"] = sys.executable
        reason: str = run_batch([scenario])[0]["reason"]
        return reason.split("RuntimeError: ")[1]

    entry = tmp_path / "attacks.py"
    shutil.copy(PYTHON / "attacks.py", entry)
    first = run()
    assert first.startswith("sees ")
    another = tmp_path / "another.py"
    shutil.copy(entry, another)
    another.rename(entry)
    os.utime(entry, (1, 2))
    assert run() == first


def test_a_host_without_namespaces_runs_python_for_the_trusting_alone(small_link: Link) -> None:
    if not can_refuse_namespaces():
        pytest.skip("this host grants no namespaces")
    scenario = _scenario(small_link, "controller", _HONEST)
    confined, trusted = run_batch([scenario, {**scenario, "trust": True}], prefix=NO_NAMESPACES)
    assert confined["status"] == "error"
    assert "namespaces" in confined["reason"] and "--trust-entries" in confined["reason"]
    assert trusted["status"] == "ok"


def test_clocks_and_randomness_are_the_seeds(small_link: Link) -> None:
    environment = {"ATTACK": "clocks", "SECRET": ""}
    output = [
        answer["reason"].split("RuntimeError: ")[1].split()
        for answer in run_batch(
            [_scenario(small_link, "attacks", environment, seed=seed) for seed in (1, 1, 2)]
        )
    ]
    assert output[0] == output[1]
    ours, others = output[1:]
    differ = [one != other for one, other in zip(ours, others, strict=True)]
    drawn = [1, 2, 5]  # further bytes, such as the date, are equal for all runs
    assert [place for place, is_drawn in enumerate(differ) if is_drawn] == drawn


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("class Controller:\n    pass\n", "has no attribute 'timeout_ms'"),
        ("class Controller\n", "SyntaxError"),
        ("import numpy\n", "No module named 'numpy'"),
        ("import another\n", "standard library"),
        ("", "ended by itself, with exit status 0"),
    ],
)
def test_file_that_is_no_sender_fails(
    text: str, reason: str, small_link: Link, tmp_path: Path
) -> None:
    file = tmp_path / "entry.py"
    file.write_text(text)
    scenario = scenario_of(small_link, file)
    scenario["flows"][0]["entry"]["interpreter"] = sys.executable
    answer = run_batch([scenario])[0]
    assert answer["status"] == "failed"
    assert reason in answer["reason"]


def test_interpreter_that_does_not_start_is_no_fault_of_the_entry(small_link: Link) -> None:
    scenario = _scenario(small_link, "controller", _HONEST)
    scenario["flows"][0]["entry"]["interpreter"] = "/bin/false"
    answer = run_batch([scenario])[0]
    assert answer["status"] == "fault"

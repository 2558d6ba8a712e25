"""Contests, entries, emulators and builders are killed at random moments; results stay the same.

Moments and victims are drawn from a seed, which a failure prints.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.code import ROOT
from kneepoint.entries.build import Compiler
from kneepoint.entries.entries import EntryBuilder
from kneepoint.runs.journal import RunJournal
from kneepoint.tools.contest.run import ContestRun
from tests.engines.live_run import descendants, wait_until
from tests.entries.trees import PYTHON_CLASS, kit
from tests.tools.contest.conftest import make_contest_run

pytestmark = pytest.mark.attacks

_MEAN_PAUSE_S = 0.15
_SPARED = ("git", "pytest")
"""Processes that are not killed: neither entries nor hosts nor compilers."""
_ROUNDS = 60
"""The maximum number of rounds, each with several kills."""


class _Killer:
    """Kills this process's descendants in a thread, except descendants of other tests."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._is_over = threading.Event()
        self.victims: list[str] = []
        self._others = set(descendants(os.getpid()))

    @contextmanager
    def at_work(self) -> Iterator[None]:
        self._is_over.clear()
        thread = threading.Thread(target=self._work)
        thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            thread.join()

    def _work(self) -> None:
        while not self._is_over.wait(self._random.expovariate(1 / _MEAN_PAUSE_S)):
            found = [each for each in descendants(os.getpid()) if each not in self._others]
            if not found:
                continue
            with suppress(OSError):  # it has just ended
                victim = os.pidfd_open(self._random.choice(found))
                try:
                    name = Path(f"/proc/{_process_of(victim)}/comm").read_text().strip()
                    if name not in _SPARED:
                        signal.pidfd_send_signal(victim, signal.SIGKILL)
                        self.victims.append(name)
                finally:
                    os.close(victim)


def _process_of(descriptor: int) -> int:
    for line in Path(f"/proc/self/fdinfo/{descriptor}").read_text().splitlines():
        if line.startswith("Pid:"):
            return int(line.split()[1])
    raise ProcessLookupError


def _check_kills(
    kills: int, seed: int, folder: Path, builder: EntryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContestRun, "_draw_runs", lambda *_: {})
    monkeypatch.setattr("kneepoint.tools.contest.run.draw_figures", lambda *_: {})
    entries = folder / "entries"
    for window in (5, 12):
        kit(entries / f"window-{window}", window)
    (entries / "python").mkdir()
    (entries / "python/sender.py").write_text(PYTHON_CLASS)
    contest_run = make_contest_run(folder, builder)
    expected = contest_run.score(entries, lambda _: None)
    killer = _Killer(seed)
    for number in range(_ROUNDS):
        if len(killer.victims) >= kills:
            break
        compiler = Compiler(folder / f"kept-{number}", builder.compiler.confined)
        disturbed = replace(
            contest_run,
            builder=replace(builder, compiler=compiler),
            folder=folder / f"board-{number}",
        )
        with killer.at_work():
            found = disturbed.score(entries, lambda _: None)
        assert all(row["is_disturbed"] for row in found["failed"]), (seed, found["failed"])
        found = disturbed.score(entries, lambda _: None)
        assert _scores(found) == _scores(expected), (seed, killer.victims)
        _check_journal(disturbed.folder / "runs.jsonl")
    assert len(killer.victims) >= kills, (seed, killer.victims)


def _scores(found: dict[str, Any]) -> dict[str, Any]:
    return {key: found[key] for key in ("ranking", "baselines", "failed", "pairs")}


def _check_journal(path: Path) -> None:
    lines = path.read_text().splitlines()[1:]
    assert lines and all('"status":"ok"' in line for line in lines)
    with RunJournal(path) as journal:
        assert len(journal) == len(lines)


@pytest.mark.slow
def test_kills_leave_the_scores_as_they_are(
    tmp_path: Path, builder: EntryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check_kills(4, 1, tmp_path, builder, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 7))
def test_200_kills_leave_the_scores_as_they_are(
    seed: int, tmp_path: Path, builder: EntryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    _check_kills(40, seed, tmp_path, builder, monkeypatch)


def _contest(folder: Path, temporary: Path, options: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Begins a contest, in a process whose folder of temporary files marks its descendants."""
    temporary.mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.tools.contest.attacks.one_contest", folder, *options],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def _bytes_of(board: Path) -> dict[str, bytes]:
    """Returns a contest's pages, feedback and history, which do not depend on the order of runs."""
    return {
        path.relative_to(board).as_posix(): path.read_bytes()
        for path in sorted(board.rglob("*"))
        if path.is_file()
        and path.name not in ("runs.jsonl", "repeated.key")
        and not path.name.endswith(".lock")  # locks contain process ids
    }


def _processes_with(temporary: Path) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has just ended
            if f"TMPDIR={temporary}\0".encode() in place.read_bytes():
                found.append(place.parent.name)
    return found


def _check_kills_of_contests(kills: int, seed: int, folder: Path, *options: str) -> None:
    moments = random.Random(seed)
    temporary = folder / "temporary"
    kit(folder / "whole/entries/anna", 5)
    (folder / "whole/entries/python.py").write_text(PYTHON_CLASS)
    packed = folder / "whole/entries/packed"
    shutil.make_archive(str(packed), "gztar", kit(folder / "packed", 8))
    (folder / "whole/entries/damaged.zip").write_bytes(b"PK")
    shutil.copytree(folder / "whole", folder / "empty")
    began_s = time.monotonic()
    with _contest(folder / "whole", temporary, options) as whole:
        _, complaint = whole.communicate()
    assert whole.returncode == 0, complaint
    lasts_s = time.monotonic() - began_s
    expected = _bytes_of(folder / "whole/board")
    assert len(expected) > 10 and list(temporary.iterdir()) == []
    killed = 0
    while killed < kills:
        shutil.rmtree(folder / "again", ignore_errors=True)
        shutil.copytree(folder / "empty", folder / "again")
        while True:
            with _contest(folder / "again", temporary, options) as contest:
                try:
                    _, complaint = contest.communicate(timeout=moments.uniform(0, 1.2 * lasts_s))
                    break
                except subprocess.TimeoutExpired:
                    contest.kill()
                    killed += 1
            wait_until(lambda: not _processes_with(temporary))
        assert contest.returncode == 0, (seed, killed, complaint)
        found = _bytes_of(folder / "again/board")
        assert found.keys() == expected.keys(), (seed, killed)
        assert [name for name in found if found[name] != expected[name]] == [], (seed, killed)
        assert list(temporary.iterdir()) == [], (seed, killed)
        journal = (folder / "again/board/runs.jsonl").read_text().splitlines()
        assert len(journal) == len(set(journal))


@pytest.mark.slow
def test_kills_of_a_contest_leave_its_bytes_as_they_are(tmp_path: Path) -> None:
    _check_kills_of_contests(2, 1, tmp_path, "undrawn")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 7))
def test_200_kills_of_a_contest_leave_its_bytes_as_they_are(seed: int, tmp_path: Path) -> None:
    _check_kills_of_contests(40, seed, tmp_path)

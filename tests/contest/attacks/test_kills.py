"""Entries, emulators and builders are killed at random moments: scores are as if they had not been.

Moments and victims are drawn from a seed, which a failure prints.
"""

import os
import random
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contest.build import Compiler
from contest.entries import EntryBuilder
from contest.run import ContestRun
from experiments.journal import RunJournal
from tests.contest.conftest import make_contest_run
from tests.contest.trees import PYTHON_CLASS, kit
from tests.engines.live_run import descendants

pytestmark = pytest.mark.attacks

_MEAN_PAUSE_S = 0.15
_SPARED = ("git", "pytest")
"""Neither an entry nor a host nor a compiler."""
_ROUNDS = 60
"""At most; each kills several."""


class _Killer:
    """Kills this process's descendants, in a thread, but for those of other tests."""

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
    monkeypatch.setattr("contest.run.draw_figures", lambda *_: {})
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

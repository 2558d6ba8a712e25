"""A contest of a few seconds."""

from pathlib import Path

import pytest

from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.entries import EntryBuilder, Sender
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.run import ContestRun
from tests.controllers.emulator import EMULATE
from tests.entries.building import link


@pytest.fixture
def contest_run(tmp_path: Path, builder: EntryBuilder) -> ContestRun:
    """A contest in the test's own folder."""
    return make_contest_run(tmp_path, builder)


def make_contest_run(folder: Path, builder: EntryBuilder) -> ContestRun:
    """Returns a contest of two runs on a practice and two final links, with one baseline."""
    rules = {"practice": ("known",), "final": ("slow", "fast"), "disguise": False}
    contest = Contest(title="Test", runs=2, **rules)
    gaps_ms = {"known": 3, "slow": 6, "fast": 2}
    networks = [link(folder, name, gap_ms) for name, gap_ms in gaps_ms.items()]
    titles = {name: name.capitalize() for name in gaps_ms}
    window = load_catalogue(EMULATE).controller("fixed_window", "test")
    baseline = Sender(
        "fixed_window 20", controller=(window, window.complete({"window": 20}, "test"))
    )
    engine = EmulatorSettings.of(EMULATE)
    board = folder / "board"
    return ContestRun(contest, networks, titles, [baseline], engine, builder, board, folder)

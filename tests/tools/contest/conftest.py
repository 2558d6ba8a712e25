"""A contest of a few seconds: two short links, and a builder whose objects all tests share."""

from pathlib import Path

import pytest

from kneepoint.common.code import ROOT
from kneepoint.common.files import sha256_of
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.networks.omniscient import omniscient_bound
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.tools.contest.build import Compiler
from kneepoint.tools.contest.command import python_digest
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.confine import Confined
from kneepoint.tools.contest.entries import ContestEntry, EntryBuilder
from kneepoint.tools.contest.run import ContestRun
from tests.controllers.conftest import contest

__all__ = ["contest"]  # a fixture

EMULATE, RUNNER = ROOT / "build/emulate", ROOT / "build/entry"
SECONDS = 4


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> EntryBuilder:
    """Builds entries, each source once, and in the standard whose headers are short."""
    confined = Confined(ROOT / "build/confine")
    kept = tmp_path_factory.mktemp("kept")
    compiler = Compiler(kept, confined, standards=["-std=gnu++14"])
    return EntryBuilder(compiler, sha256_of(RUNNER.read_bytes()), python_digest())


def link(folder: Path, name: str, gap_ms: int, pause_ms: int = 100) -> PreparedNetwork:
    """A link that delivers a packet every gap_ms, with a pause in each second."""
    times = [t for t in range(1, SECONDS * 1000 + 1) if t % gap_ms == 0 and t % 1000 >= pause_ms]
    trace = folder / f"{name}.trace"
    trace.write_text("".join(f"{time}\n" for time in times))
    side = PreparedLink(str(trace), sha256_of(trace.read_bytes()))
    bound = omniscient_bound(times, times[-1])
    return PreparedNetwork(name, side, side, None, "event-loop", 600, bound)


@pytest.fixture
def contest_run(tmp_path: Path, builder: EntryBuilder) -> ContestRun:
    """An contest_run in the test's own folder."""
    return make_contest_run(tmp_path, builder)


def make_contest_run(folder: Path, builder: EntryBuilder) -> ContestRun:
    """Holds a contest of two runs on a practice and two final links, with one baseline."""
    rules = {"practice": ("known",), "final": ("slow", "fast"), "disguise": False}
    contest = Contest(title="Test", runs=2, **rules)
    gaps_ms = {"known": 3, "slow": 6, "fast": 2}
    networks = [link(folder, name, gap_ms) for name, gap_ms in gaps_ms.items()]
    titles = {name: name.capitalize() for name in gaps_ms}
    window = load_catalogue(EMULATE).controller("fixed_window", "test")
    baseline = ContestEntry(
        "fixed_window 20", controller=(window, window.complete({"window": 20}, "test"))
    )
    engine = EmulatorSettings.of(EMULATE)
    board = folder / "board"
    return ContestRun(contest, networks, titles, [baseline], engine, builder, board, folder)

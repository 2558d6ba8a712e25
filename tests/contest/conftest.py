"""A contest of a few seconds: two short links, and a builder whose objects all tests share."""

from pathlib import Path

import pytest

from common.code import ROOT
from common.files import sha256_of
from contest.build import Compiler
from contest.config import Contest
from contest.confine import Confined
from contest.entries import ContestEntry, EntryBuilder
from contest.run import ContestRun
from contest.scoring import Place
from engines.catalogue import load_catalogue
from engines.emulator import EmulatorSettings
from kneepoint.contest import python_digest
from networks.omniscient import omniscient_bound
from networks.scenario import PreparedLink, PreparedNetwork
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


def place(folder: Path, name: str, gap_ms: int, *, is_public: bool, pause_ms: int = 100) -> Place:
    """A link that delivers a packet every gap_ms, with a pause in each second."""
    times = [t for t in range(1, SECONDS * 1000 + 1) if t % gap_ms == 0 and t % 1000 >= pause_ms]
    trace = folder / f"{name}.trace"
    trace.write_text("".join(f"{time}\n" for time in times))
    link = PreparedLink(str(trace), sha256_of(trace.read_bytes()))
    bound = omniscient_bound(times, times[-1])
    network = PreparedNetwork(name, link, link, None, "event-loop", 600, bound)
    return Place(network, name.capitalize(), is_public)


@pytest.fixture
def contest_run(tmp_path: Path, builder: EntryBuilder) -> ContestRun:
    """An contest_run in the test's own folder."""
    return make_contest_run(tmp_path, builder)


def make_contest_run(folder: Path, builder: EntryBuilder) -> ContestRun:
    """Holds a contest of two runs on a public and two unseen links, with one baseline."""
    contest = Contest(title="Test", public="known", unseen=("slow", "fast"), runs=2)
    places = [
        place(folder, "known", 3, is_public=True),
        place(folder, "slow", 6, is_public=False),
        place(folder, "fast", 2, is_public=False),
    ]
    window = load_catalogue(EMULATE).controller("fixed_window", "test")
    baseline = ContestEntry(
        "fixed_window 20", controller=(window, window.complete({"window": 20}, "test"))
    )
    engine = EmulatorSettings.of(EMULATE)
    return ContestRun(contest, places, [baseline], engine, builder, folder / "board", folder)

"""The memory of a large grid is a few kilobytes per trial, independent of its runs.

`python -m tests.benchmarks.grid_memory` measures a whole workflow.
"""

import tracemalloc
from pathlib import Path

from tests.experiments.fakes import FakeEngine, plan
from tests.search.test_loop import search, tables

MAX_BYTES = 8 * 1024
"""Per trial: 100,000 trials take 800 MiB, and the rest of a workflow less than that."""


def peak_of(folder: Path, trials: int) -> int:
    folder.mkdir()
    planned = plan(space={"window": {"values": list(range(1, trials + 1))}})
    tracemalloc.start()
    try:
        found = search(folder, planned, FakeEngine())
        tables(folder, planned, found)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_trial_takes_a_few_kilobytes(tmp_path: Path) -> None:
    peak_of(tmp_path / "first", 20)  # imports modules, which must not count
    few, many = peak_of(tmp_path / "few", 100), peak_of(tmp_path / "many", 400)
    assert 0 < (many - few) / 300 < MAX_BYTES

"""Late senders on links where the best window is known."""

import numpy as np
import pytest

from tests.benchmarks import late_senders
from tests.benchmarks.late_senders import BLOCK_MS, LateLink

END_MS = 20_000
EVERYWHERE = np.ones(END_MS + 1, bool)


@pytest.fixture(autouse=True)
def _small_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_senders, "GENERATIONS", 8)
    monkeypatch.setattr(late_senders, "POPULATION", 24)


def test_on_a_steady_link_the_past_says_all() -> None:
    """One packet per millisecond: a window of one round trip delays each packet by 1 ms."""
    link = LateLink(np.array([1]), END_MS, 40)
    most = 1504 * 8 / 1000 / 0.001
    # A late start, and a window that is briefly a packet too wide, cost little.
    assert link.powers(link.fit(EVERYWHERE), EVERYWHERE)[0] == pytest.approx(most, rel=0.01)
    # 10 ms is the minimum delay that a forecast aims at.
    forecast = link.powers(link.forecasts(), EVERYWHERE).max()
    assert forecast == pytest.approx(most / 10, rel=0.01)


def test_unknown_changes_of_the_rate_cost_power() -> None:
    """A rate that changes every 200 ms: half of a change is seen too late."""
    random = np.random.default_rng(1)
    rates = np.repeat(random.choice([0.1, 1.0], END_MS // 200), 200)
    times_ms = np.flatnonzero(random.random(END_MS) < rates) + 1
    links = [LateLink(times_ms, END_MS, round_trip_ms) for round_trip_ms in (120, 20)]
    late, sooner = (link.powers(link.fit(EVERYWHERE), EVERYWHERE)[0] for link in links)
    assert late < 0.8 * sooner
    for link, fitted in zip(links, (late, sooner), strict=True):
        assert link.powers(link.forecasts(), EVERYWHERE).max() < fitted


def test_blocks_count_by_themselves() -> None:
    """Blocks of 10 s alternate between a rate and a tenth of it."""
    times_ms = [t for t in range(1, END_MS + 1) if t // BLOCK_MS % 2 or t % 10 == 0]
    link = LateLink(np.array(times_ms), END_MS, 40)
    even = np.arange(END_MS + 1) // BLOCK_MS % 2 == 0
    windows = link.fit(even)
    assert link.powers(windows, even)[0] < 0.5 * link.powers(windows, ~even)[0]

"""Late senders on links where the best window is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.networks.late import Late, late_senders
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork

IDEAL = PreparedNetwork("link", PreparedLink(), PreparedLink(), 30, "ideal", 0)


def network_of(folder: Path, times_ms: list[int], delay_ms: float = 20) -> PreparedNetwork:
    trace = folder / "trace"
    trace.write_text("".join(f"{each}\n" for each in times_ms))
    link = PreparedLink(str(trace), delay_ms=delay_ms)
    return replace(IDEAL, uplink=link, downlink=link)


@pytest.mark.parametrize("delay_ms", [5, 20])
def test_on_a_steady_link_the_past_says_all(tmp_path: Path, delay_ms: float) -> None:
    """One packet a millisecond: with the round trip in flight none waits beyond the next one."""
    found = late_senders(network_of(tmp_path, [1], delay_ms))
    most = 1504 * 8 / 1000 / 0.001
    # A window that starts late, and one that is a packet too wide for a moment, cost little.
    assert found.late_power == pytest.approx(most, rel=0.01)
    assert found.late_odd_power == pytest.approx(most, rel=0.01)
    # A delay of 10 ms is the least that a forecast is asked for.
    assert found.forecast_power == pytest.approx(most / 10, rel=0.01)


def test_what_cannot_be_known_costs_power(tmp_path: Path) -> None:
    """A rate that changes in 200 ms to another one: half of a second's changes is seen too late."""
    random = np.random.default_rng(1)
    rates = np.repeat(random.choice([0.1, 1.0], 150), 200)
    times_ms = (np.flatnonzero(random.random(30_000) < rates) + 1).tolist()
    late, sooner = (late_senders(network_of(tmp_path, times_ms, delay)) for delay in (60, 10))
    assert late.late_power is not None and sooner.late_power is not None
    assert late.late_power < 0.8 * sooner.late_power
    for found in (late, sooner):
        assert found.forecast_power is not None and found.late_power is not None
        assert found.forecast_power < found.late_power


def test_every_other_block_counts_by_itself(tmp_path: Path) -> None:
    """The blocks from 0 and 20 s have a tenth of the others' rate."""
    times_ms = [t for t in range(1, 30_001) if t // 10_000 % 2 or t % 10 == 0]
    found = late_senders(network_of(tmp_path, times_ms))
    assert found.late_even_power is not None and found.late_odd_power is not None
    assert found.late_even_power < 0.5 * found.late_odd_power


def test_a_link_of_constant_rate_and_a_short_run_have_none(tmp_path: Path) -> None:
    assert late_senders(replace(IDEAL, uplink=PreparedLink(rate_mbps=8))) == Late()
    assert late_senders(replace(network_of(tmp_path, [1]), duration_s=12)) == Late()


def test_a_damaged_trace_is_named(tmp_path: Path) -> None:
    network = network_of(tmp_path, [5, 4])
    with pytest.raises(KneepointError, match=str(tmp_path / "trace")):
        late_senders(network)

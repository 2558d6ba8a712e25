"""Disguised recordings: the properties of a link that they keep, and that they change."""

from itertools import pairwise

import numpy as np
import pytest

from kneepoint.networks.disguise import disguise

_MS = 60_000


def recording(seed: int) -> list[int]:
    """A minute of Poisson opportunities at 500/s and then 100/s, with an outage of 3 s."""
    rng = np.random.default_rng(seed)
    fast = rng.integers(1, _MS // 2, 15_000)
    slow = rng.integers(_MS // 2, _MS, 3_000)
    times = np.sort(np.concatenate([fast, slow, [_MS]]))
    return [int(time) for time in times[(times < 40_000) | (times > 43_000)]]


UPLINK, DOWNLINK = recording(1), recording(2)


@pytest.mark.parametrize("seed", ["a", "b", "c"])
def test_rates_and_outages_stay(seed: str) -> None:
    uplink, downlink = disguise(UPLINK, DOWNLINK, seed)
    for before, after in ((UPLINK, uplink), (DOWNLINK, downlink)):
        assert after == sorted(after) and after[0] >= 0
        assert len(after) == len(before)
        assert after[-1] == pytest.approx(_MS, rel=0.01)
        longest = max(b - a for a, b in pairwise(after))
        assert longest == pytest.approx(max(b - a for a, b in pairwise(before)), rel=0.06)
        rates = [np.sort(np.histogram(each, 60, (0, _MS))[0]) for each in (before, after)]
        assert np.median(rates[1][40:]) == pytest.approx(np.median(rates[0][40:]), rel=0.05)
    outages = [max(pairwise(each), key=lambda gap: gap[1] - gap[0]) for each in (uplink, downlink)]
    assert outages[0] == pytest.approx(outages[1], abs=150), "both directions belong together"


def test_equal_seeds_make_equal_links_and_others_do_not() -> None:
    assert disguise(UPLINK, DOWNLINK, "a") == disguise(UPLINK, DOWNLINK, "a")
    assert disguise(UPLINK, DOWNLINK, "a") != disguise(UPLINK, DOWNLINK, "b")


def test_opportunities_are_where_the_recording_does_not_tell() -> None:
    """Even at the best alignment, no more milliseconds agree than with another minute."""
    uplink, _ = disguise(UPLINK, DOWNLINK, "a")

    def agreement(one: list[int], other: list[int]) -> float:
        signals = [np.bincount(each, minlength=2 * _MS)[: 2 * _MS] > 0 for each in (one, other)]
        spectra = [np.fft.rfft(signal.astype(float)) for signal in signals]
        return float(np.fft.irfft(spectra[0] * np.conj(spectra[1])).max()) / len(set(one))

    chance = agreement(recording(3), UPLINK)
    assert agreement(UPLINK, UPLINK) == pytest.approx(1)
    assert agreement(uplink, UPLINK) < 1.15 * chance


def test_a_short_recording_is_refused() -> None:
    with pytest.raises(ValueError, match="too short"):
        disguise(UPLINK[:1000], DOWNLINK, "a")

"""Settings across networks, worked by hand."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kneepoint.questions.held_out import across


def varied(powers: list[float], runs: int, seed: int = 2) -> np.ndarray:
    """Runs on networks with these powers and a deviation of 5 %; shape (1, networks, runs)."""
    noise = np.random.default_rng(seed).standard_normal((len(powers), runs))
    return (np.array(powers)[:, None] * (1 + 0.05 * noise))[None]


BOUNDS = pd.Series({"a": 20.0, "b": 50.0})


def test_the_interval_is_of_the_geometric_mean_of_the_means() -> None:
    values = varied([0.1, 0.4], 8)
    (line,) = across.intervals(values, [5], BOUNDS).to_dict("records")
    mean = math.sqrt(float(values[0].mean(axis=1).prod()))
    assert line["held_out_low"] < mean < line["held_out_high"]
    assert line["held_out_high"] / line["held_out_low"] == pytest.approx(1.05, abs=0.03)
    assert (line["trial"], line["repeats"]) == (5, 8)
    logs = np.log(values[0] * [[20], [50]])
    assert line["log_power"] == pytest.approx(logs.mean())
    assert line["log_power_low"] < line["log_power"] < line["log_power_high"]
    width = (line["log_power_high"] - line["log_power_low"]) / 2
    error = math.sqrt((logs.var(axis=1, ddof=1) / 8).sum()) / 2
    assert 2 * error < width < 3 * error  # the width of a t interval


def test_one_run_draws_no_interval_and_a_mean_of_nothing_neither() -> None:
    for values in (varied([0.1, 0.4], 1), np.array([[[0.0, 0.0], [1.0, 1.1]]])):
        line = across.intervals(values, [0], BOUNDS)
        assert line[["held_out_low", "held_out_high", "log_power_low"]].isna().all(axis=None)
    assert across.profiles(varied([0.1, 0.4], 1), [0])["low"].isna().all()


def test_a_gain_has_an_interval_over_networks_and_one_of_seeds_alone() -> None:
    before = varied([0.1, 0.4, 0.2, 0.3, 0.5, 0.6, 0.7], 6)
    factors = np.array([1.5, 0.9, 1.2, 1.1, 0.8, 1.4, 1.3])
    values = np.concatenate([before, before * factors[:, None]])
    twice = pd.DataFrame({"published_trial": [0, 0], "tuned_trial": [1, 1]})
    line, same = across.paired_gains(twice, values, [0, 1]).to_dict("records")
    judge = stats.ttest_1samp(np.log(factors), 0).confidence_interval()
    assert np.log1p([line["gain_low"], line["gain_high"]]) == pytest.approx([*judge])
    flips = stats.permutation_test(
        (np.log(factors),), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert line["gain_p"] == same["gain_p"] == pytest.approx(2 * flips.pvalue)  # by Holm
    center = math.exp(np.log(factors).mean()) - 1
    assert (line["seeds_low"], line["seeds_high"]) == (pytest.approx(center),) * 2
    unknown = across.paired_gains(twice.assign(tuned_trial=9), values, [0, 1])
    assert unknown[["gain_low", "gain_p", "seeds_low"]].isna().all(axis=None)


def test_one_network_tells_nothing_of_others() -> None:
    before = varied([0.1], 6)
    values = np.concatenate([before, 1.5 * varied([0.1], 6, seed=3)])
    pair = pd.DataFrame({"published_trial": [0], "tuned_trial": [1]})
    (line,) = across.paired_gains(pair, values, [0, 1]).to_dict("records")
    assert all(math.isnan(line[name]) for name in ("gain_low", "gain_high", "gain_p"))
    assert 0.3 < line["seeds_low"] < line["seeds_high"] < 0.7


def test_settings_are_behind_the_one_of_the_greatest_geometric_mean() -> None:
    values = varied([0.1, 0.4, 0.2, 0.3, 0.5, 0.6], 4)
    factors = np.array([0.5, 0.4, 0.6, 0.55, 0.45, 0.5])
    failing = np.zeros_like(values)
    settings = np.concatenate([failing, values * factors[:, None], values])
    failed, worse, best = across.behind(settings, [3, 4, 5]).to_dict("records")
    assert (failed["trial"], best["trial"], best["behind"]) == (3, 5, 0)
    assert math.isnan(failed["behind"]) and math.isnan(best["behind_p"])
    judge = stats.ttest_1samp(np.log(factors), 0)
    assert math.log1p(worse["behind"]) == pytest.approx(np.log(factors).mean())
    ends = np.log1p([worse["behind_low"], worse["behind_high"]])
    assert ends == pytest.approx([*judge.confidence_interval()])
    assert worse["behind_p"] == 2 / 2**6  # the only other setting with a known p value


@pytest.mark.parametrize(
    ("values", "at_the_best", "within_twice"),
    [
        ([[[3, 5], [2, 2], [0, 0]], [[2, 2], [1, 3], [5, 5]]], [2 / 3, 2 / 3], [2 / 3, 1]),
        (
            [[[0, 0], [1, 1]], [[0, 0], [2, 2]]],
            [0, 0.5],
            [0.5, 0.5],
        ),  # every setting fails on the first network
    ],
)
def test_profiles_count_networks_within_a_factor_of_the_best(
    values: list[list[list[float]]], at_the_best: list[float], within_twice: list[float]
) -> None:
    found = across.profiles(np.array(values, dtype=float), [0, 1])
    assert found["trial"].tolist() == [0] * len(across.FACTORS) + [1] * len(across.FACTORS)
    share = found.set_index("factor")["share"]
    assert share[1.0].tolist() == pytest.approx(at_the_best)
    assert share[2.0].tolist() == pytest.approx(within_twice)


def test_duels_count_networks_and_correct_for_the_number_of_pairs() -> None:
    noise = 1 + np.arange(8) / 1000
    one = np.arange(1.0, 9)  # networks
    by_network = np.array([one, [*(1.5 * one[:7]), 7.9], one])  # settings, networks
    found = across.duels(by_network[:, :, None] * noise, [7, 8, 9]).set_index(["trial", "other"])
    assert found["ahead"].tolist() == [1, 7, 0, 0, 7, 1]  # 7 and 8, 7 and 9, 8 and 9, both ways
    assert set(found["networks"]) == {8}
    p = found["p"].to_dict()
    assert p[7, 9] == 1  # equal settings
    assert (
        p[7, 8] == p[8, 7] == 3 * 4 / 2**8
    )  # 7 of 8 networks agree, and the eighth differs least; corrected by Holm
    failed = across.duels(np.array([[[1.0, 1]], [[0.0, 0]]]), [7, 8])
    assert failed["ahead"].tolist() == [1, 0] and failed["p"].isna().all()


@pytest.mark.parametrize(
    ("values", "middle", "varies"),
    [
        ([[1, 8, 2, 7], [3, 6, 4, 500]], (3 + 4 + 6 + 7) / 4, True),
        ([[1, 2, 3, 4, 100]], 3, True),  # one value is cut at each end
        ([[1] * 4, [2] * 4, [30] * 4], 6.5, False),  # no spread between seeds
    ],
)
def test_the_interquartile_mean_is_that_of_the_middle_half(
    values: list[list[float]], middle: float, varies: bool
) -> None:
    bounds = pd.Series(1.0, range(len(values)))
    (line,) = across.intervals(np.array([values], dtype=float), [0], bounds).to_dict("records")
    assert line["middle"] == pytest.approx(middle)
    assert line["middle_low"] <= line["middle"] <= line["middle_high"]
    assert (line["middle_low"] < line["middle_high"]) == varies

"""Properties of the posterior: shrinkage, and calibrated probabilities."""

import math

import numpy as np
import pytest
from optuna.distributions import FloatDistribution
from scipy.stats import chi2, kstest

from kneepoint.stats.posterior import (
    Hypothesis,
    Measured,
    Posterior,
    coordinates,
    hypotheses_of_search,
    smooth,
)

NOISE = 0.02
LINE = np.linspace(-2, 2, 41)[:, None]


def measured(values: np.ndarray, counts: int = 1, seed: int = 1) -> Measured:
    random = np.random.default_rng(seed)
    return Measured.empty(len(values)).with_values(
        (k, value + NOISE * random.standard_normal())
        for _ in range(counts)
        for k, value in enumerate(values)
    )


def believed(known: Measured) -> Posterior:
    return Posterior.from_hypotheses(hypotheses_of_search(LINE, known), known)


def test_means_and_squares_are_those_of_the_values() -> None:
    values = [3.0, 3.5, 4.75, 2.0]
    known = Measured.empty(3).with_values([(1, value) for value in values] + [(2, 7.0)])
    assert known.counts.tolist() == [0, 4, 1]
    assert known.means[1:] == pytest.approx([np.mean(values), 7.0])
    assert known.squares == pytest.approx([0, np.var(values) * 4, 0])


def test_one_setting_is_shrunk_as_conjugate_normals_are() -> None:
    prior = Hypothesis(np.array([1.0]), np.array([[0.09]]), np.array([0.04]))
    known = Measured.empty(1).with_values([(0, 2.0), (0, 2.4)])
    told = prior.conditioned_on(known)
    share = 0.09 / (0.09 + 0.04 / 2)
    assert told.mean == pytest.approx([1 + share * 1.2])
    assert told.covariance == pytest.approx(np.array([[0.09 * (1 - share)]]))
    assert prior.p_value(known) == pytest.approx(chi2.sf(1.2**2 / 0.11, 1))
    values = np.array([2.0, 2.4])  # both values have a joint density: evidence lacks its constants
    joint = np.array([[0.13, 0.09], [0.09, 0.13]])
    density = -0.5 * (values - 1) @ np.linalg.solve(joint, values - 1)
    density -= 0.5 * math.log(np.linalg.det(joint))
    other = Hypothesis(np.array([1.2]), np.array([[0.25]]), np.array([0.01]))
    joint = np.array([[0.26, 0.25], [0.25, 0.26]])
    against = -0.5 * (values - 1.2) @ np.linalg.solve(joint, values - 1.2)
    against -= 0.5 * math.log(np.linalg.det(joint))
    found = prior.evidence(known) - other.evidence(known)
    assert found == pytest.approx(density - against, abs=1e-6)


@pytest.mark.parametrize("along", [None, np.stack([np.ones(9), np.arange(9)], axis=1)])
def test_a_right_prior_surprises_as_often_as_it_says(along: np.ndarray | None) -> None:
    prior = Hypothesis(np.zeros(9), 0.5 + smooth(LINE[:9], 1.0), np.full(9, 0.2))
    random, root = np.random.default_rng(7), np.linalg.cholesky(prior.covariance)
    found = []
    for _ in range(400):
        true = root @ random.standard_normal(9)
        values = [(k, true[k] + math.sqrt(0.2) * random.standard_normal()) for k in (1, 2, 5, 5, 8)]
        found.append(prior.p_value(Measured.empty(9).with_values(values), along))
    assert kstest(found, "uniform").pvalue > 0.01


def test_what_all_share_surprises_most_in_its_own_direction() -> None:
    prior = Hypothesis(np.zeros(9), 0.01 * np.eye(9) + 0.01, np.full(9, 0.01))
    known = Measured.empty(9).with_values((k, 0.25) for k in range(9))
    assert prior.p_value(known, np.ones((9, 1))) < 0.05 < prior.p_value(known)


def test_the_luckiest_is_not_the_best() -> None:
    true = 3 - 0.01 * LINE[:, 0] ** 2
    losses, lucky = [], []
    for seed in range(30):
        known = measured(true, seed=seed)
        losses.append(3 - true[believed(known).mean.argmax()])
        lucky.append(3 - true[known.means.argmax()])
        assert believed(known).mean.max() < known.means.max()
    assert np.mean(losses) < 0.5 * np.mean(lucky)


@pytest.mark.slow
def test_probabilities_are_right_as_often_as_they_say() -> None:
    said, right = [], []
    for seed in range(120):
        random = np.random.default_rng(1000 + seed)
        root = np.linalg.cholesky(smooth(LINE, 1.5) + 1e-9 * np.eye(len(LINE)))
        true = 3 + 0.03 * root @ random.standard_normal(len(LINE))
        verdict = believed(measured(true, seed=seed)).verdict(seed)
        said.append(verdict.within)
        right.append(true[verdict.recommended] >= true.max() + math.log(0.99))
        assert verdict.best.sum() == pytest.approx(1)
    assert np.mean(right) == pytest.approx(np.mean(said), abs=0.12)


def test_repeats_go_to_what_may_be_best_and_decide_it() -> None:
    true = 3 - 0.02 * LINE[:, 0] ** 2
    known = measured(true, counts=2)
    before = believed(known)
    chosen = before.choose(200, seed=3)
    assert chosen == before.choose(200, seed=3) != before.choose(200, seed=4)
    assert np.abs(LINE[chosen, 0]).mean() < 0.7
    random = np.random.default_rng(5)
    after = believed(
        known.with_values((k, true[k] + NOISE * random.standard_normal()) for k in chosen)
    )
    assert after.verdict(1).within > max(0.95, before.verdict(1).within - 0.01)


def test_half_of_the_repeats_doubt_the_best() -> None:
    clear = Posterior((Hypothesis(np.array([1.0, 0.9]), np.diag([0, 1.4e-3]), np.ones(2)),))
    assert np.mean([clear.choose(4, seed).count(1) == 2 for seed in range(50)]) > 0.9
    assert np.mean([clear.choose(1, seed) for seed in range(200)]) == pytest.approx(0.5, abs=0.15)


def test_a_peak_of_one_setting_alone_is_not_smoothed_away() -> None:
    true = 3 - 0.02 * LINE[:, 0] ** 2
    true[31] += 0.1
    for seed in range(5):
        posterior = believed(measured(true, counts=3, seed=seed))
        assert posterior.mean.argmax() == 31
        assert posterior.mean[31] == pytest.approx(true[31], abs=0.06)


def test_only_the_measured_are_recommended() -> None:
    known = Measured.empty(41).with_values([(0, 3.0), (1, 3.2)])
    line = Hypothesis(np.full(41, 3.0), smooth(LINE, 6.0), np.full(41, NOISE**2))
    posterior = Posterior.from_hypotheses([line], known)
    assert posterior.mean[2] >= posterior.mean[1]
    assert posterior.verdict(1, known.counts).recommended == 1


def test_distances_count_in_the_spread_of_settings() -> None:
    space = {"a": FloatDistribution(1, 100, log=True), "b": FloatDistribution(0, 1)}
    at = coordinates(space, [{"a": 1, "b": 0.5}, {"a": 10, "b": 0.5}, {"a": 100, "b": 0.5}])
    assert at[:, 1].tolist() == [0, 0, 0]
    assert at[:, 0] == pytest.approx([-math.sqrt(1.5), 0, math.sqrt(1.5)])

"""Ranks and verdicts, for scores with a known truth."""

import numpy as np
import pytest

from kneepoint.stats.means import mean_of
from kneepoint.tools.contest.standing import (
    compare_pairs,
    interval_of,
    outcomes_of,
    rank_entries,
    spread_of,
)

NETWORKS, RUNS = 4, 8


def scores_of(means: list[float], spread: float, seed: int = 1) -> np.ndarray:
    generator = np.random.default_rng(seed)
    noise = generator.normal(0, spread, (len(means), NETWORKS, RUNS))
    return np.array(means)[:, None, None] * np.exp(noise)


def test_clear_differences_give_sure_ranks() -> None:
    scores = scores_of([10, 30, 20], 0.01)
    standings = rank_entries(scores, 1, is_ratio=True)
    assert [each["rank"] for each in standings] == [3, 1, 2]
    assert [(each["best_rank"], each["worst_rank"]) for each in standings] == [
        (3, 3),
        (1, 1),
        (2, 2),
    ]
    assert standings[1]["first"] == 1.0
    low, high = interval_of(scores[1], 1, is_ratio=True)
    assert low < 30 < high
    assert mean_of(scores[1], is_ratio=True) == pytest.approx(30, rel=0.01)


def test_equal_entries_share_ranks_and_are_not_told_apart() -> None:
    same = np.ones((2, NETWORKS, RUNS))
    standings = rank_entries(same, 1, is_ratio=True)
    assert [(each["rank"], each["first"]) for each in standings] == [(1, 0.5), (1, 0.5)]
    (pair,) = compare_pairs("ab", same, 1, is_ratio=True)
    assert pair["better"] is None and pair["p_holm"] == 1 and pair["ahead"] == 0.5


def test_one_network_alone_is_no_proof_for_others() -> None:
    """A is better on three networks and worse on one: on other networks it may be worse."""
    scores = scores_of([10, 10], 0.001)
    scores[0, :3] *= 1.2
    scores[0, 3] /= 1.2
    (pair,) = compare_pairs("abcd", scores, 1, is_ratio=True)
    assert pair["better"] == "a", "on these networks A is better, and surely so"
    assert 0.5 < pair["ahead"] < 0.95, "on others such as these it need not be"


def test_the_variance_is_split_between_entries_and_runs() -> None:
    generator = np.random.default_rng(1)
    entries = generator.normal(0, 0.4, (2000, 1))
    scores = np.exp(entries + generator.normal(0, 0.3, (2000, 5)))
    spread = spread_of(scores, is_ratio=True)
    assert spread["between"] == pytest.approx(0.4, rel=0.05)
    assert spread["within"] == pytest.approx(0.3, rel=0.05)
    assert spread["share"] == pytest.approx(0.16 / 0.25, rel=0.05)


def test_equal_entries_are_rarely_told_apart() -> None:
    """In 200 contests among four equal entries, about 5 % may distinguish a pair."""
    wrong = sum(
        any(pair["better"] is not None for pair in compare_pairs("abcd", scores, 1, is_ratio=True))
        for scores in (scores_of([10] * 4, 0.1, seed)[:, :2] for seed in range(200))
    )
    assert wrong <= 20


def test_verdicts_do_not_depend_on_when_they_are_made() -> None:
    scores = scores_of([10, 10.2, 9.9], 0.05)
    assert compare_pairs("abcd", scores, 7, is_ratio=True) == compare_pairs(
        "abcd", scores, 7, is_ratio=True
    )


def test_two_outcomes_are_told_from_noise() -> None:
    missed = np.array([28.0, 27.8, 3.4, 28.5])
    assert outcomes_of(missed, is_ratio=True) == [
        {"score": pytest.approx(3.4), "runs": 1},
        {"score": pytest.approx(28.1, rel=0.01), "runs": 3},
    ]
    low, high = outcomes_of(np.array([6.2, 6.3, 10.5, 6.2, 9.1, 9.2, 6.2, 9.1]), is_ratio=True)
    assert (low["runs"], high["runs"]) == (4, 4)
    assert outcomes_of(missed[:3], is_ratio=True) == [], "three runs tell nothing"
    assert outcomes_of(np.full(8, 5.0), is_ratio=True) == []
    assert outcomes_of(np.zeros(8), is_ratio=False) == []
    generator = np.random.default_rng(1)
    for runs in (4, 5, 8, 16):
        noise = np.exp(generator.normal(0, 0.5, (1000, runs)))
        assert sum(bool(outcomes_of(scores, is_ratio=True)) for scores in noise) <= 20

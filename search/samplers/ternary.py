"""Ternary search: compares the scores at both thirds of the bracket and drops the worse third."""

from collections.abc import Sequence

from kneepoint.search.samplers.bracket import BracketSampler, Scores


class TernarySampler(BracketSampler):
    """Ternary search of one parameter (see BracketSampler); asks both thirds at once.

    For integers it finds the exact peak if there is only one: a bracket of at most three integers
    is evaluated completely.
    """

    def propose_integers(self, low: int, high: int, score_at: Scores) -> Sequence[int]:
        """Returns the integers to evaluate next (see BracketSampler)."""
        while high - low >= 3:
            third = (high - low) // 3
            left, right = low + third, high - third
            at_left, at_right = score_at(left), score_at(right)
            if at_left is None or at_right is None:
                return [place for place in (left, right) if score_at(place) is None]
            # Both scores are known; the better of the two remains among the trials.
            low = left + 1 if at_left <= at_right else low
            high = right - 1 if at_right <= at_left else high
        return [place for place in range(low, high + 1) if score_at(place) is None]

    def propose_reals(self, tolerance: float, score_at: Scores) -> Sequence[float]:
        """Returns the fractions of the range to evaluate next (see BracketSampler)."""
        low, high = 0.0, 1.0
        while high - low > tolerance:
            third = (high - low) / 3
            left, right = low + third, high - third
            at_left, at_right = score_at(left), score_at(right)
            if at_left is None or at_right is None:
                return [place for place in (left, right) if score_at(place) is None]
            low = left if at_left <= at_right else low
            high = right if at_right <= at_left else high
        return []

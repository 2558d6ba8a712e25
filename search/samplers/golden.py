"""Golden-section search: each step reuses one of its two scores (Kiefer 1953)."""

import math
from collections.abc import Sequence

from kneepoint.search.samplers.bracket import BracketSampler, Scores

_RATIO = (math.sqrt(5) - 1) / 2


class GoldenSectionSampler(BracketSampler):
    """Golden-section search of one parameter: two values at first, then one per step.

    For integers it is a Fibonacci search, which finds the exact peak if there is only one.
    """

    def propose_integers(self, low: int, high: int, score_at: Scores) -> Sequence[int]:
        """Returns the integers to evaluate next (see BracketSampler).

        The bracket is the open interval from `start` to `start + long`; values beyond `high` count
        as worst and are never evaluated.
        """

        def known(place: int) -> float | None:
            return score_at(place) if place <= high else -math.inf

        start, short, long = low - 1, 1, 1
        while long < high - low + 2:
            short, long = long, short + long
        while long > 2:
            left, right = start + long - short, start + short
            at_left, at_right = known(left), known(right)
            if at_left is None or at_right is None:
                return [place for place in (left, right) if known(place) is None]
            if at_left < at_right:
                start = left
            short, long = long - short, short
        return [place for place in (start + 1,) if known(place) is None]

    def propose_reals(self, tolerance: float, score_at: Scores) -> Sequence[float]:
        """Returns the fractions of the range to evaluate next (see BracketSampler)."""
        low, high = 0.0, 1.0
        left, right = 1 - _RATIO, _RATIO
        while high - low > tolerance:
            at_left, at_right = score_at(left), score_at(right)
            if at_left is None or at_right is None:
                return [place for place in (left, right) if score_at(place) is None]
            if at_left < at_right:
                low, left = left, right
                right = low + _RATIO * (high - low)
            else:
                high, right = right, left
                left = high - _RATIO * (high - low)
        return []

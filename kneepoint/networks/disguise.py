"""Disguised recordings: the same link, but unpredictable even with the recording at hand.

A disguise rotates both directions of a recording to a random start, scales each half second by a
factor between 0.95 and 1.05, and permutes the gaps between opportunities within each fifth of a
second. The number of opportunities, the gaps up to the factor, and thus the distributions of rates
and outages, the slow changes of the rate and the correlation of both directions are preserved; the
times of opportunities within a fifth of a second are not.
"""

import random
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

_PIECE_MS = 500
_STRETCH = 0.05
_WINDOW_MS = 200
SHORTEST_MS = 10_000
"""The minimum duration of a recording, because a shorter recording has too few possible starts."""


def disguise(
    uplink_ms: Sequence[int], downlink_ms: Sequence[int], seed: str
) -> tuple[list[int], list[int]]:
    """Returns both directions of a recording, disguised by a secret seed.

    Args:
        uplink_ms: opportunities of the direction that carries the data, non-decreasing (ms).
        downlink_ms: opportunities of the other direction; the longer direction is cut to the
            shorter.
        seed: any text; equal seeds give equal links.

    Raises:
        ValueError: the recording is shorter than `SHORTEST_MS`.
    """
    end_ms = min(uplink_ms[-1], downlink_ms[-1])
    if end_ms < SHORTEST_MS:
        raise ValueError(f"{end_ms / 1000:g} s are too short, less than {SHORTEST_MS // 1000} s")
    # The only method whose sequence Python guarantees across versions.
    draw = random.Random(seed).random  # noqa: S311  # a seed of 128 bits, and no output is seen
    cut_ms = uplink_ms[bisect_left(uplink_ms, int(end_ms * draw()))]
    pieces = [*range(0, end_ms, _PIECE_MS), end_ms]
    factors: list[float] = [1 + _STRETCH * (2 * draw() - 1) for _ in pieces[1:]]
    lengths = [f * (b - a) for f, (a, b) in zip(factors, pairwise(pieces), strict=True)]
    starts: list[float] = [0, *accumulate(lengths)]

    def stretched(time_ms: int) -> int:
        piece = bisect_left(pieces, time_ms) - 1
        return int(starts[piece] + factors[piece] * (time_ms - pieces[piece]) + 0.5)

    def disguised_times(times_ms: Sequence[int]) -> list[int]:
        first, last = bisect_right(times_ms, cut_ms), bisect_right(times_ms, end_ms)
        turned = [time_ms - cut_ms for time_ms in times_ms[first:last]]
        before = bisect_right(times_ms, 0)
        turned += [time_ms + end_ms - cut_ms for time_ms in times_ms[before:first]]
        return _reordered([stretched(time_ms) for time_ms in turned], draw)

    return disguised_times(uplink_ms), disguised_times(downlink_ms)


def _reordered(times_ms: Sequence[int], draw: Callable[[], float]) -> list[int]:
    """Permutes the gaps that end within each window."""
    made: list[int] = []
    at_ms = first = 0
    while first < len(times_ms):
        window_end_ms = (times_ms[first] // _WINDOW_MS + 1) * _WINDOW_MS
        last = bisect_left(times_ms, window_end_ms, first)
        inside = [at_ms, *times_ms[first:last]]
        gaps = [b - a for a, b in pairwise(inside)]
        gaps = [gap for _, gap in sorted((draw(), gap) for gap in gaps)]
        made += accumulate(gaps[1:], initial=at_ms + gaps[0])
        at_ms, first = times_ms[last - 1], last
    return made

"""The power of senders that learn of each opportunity of a trace one round trip late.

    python -m tests.benchmarks.late_senders .kneepoint/networks/contest/uplink.trace 140000 40

They learn of every opportunity, used or not, at the time at which its acknowledgment could arrive,
and keep a window in flight: the number of packets that have reached the link by millisecond t is
the number that had left it one round trip before t, plus the window. The link's queue is unlimited,
and the host has no delay. docs/networks.md defines the two windows; the coefficients of the fitted
window are found by the cross-entropy method (Rubinstein: Methodology and Computing in Applied
Probability 1, 1999). The trace repeats.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kneepoint.networks.traces import times_of

Windows = NDArray[np.int64]
"""Windows (packets): a row for each sender, a column for each millisecond."""
Mask = NDArray[np.bool_]
"""Whether a millisecond counts."""

DATAGRAM_BITS = 1504 * 8
SPANS_MS = (40, 200, 1000)
FORECAST_SPAN_MS = 100
BLOCK_MS = 10_000
WIDEST = 5000
GENERATIONS, POPULATION, PARENTS = 30, 48, 8


class LateLink:
    """A trace whose opportunities senders know one round trip late."""

    def __init__(self, times_ms: NDArray[np.int64], end_ms: int, round_trip_ms: int) -> None:
        """Counts the opportunities until the end, and the known opportunities."""
        laps = np.arange(end_ms // times_ms[-1] + 1)[:, None] * times_ms[-1]
        times = (times_ms + laps).ravel()
        self.passed = np.cumsum(np.bincount(times[times <= end_ms], minlength=end_ms + 1))
        self.late_ms = round_trip_ms
        logs = [1 + np.log((self._known(span) + 0.5) / span) for span in SPANS_MS]
        products = [logs[i] * logs[k] for i in range(3) for k in range(i, 3)]
        self.terms = np.stack([np.ones(end_ms + 1), *logs, *products])

    def _known(self, span_ms: int) -> NDArray[np.int64]:
        """Returns, for each millisecond, the known opportunities of the last `span_ms`."""
        known = np.concatenate([np.zeros(self.late_ms, np.int64), self.passed])[: self.passed.size]
        known[span_ms + self.late_ms :] -= self.passed[: -span_ms - self.late_ms]
        return known

    def _packets(self, windows: Windows) -> tuple[Windows, Windows]:
        """Returns the numbers of packets that have reached and left the link by each millisecond.

        It proceeds by blocks of a round trip, because departures within a block are not yet known.
        """
        reached, left = np.empty_like(windows), np.empty_like(windows)
        before = np.zeros((len(windows), 1), np.int64)
        unused = before.copy()  # departed packets minus opportunities
        for begin in range(0, windows.shape[1], self.late_ms):
            block = slice(begin, begin + self.late_ms)
            wanted = windows[:, block].copy()
            if begin > 0:
                wanted += left[:, begin - self.late_ms : begin][:, : wanted.shape[1]]
            wanted[:, :1] = np.maximum(wanted[:, :1], before)
            reached[:, block] = np.maximum.accumulate(wanted, axis=1)
            waiting = np.hstack([before, reached[:, block][:, :-1]]) - self.passed[block]
            waiting[:, :1] = np.minimum(waiting[:, :1], unused)
            rest = np.minimum.accumulate(waiting, axis=1)
            left[:, block] = rest + self.passed[block]
            before, unused = reached[:, block][:, -1:], rest[:, -1:]
        return reached, left

    def powers(self, windows: Windows, counts: Mask) -> NDArray[np.float64]:
        """Returns the power (Mbit/s/s) of each sender."""
        powers = np.zeros(len(windows))
        for row, (reached, left) in enumerate(zip(*self._packets(windows), strict=True)):
            # The age of the signal is the time until the next arriving packet has passed.
            following = np.concatenate([[0], reached[:-1]])
            leaves_ms = np.searchsorted(left, following, side="right")
            is_known = counts & (leaves_ms < left.size)
            ages_ms = np.sort((leaves_ms - np.arange(left.size))[is_known])
            if not ages_ms.size:
                continue
            age_s = max(1, ages_ms[ages_ms.size * 95 // 100]) / 1000
            packets = np.diff(left, prepend=0)[counts].sum()
            powers[row] = packets * DATAGRAM_BITS / 1000 / counts.sum() / age_s
        return powers

    def windows(self, coefficients: NDArray[np.float64]) -> Windows:
        """Returns the windows whose logarithms are quadratic functions of logarithmic rates."""
        log_windows = np.minimum(coefficients @ self.terms, np.log(WIDEST))
        windows: Windows = np.maximum(np.exp(log_windows), 1).astype(np.int64)
        return windows

    def fit(self, counts: Mask) -> Windows:
        """Returns the fitted window: the best of each generation are the parents of the next."""
        random = np.random.default_rng(1)
        mean = np.array([np.log(60) - 1, *[1 / 3] * 3, *[0.0] * 6])  # the opportunities of 60 ms
        spread = np.array([0.3, *[0.2] * 3, *[0.08] * 6])
        best = mean[None]
        for _ in range(GENERATIONS):
            drawn = random.normal(mean, spread, (POPULATION - 1, mean.size))
            children = np.vstack([best, drawn])
            ranks = np.argsort(-self.powers(self.windows(children), counts), kind="stable")
            parents = children[ranks[:PARENTS]]
            best, mean, spread = parents[:1], parents.mean(axis=0), parents.std(axis=0)
        return self.windows(best)

    def forecasts(self) -> Windows:
        """Returns the forecasting windows of all delays and probabilities."""
        passed, span = self.passed, FORECAST_SPAN_MS
        known = self._known(span)
        windows = []
        for delay_ms in range(10, 160, 10):
            ahead = self.late_ms + delay_ms
            rates = passed[span:-ahead] - passed[: -span - ahead]
            follows = passed[span + ahead :] - passed[span:-ahead]
            after = [np.sort(follows[rates == rate]) for rate in range(known.max() + 1)]
            for probability in (0.5, 0.7, 0.8, 0.9, 0.95, 0.98):
                of_rate = [
                    each[int((1 - probability) * each.size)] if each.size else 1 for each in after
                ]
                windows.append(np.clip(of_rate, 1, WIDEST)[known])
        return np.stack(windows)


def main() -> None:
    """Prints the power of each sender."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trace", type=Path)
    parser.add_argument("end_ms", type=int)
    parser.add_argument("round_trip_ms", type=int)
    given = parser.parse_args()
    times_ms = np.array(times_of(given.trace.read_bytes()), np.int64)
    link = LateLink(times_ms, given.end_ms, given.round_trip_ms)
    everywhere = np.ones(link.passed.size, bool)
    even = np.arange(link.passed.size) // BLOCK_MS % 2 == 0
    print(f"fitted: {link.powers(link.fit(everywhere), everywhere)[0]:.1f} Mbit/s/s")
    of_even = link.fit(even)
    print(f"fitted to every other 10 s, in these: {link.powers(of_even, even)[0]:.1f}")
    print(f"the same in the others: {link.powers(of_even, ~even)[0]:.1f}")
    print(f"forecasting: {link.powers(link.forecasts(), everywhere).max():.1f}")


if __name__ == "__main__":
    main()

"""Scoring rules of runs: named rules, or expressions of a run's metrics."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

from kneepoint.engines.base import RunRecord
from kneepoint.engines.expression import Expression
from kneepoint.networks.scenario import PreparedNetwork


@dataclass(frozen=True)
class Score:
    """A scoring rule; greater scores are better.

    Args:
        name: its name.
        expression: expression of a run's metrics.
        words: its description on the page.
        is_ratio: whether scores are compared by their ratio and averaged geometrically.
    """

    name: str
    expression: str
    words: str
    is_ratio: bool = False

    def of(self, record: RunRecord, network: PreparedNetwork) -> float:
        """Returns the score of a successful run.

        Raises:
            ValueError: the score is undefined, as after a division by zero.
        """
        score = Expression(self.expression).of_run(record, network)
        if self.is_ratio and score <= 0:
            raise ValueError(f"{self.expression} is {score}")
        return score


_AVERAGED = "in Mbit/s per second, averaged geometrically over runs and networks"
_AGE = "the age of the newest datagram that arrived, from the run's start to its end"
SCORES = {
    each.name: each
    for each in (
        Score(
            "power",
            "1000 * throughput_mbps / age_p95_ms",
            f"power: throughput over the 95th percentile of {_AGE}, {_AVERAGED}",
            is_ratio=True,
        ),
        Score(
            "log_power",
            "log(1000 * throughput_mbps / age_p95_ms)",
            f"the logarithm of power, throughput over the 95th percentile of {_AGE}",
        ),
        Score(
            "median_power",
            "1000 * throughput_mbps / age_p50_ms",
            f"throughput over the median of {_AGE}, {_AVERAGED}",
            is_ratio=True,
        ),
        Score(
            "excess_power",
            "1000 * throughput_mbps / (delay_ms + max(0, age_p95_ms - omniscient_delay_ms))",
            f"throughput over propagation delay and excess of the 95th percentile of {_AGE} over "
            f"the omniscient sender's, {_AVERAGED}",
            is_ratio=True,
        ),
        # The course's public scorer computes this score from the link's log, whose only losses are
        # the queue's: 100 - 8 x for x up to 10, 200 / x beyond.
        Score(
            "transhub",
            "35 * utilization + 0.35 * (80 - 8 * min(10, queueing_delay_p95_ms / delay_ms)"
            " + 200 / max(10, queueing_delay_p95_ms / delay_ms))"
            " + 30 * (1 - max(0, queue_loss - configured_loss))",
            "Transhub's score: 35 points for utilization, 35 for delay, 30 for packets not "
            "dropped. Delay counts only packets that were sent: one datagram followed by silence "
            "gets up to 65 points",
        ),
    )
}


def score_of(text: str) -> Score:
    """Returns a rule by its name, or the rule of an expression.

    Raises:
        ValueError: the text is neither a name nor an expression.
    """
    if text in SCORES:
        return SCORES[text]
    try:
        return Score("score", Expression(text).text, words=text)
    except ValueError as error:
        raise ValueError(f"neither {', '.join(SCORES)} nor an expression: {error}") from None


ScoreName = Annotated[str, AfterValidator(lambda text: score_of(text) and text)]

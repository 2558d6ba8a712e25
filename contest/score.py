"""Scoring rules of contests."""

from dataclasses import dataclass

from engines.base import RunRecord
from engines.expression import Expression
from networks.scenario import PreparedNetwork

TRANSHUB = (
    "100 * (0.35 * utilization + 0.35 * delay_ms / (delay_ms + queueing_delay_p95_ms)"
    " + 0.30 * (1 - loss))"
)
"""Transhub's weights; it publishes the mean of three runs of ten cases."""


@dataclass(frozen=True)
class Score:
    """A scoring rule; more is better.

    Args:
        name: on the leaderboard.
        expression: of a run.
        is_ratio: scores are compared by their ratio, and averaged geometrically.
    """

    name: str
    expression: str
    is_ratio: bool = False

    def of(self, record: RunRecord, network: PreparedNetwork) -> float:
        """Returns the score of a run that succeeded.

        Raises:
            ValueError: it has none, because of a division by zero or the logarithm of zero.
        """
        score = Expression(self.expression).of_run(record, network, network.omniscient)
        if self.is_ratio and score <= 0:
            raise ValueError(f"{self.expression} is {score}")
        return score


_RULES = {
    "power": Score("power", "power", is_ratio=True),
    "log_power": Score("log_power", "log(power)"),
    "median_power": Score(
        "median_power", "1000 * throughput_mbps / signal_delay_p50_ms", is_ratio=True
    ),
    "excess_power": Score(
        "excess_power",
        "1000 * throughput_mbps / (delay_ms + max(0, excess_delay_ms))",
        is_ratio=True,
    ),
    "transhub": Score("transhub", TRANSHUB),
}


def score_of(text: str) -> Score:
    """Returns a rule by its name, or made of an expression.

    Raises:
        ValueError: it is neither.
    """
    if text in _RULES:
        return _RULES[text]
    try:
        return Score("score", Expression.parse(text).text)
    except ValueError as error:
        raise ValueError(f"neither {', '.join(_RULES)} nor an expression: {error}") from None

"""Words and numbers of the section on real runs."""

from collections.abc import Sequence

from kneepoint.analysis.frames import Record
from kneepoint.analysis.labels import DASH, is_known
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.questions.real.again import NOT_AGAIN
from kneepoint.questions.real.plan import UNEXPLAINED
from kneepoint.questions.real.tables import BUSIER, CERTAINTY, GOAL, GOAL_MS, NEAR, QUIETER, SMALL
from kneepoint.runs.confirmed import CALIBRATION

__all__ = ["CALIBRATION", "CERTAINTY", "EXPLANATIONS", "GOAL", "GOAL_MS", "NEAR"]
__all__ += ["compared", "greatest_error"]

EXPLANATIONS = {
    SMALL: "within the goal",
    BUSIER: "a busier host",
    QUIETER: "a quieter host",
    NOT_AGAIN: "not reproduced",
    UNEXPLAINED: DASH,
}
"""Why a real mean lies outside its prediction interval."""


def compared(rows: Sequence[Record]) -> list[Record]:
    """Returns the comparable rows with errors of throughput and delay, without fitted rows."""
    return [
        row
        for row in rows
        if row["verdict"] not in ("fitted", "not comparable")
        and all(is_known(row[f"relative_{metric}"]) for metric in (THROUGHPUT, SIGNAL_DELAY))
    ]


def greatest_error(rows: Sequence[Record], metric: str) -> float:
    """Returns the greatest absolute relative difference between our runs and the rows."""
    return max(abs(float(row[f"relative_{metric}"])) for row in rows)

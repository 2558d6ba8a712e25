"""What the section on real runs says of settings that were measured elsewhere."""

from collections.abc import Sequence

from kneepoint.analysis.frames import Record
from kneepoint.analysis.labels import is_known
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.questions.real.tables import CERTAINTY, GOAL, GOAL_MS, NEAR
from kneepoint.runs.confirmed import CALIBRATION

__all__ = ["CALIBRATION", "CERTAINTY", "GOAL", "GOAL_MS", "NEAR", "compared", "greatest_error"]


def compared(rows: Sequence[Record]) -> list[Record]:
    """Returns the audited rows with errors of throughput and delay, without fitted rows."""
    return [
        row
        for row in rows
        if row["verdict"] not in ("fitted", "not comparable")
        and all(is_known(row[f"relative_{metric}"]) for metric in (THROUGHPUT, SIGNAL_DELAY))
    ]


def greatest_error(rows: Sequence[Record], metric: str) -> float:
    """Returns the greatest relative difference of our runs from the rows, without its sign."""
    return max(abs(float(row[f"relative_{metric}"])) for row in rows)

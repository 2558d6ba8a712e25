"""What the templates of the audit call by its name."""

import math
from collections.abc import Sequence

from kneepoint.analysis.frames import Record
from kneepoint.analysis.metrics import METRICS
from kneepoint.questions.audit.beside import MOST_LOST as MOST_LOST
from kneepoint.questions.audit.beside import MOST_OF_TIME as MOST_OF_TIME
from kneepoint.questions.audit.checks import CLOSE as CLOSE
from kneepoint.questions.audit.checks import FACTOR as FACTOR
from kneepoint.questions.audit.nearness import DRAWS as DRAWS
from kneepoint.questions.audit.nearness import LEVEL as LEVEL
from kneepoint.questions.audit.tables import SURE as SURE
from kneepoint.questions.audit.tables import VERDICTS as VERDICTS
from kneepoint.runs.exchanged import AGREEING as AGREEING
from kneepoint.runs.exchanged import CONTRADICTED


def worst(rows: Sequence[Record]) -> Record | None:
    """The contradicted row whose wrong number is the farthest from ours by ratio; None without one.

    Its `metric` is that number's. Of a row without one wrong number it is the one that is the
    farthest from ours.
    """
    found = [
        (_apart(row, metric), {**row, "metric": metric})
        for row in rows
        if row["verdict"] == CONTRADICTED
        for metric in ([row["wrong"]] if row["wrong"] in METRICS else METRICS)
    ]
    return max(found, key=lambda each: each[0])[1] if found else None


def _apart(row: Record, metric: str) -> float:
    """How far ours is from what is published, as the size of the logarithm; -1 if unknown."""
    ours, published = row[f"ours_{metric}"], row[f"published_{metric}"]
    if not (ours > 0 and published > 0):
        return math.inf if ours == 0 or published == 0 else -1.0
    return abs(math.log(ours / published))

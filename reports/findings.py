"""What the first page says of: the worst contradicted row, and settings that are best."""

import math
from collections import Counter
from collections.abc import Sequence

from kneepoint.analysis.frames import Record
from kneepoint.analysis.metrics import METRICS


def worst(rows: Sequence[Record]) -> Record | None:
    """The contradicted row whose wrong number is the farthest from ours by ratio; None without one.

    Its `metric` is that number's. Of a row without one wrong number it is the one that is the
    farthest from ours.
    """
    found = [
        (_apart(row, metric), {**row, "metric": metric})
        for row in rows
        if row["verdict"] == "contradicted"
        for metric in ([row["wrong"]] if row["wrong"] in METRICS else METRICS)
    ]
    return max(found, key=lambda each: each[0])[1] if found else None


def _apart(row: Record, metric: str) -> float:
    """How far ours is from what is published, as the size of the logarithm; -1 if unknown."""
    ours, published = row[f"ours_{metric}"], row[f"published_{metric}"]
    if not (ours > 0 and published > 0):
        return math.inf if ours == 0 or published == 0 else -1.0
    return abs(math.log(ours / published))


def leaders(rows: Sequence[Record]) -> list[Record]:
    """Best settings on the network with the most of them: the best one, then its equals.

    An equal is less below it than the half width of the 95 % interval of their difference, as of
    independent means.

    Args:
        rows: of the table search_networks, whose power is that of fresh seeds.
    """
    if not rows:
        return []
    ((network, _),) = Counter(row["network"] for row in rows).most_common(1)
    there = [row for row in rows if row["network"] == network]
    best, *others = sorted(there, key=lambda row: -float(row["power"]))
    return [best, *(row for row in others if _is_within(row, best))]


def _is_within(row: Record, best: Record) -> bool:
    widths = (row["half_width"], best["half_width"])
    return bool(best["power"] - row["power"] < math.hypot(*widths))

"""What the first page says of: settings that are best."""

import math
from collections import Counter
from collections.abc import Sequence

from kneepoint.analysis.frames import Record


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

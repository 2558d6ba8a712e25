"""Runs that are no evidence for a published row, however near their throughput and delay come.

Each threshold is a half, for its own reason:

- loss: a sender clocked by acknowledgments sends at most two packets for each one delivered, in
  slow start (RFC 5681, section 3.1), and one otherwise (conservation of packets, Jacobson 1988). So
  queues drop at most half of its packets, even if it never leaves slow start. A rule that reduces
  its window on loss loses far less: Reno, which fills a path of W packets and halves, 8 / 3 W^2;
  in the shipped studies Reno and CUBIC alone on a link lose at most 8 %. A sender that loses more
  than half floods the link: its throughput is the link's capacity and its delay the queue's length,
  whatever its rule.
- bound: a window that is the widest that the transport allows, or wider than TCP's buffers, for
  most of the time does not follow its rule; the delay is the buffer's.
- idle: if most of the capacity passed without a packet, the sender stood still for most of the
  time, and throughput and delay describe the rest.
"""

import math
from collections.abc import Iterator

import pandas as pd

from kneepoint.analysis.frames import Record, records

MOST_LOST = 0.5
"""The greatest share of packets that queues may drop."""
MOST_OF_TIME = 0.5
"""The greatest share of the time at the bound, and of the capacity that passes unused."""
LIMITS = {"loss": MOST_LOST, "at_bound_share": MOST_OF_TIME, "idle_share": MOST_OF_TIME}
KINDS = {"loss": "lost", "at_bound_share": "at bound", "idle_share": "idle"}
"""The kinds of evidence, by the column that speaks against our runs."""


def unfit(rows: pd.DataFrame) -> dict[int, list[Record]]:
    """By label, why our runs of a row are no evidence for it: pieces of the table audit_evidence.

    Args:
        rows: from `statistics.beside`.
    """
    found = ((label, list(_why(row))) for label, row in zip(rows.index, records(rows), strict=True))
    return {int(label): pieces for label, pieces in found if pieces}


def _why(row: Record) -> Iterator[Record]:
    for name, most in LIMITS.items():
        share = float(row.get(name, math.nan))
        if share > most:
            yield {"kind": KINDS[name], "share": share}

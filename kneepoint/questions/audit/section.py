"""Texts of the audit's section of the report: kinds of evidence, and the worst row."""

import math
from collections.abc import Callable, Sequence

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record
from kneepoint.analysis.further_run import LEVEL
from kneepoint.analysis.labels import is_known
from kneepoint.analysis.metrics import METRICS, POWER
from kneepoint.questions.audit.beside import DRAWS, MAX_LOST, MAX_OF_TIME
from kneepoint.questions.audit.checks import CLOSE
from kneepoint.questions.audit.tables import SURE, VERDICTS
from kneepoint.runs.audit_table import AGREEING, CONTRADICTED
from kneepoint.stats.outliers import FACTOR

__all__ = ["AGREEING", "CLOSE", "DRAWS", "FACTOR", "LEVEL", "MAX_LOST", "MAX_OF_TIME", "SURE"]
__all__ += ["EVIDENCE", "VERDICTS", "note", "stated_range", "worst"]

EVIDENCE = {
    "arithmetic": "the row's other numbers give",
    "capacity": "above its link's capacity of",
    "truncation": "truncated, not rounded: the other numbers give",
    "selected": "an extreme of many runs, compared with the extreme of as many of ours",
    "nearest": "the nearest of the settings that the row leaves open",
    "spread": "one further run may have",
    "host": "a run on another host that fits may have",
    "failed": "our runs failed",
    "elsewhere": "ran on another network only",
    "repetition": "repeats another row, where our runs differ",
    "conflict": "printed differently for the same parameters",
    "neighbours": "the row's neighbours put it at",
    "replay": "far from our runs, given their variation and the table's other rows",
    "lost": "our runs lost",
    "at bound": "our sender was at its bound",
    "idle": "our sender left unused",
    "difference": "differs from our runs",
    "fitted": "a parameter was fitted to the table",
    "unstated": "not stated",
    "remark": "remark",
    "no number": "no number is printed",
    "no parameters": "parameters are not printed",
    "no run": "no study ran it",
    "no such number": "our runs have no such number",
}
"""Each kind of evidence, in the words of the report."""

_SHARE_OF = {"lost": "the packets", "at bound": "the time", "idle": "the capacity"}


def stated_range(piece: Record, printed_in: Callable[..., str]) -> str:
    """Returns the numbers that a piece of evidence states, or a dash.

    Args:
        piece: a row of audit_evidence.
        printed_in: returns a published number as printed, by table, row, metric and value.
    """
    low, high = piece["low"], piece["high"]
    text = METRICS[piece["metric"] or POWER].text
    if piece["kind"] == "selected":
        return f"{labels.number(low)} to {labels.number(high)} runs"
    if is_known(piece["share"]):
        return f"{labels.percent(piece['share'])} of {_SHARE_OF[piece['kind']]}"
    if is_known(low) and is_known(high):
        return " to ".join(dict.fromkeys([text(low), text(high)]))
    if is_known(low) or is_known(high):
        return f"{text(low)} or more" if is_known(low) else f"{text(high)} or less"
    if is_known(piece["other_published"]):
        place = piece["other_table"], piece["other_row"], piece["metric"]
        return printed_in(*place, piece["other_published"])
    if is_known(piece["other_ours"]):
        return f"our runs there: {text(piece['other_ours'])}"
    return labels.DASH


def note(piece: Record) -> str:
    """Returns the rest of a piece of evidence: remark, other row, parameters and p value."""
    table = piece["other_table"] or piece["table"]
    other = f"{table} row {piece['other_row'] + 1}" if is_known(piece["other_row"]) else ""
    p = f"p {_p_value(piece['p'])}" if is_known(piece["p"]) else ""
    parameters = ", ".join(map(labels.words, piece["parameters"]))
    noted = [piece["remark"] or "", other, parameters, p]
    return "; ".join(filter(None, noted))


def _p_value(p: float) -> str:
    return "< 0.0001" if p < 0.0001 else labels.fixed(p, 4)


def worst(rows: Sequence[Record]) -> Record | None:
    """Returns the contradicted row with the greatest ratio between its wrong number and our mean.

    Its `metric` is the metric of the wrong number: the metric that the checks name or, if they name
    none, the metric whose number is farthest from our mean. The result is None without a
    contradicted row.
    """
    found = [
        (_apart(row, metric), {**row, "metric": metric})
        for row in rows
        if row["verdict"] == CONTRADICTED
        for metric in ([row["wrong"]] if row["wrong"] in METRICS else METRICS)
    ]
    return max(found, key=lambda each: each[0])[1] if found else None


def _apart(row: Record, metric: str) -> float:
    """Returns the absolute logarithm of our mean over the published number; -1 if unknown."""
    ours, published = row[f"ours_{metric}"], row[f"published_{metric}"]
    if not (ours > 0 and published > 0):
        return math.inf if ours == 0 or published == 0 else -1.0
    return abs(math.log(ours / published))

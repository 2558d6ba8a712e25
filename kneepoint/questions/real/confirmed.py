"""The best settings, and the rows that the audit contradicts, in real mahimahi."""

import math

import pandas as pd

from kneepoint.analysis.frames import (
    Record,
    records,
    select,
)
from kneepoint.analysis.metrics import POWER
from kneepoint.common.tables import Tables
from kneepoint.runs.exchanged import CONTRADICTED, REPORTS

CALIBRATION, PUBLISHED, TUNED = "calibration", "published", "tuned"
"""Origins of settings: the emulated host was fitted to the first."""
NEAR = 0.05
"""Relative difference of a real mean from a published number that another host may explain."""
CONFIRMED, REFUTED, TOO_NEAR, NEITHER = "yes", "no", "too near to tell", "neither"
BY_ARITHMETIC = "needs no run"
"""Whether a real run agrees with the audit on a published number."""


def confirmed(tables: Tables) -> pd.DataFrame:
    """Best settings and contradicted rows in real mahimahi: what was published, and a verdict.

    A row's `origin` is PUBLISHED or TUNED, of a best setting by its power, or CONTRADICTED, of the
    number that the audit finds wrong.
    """
    audited = tables.get("audit")  # of a question that may be missing
    rows = [] if audited is None else records(select(audited, comparison=REPORTS))
    printed = {f"{row['table']} {row['row']}": row for row in rows}
    beside = tables["agreement"].drop(columns=["scheduling_ms", "usual_ms", "why"])
    lines = []
    for _, of_setting in beside.groupby("trial"):
        measured = {row["metric"]: row for row in records(of_setting)}
        power = measured[POWER]
        replayed = [printed[name] for name in power["rows"] if name in printed]
        for origin in (PUBLISHED, TUNED):
            if origin in power["origins"]:
                row = replayed[0] if replayed and origin == PUBLISHED else {}
                lines.append(_line(power, row, origin))
        for row in replayed:
            if row["verdict"] == CONTRADICTED:
                lines.append(_line(measured[row["wrong"]], row, CONTRADICTED))
    return pd.DataFrame(lines)


def _line(measured: Record, row: Record, origin: str) -> Record:
    """A setting's metric beside the published row, if there is one, that it replays."""
    published = float(row.get(f"published_{measured['metric']}", math.nan))
    emulated, real = measured["emulated_mean"], measured["real_mean"]
    is_wrong = origin == CONTRADICTED
    return {
        **measured,
        "origin": origin,
        "row": row.get("name", ""),
        "printed_table": row.get("table", ""),
        "printed_row": row.get("row", math.nan),
        "published": published,
        "from_published": real / published - 1,
        "from_emulator": real / emulated - 1,
        "verdict": verdict(published, emulated, real, row["checks"]) if is_wrong else "",
    }


def verdict(published: float, emulated: float, real: float, checks: str) -> str:
    """The verdict of a real mean on a published number that the audit contradicts by these checks.

    Returns:
        CONFIRMED (it is not near the published number, and nearer to the emulator's), NEITHER (not
        nearer), REFUTED (it is near the published number only), TOO_NEAR (near both),
        BY_ARITHMETIC (the row contradicts itself, and nothing else does), or nothing where a number
        is missing.
    """
    if checks == "arithmetic":
        return BY_ARITHMETIC
    if any(math.isnan(value) for value in (published, emulated, real)):
        return ""
    as_published, as_emulated = (abs(math.log(value / real)) for value in (published, emulated))
    near = math.log1p(NEAR)
    if as_published <= near:
        return TOO_NEAR if as_emulated <= near else REFUTED
    return CONFIRMED if as_emulated < as_published else NEITHER

"""The best settings, and the rows that the audit contradicts, in real mahimahi."""

import math
from collections.abc import Iterator

import pandas as pd

from analysis.agreement import PUBLISHED, TUNED, settings
from analysis.frames import Record, records, select
from analysis.metrics import POWER
from common.tables import Tables
from experiments.exchanged import CONTRADICTED, REPORTS

NEAR = 0.05
"""Relative difference of a real mean from a published number that another host may explain."""
CONFIRMED, REFUTED, TOO_NEAR, NEITHER = "yes", "no", "too near to tell", "neither"
BY_ARITHMETIC = "needs no run"
"""Whether a real run agrees with the audit on a published number."""


def best(tables: Tables) -> pd.DataFrame:
    """The best settings in real mahimahi, and the power that was published."""
    return pd.DataFrame(
        [
            _best(setting["controller"], origin, printed, beside[POWER])
            for setting, printed, beside in _settings(tables)
            for origin in (PUBLISHED, TUNED)
            if origin in setting["origins"]
        ]
    )


def contradicted(tables: Tables) -> pd.DataFrame:
    """The contradicted rows in real mahimahi, and whether their real runs say so."""
    return pd.DataFrame(
        [
            _contradicted(row, beside[row["wrong"]])
            for _, printed, beside in _settings(tables)
            for row in printed
            if row["verdict"] == CONTRADICTED
        ]
    )


def _settings(tables: Tables) -> Iterator[tuple[Record, list[Record], dict[str, Record]]]:
    """Each setting that ran, the published rows that it replays, its row for each metric."""
    rows = records(select(tables["audit"], comparison=REPORTS))
    printed = {f"{row['table']} {row['row']}": row for row in rows}
    beside = tables["agreement"].drop(columns=["scheduling_ms", "usual_ms", "why"])
    by_setting = {
        trial: {row["metric"]: row for row in records(of)} for trial, of in beside.groupby("trial")
    }
    for setting in records(settings(tables)):
        replayed = [printed[name] for name in setting["rows"] if name in printed]
        yield setting, replayed, by_setting[setting["trial"]]


def _best(controller: str, origin: str, printed: list[Record], beside: Record) -> Record:
    row = printed[0] if printed and origin == PUBLISHED else {}
    published = float(row.get(f"published_{POWER}", math.nan))
    return {
        **beside,
        "controller": controller,
        "origin": origin,
        **_place(row),
        "published": published,
        "from_published": beside["real_mean"] / published - 1,
        "from_emulator": beside["real_mean"] / beside["emulated_mean"] - 1,
    }


def _contradicted(row: Record, beside: Record) -> Record:
    published = float(row[f"published_{row['wrong']}"])
    says = verdict(published, beside["emulated_mean"], beside["real_mean"], row["checks"])
    return {**beside, **_place(row), "published": published, "verdict": says}


def _place(row: Record) -> Record:
    """Where a number is printed: nowhere if there is no row."""
    return {
        "row": row.get("name", ""),
        "printed_table": row.get("table", ""),
        "printed_row": row.get("row", math.nan),
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

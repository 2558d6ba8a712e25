"""The best settings, and the rows that the audit contradicts, in real mahimahi."""

import math

import pandas as pd

from analysis.agreement import PUBLISHED, TUNED
from analysis.frames import Record, records
from analysis.metrics import POWER
from analysis.results import Results
from common.tables import Tables
from experiments.exchanged import REPORTS

NEAR = 0.05
"""Relative difference of a real mean from a published number that another host may explain."""
CONFIRMED, REFUTED, TOO_NEAR, NEITHER = "yes", "no", "too near to tell", "neither"
BY_ARITHMETIC = "needs no run"
"""Whether a real run agrees with the audit on a published number."""


def compute(_: Results, tables: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    audited, settings = tables["audit"], records(tables["agreement_settings"])
    rows = records(audited[audited["comparison"] == REPORTS]) if len(audited) else []
    printed = {f"{row['table']} {row['row']}": row for row in rows}
    beside = {(row["trial"], row["metric"]): row for row in records(tables["agreement"])}
    for row in beside.values():
        for name in ("scheduling_ms", "usual_ms", "why"):
            del row[name]
    best, contradicted = [], []
    for setting in settings:
        of_setting = [printed[name] for name in setting["rows"] if name in printed]
        trial = setting["trial"]
        for origin in (PUBLISHED, TUNED):
            if origin in setting["origins"]:
                first = of_setting[0] if of_setting and origin == PUBLISHED else {}
                best.append(_best(setting["controller"], origin, first, beside[trial, POWER]))
        wrong = [row for row in of_setting if row["verdict"] == "contradicted"]
        contradicted += [_contradicted(row, beside[trial, row["wrong"]]) for row in wrong]
    off = pd.Series([line["from_published"] for line in best], dtype=float).abs().median()
    return {
        "confirmed_best": pd.DataFrame(best),
        "confirmed_summary": pd.DataFrame([{"median_published": off}] if best else []),
        "confirmed_rows": pd.DataFrame(contradicted),
    }


def _best(controller: str, origin: str, row: Record, beside: Record) -> Record:
    published = float(row.get(f"published_{POWER}", math.nan))
    return {
        **beside,
        "controller": controller,
        "origin": origin,
        "row": row.get("name", ""),
        "published": published,
        "from_published": beside["real_mean"] / published - 1,
        "from_emulator": beside["real_mean"] / beside["emulated_mean"] - 1,
    }


def _contradicted(row: Record, beside: Record) -> Record:
    published = float(row[f"published_{row['wrong']}"])
    says = verdict(published, beside["emulated_mean"], beside["real_mean"], row["checks"])
    return {**beside, "row": row["name"], "published": published, "verdict": says}


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

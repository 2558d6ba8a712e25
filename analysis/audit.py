"""The audit of published tables: a verdict on every row, with its evidence.

`analysis.checks` and `analysis.neighbours` find what speaks against a row.
"""

import json
import math
from collections.abc import Mapping, Sequence
from itertools import chain

import pandas as pd

from analysis import labels, statistics
from analysis.checks import (
    CLOSE,
    Finding,
    arithmetic,
    conflicts,
    logarithms,
    repetitions,
    replays,
)
from analysis.frames import CONSTANT, Record, records, together
from analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.neighbours import neighbours
from analysis.results import Results, Source, Study
from analysis.schema import STAGES, VERDICTS
from common.tables import Tables
from experiments.exchanged import CONTRADICTED, REPORTS

CHECKS = (arithmetic, repetitions, conflicts, neighbours, replays)


MEASURED = "measured"
"""Beside REPORTS, what published rows are compared: those of reports, or real runs of our own."""
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)

NOTHING: Record = {
    **dict.fromkeys(("metric", "along", "other_table", "other_row", "remark")),
    **dict.fromkeys(("size", "limit", "low", "high", "variation", "usual"), math.nan),
    **dict.fromkeys(("other_published", "other_ours"), math.nan),
    "constants": (),
}
"""A row of audit_evidence that says nothing."""


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    studies, published, sources = results.studies(), results.published(), results.sources()
    of_report = published["table"].map(lambda table: labels.is_of_report(str(table))).astype(bool)
    found: dict[str, list[pd.DataFrame]] = {table.name: [] for table in STAGES["audit"].tables}
    for comparison, chosen in ((REPORTS, of_report), (MEASURED, ~of_report)):
        compared = _compare(published[chosen], studies, sources)
        if compared is not None:
            rows, evidence = compared
            for name, table in {**summaries(rows, sources), "audit_evidence": evidence}.items():
                table.insert(0, "comparison", comparison)
                found[name].append(table)
    return together(found)


def _compare(
    published: pd.DataFrame, studies: Sequence[Study], sources: Mapping[str, Source]
) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """The rows that studies replay, with verdicts and the column within, and the evidence.

    None where no study replays any.
    """
    parts = []
    for table, rows in published.groupby("table", sort=False):
        runs = [study.runs for study in studies if table in study.compare and not study.fit]
        if runs:
            parts.append(statistics.beside(rows, pd.concat(runs, ignore_index=True)))
    if not parts:
        return None
    rows, evidence = audit(
        pd.concat(parts, ignore_index=True),
        fitted={
            table: _fitted(table, studies, sources.get(table, Source()))
            for table in published["table"].unique()
        },
        unstated={table: tuple(source.unstated) for table, source in sources.items()},
        remarks={table: source.remark for table, source in sources.items()},
    )
    rows["within"] = statistics.within_tolerance(rows)
    return rows, evidence


def _fitted(table: str, studies: Sequence[Study], source: Source) -> tuple[str, ...]:
    """What was fitted to a table: constants that it declares, settings of the host that fits do."""
    fits = [study for study in studies if table in study.fit and study.is_of_host]
    host = [each.name for study in fits for each in study.searched]
    return tuple(dict.fromkeys((*source.fitted, *host)))


def summaries(rows: pd.DataFrame, sources: Mapping[str, Source]) -> dict[str, pd.DataFrame]:
    """The tables of one comparison, from the rows of `audit` with the column within."""
    tables = statistics.agreement(rows).merge(counts(rows).drop(columns="rows"), on="table")
    said = [sources.get(table, Source()) for table in tables["table"]]
    tables["source"] = [source.text for source in said]
    tables["held"] = [json.dumps(dict(source.held)) for source in said]
    tables["unstated"] = [json.dumps(dict(source.unstated)) for source in said]
    sizes = rows[[f"relative_{metric}" for metric in SHOWN]].abs()
    summary = {
        "rows": len(rows),
        "tables": rows["table"].nunique(),
        "compared": tables["compared"].sum(),
        "within": int(rows["within"].sum()),
        "median_power": sizes[f"relative_{POWER}"].median(),
        "greatest": sizes.max(axis=None),
        **{verdict: int((rows["verdict"] == verdict).sum()) for verdict in VERDICTS},
    }
    return {
        "audit": rows.copy(),
        "audit_tables": tables,
        "audit_errors": errors(rows),
        "audit_summary": pd.DataFrame([summary]),
    }


def audit(
    rows: pd.DataFrame,
    fitted: Mapping[str, Sequence[str]],
    unstated: Mapping[str, Sequence[str]],
    remarks: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdict on each row, and the evidence for it.

    Args:
        rows: from `statistics.beside`, with columns step_<metric> where the digits are known.
        fitted: for each table, the constants and settings of the host that were fitted to it.
        unstated: for each table, the constants that its report does not state.
        remarks: for some tables, what their authors say elsewhere; evidence of what is unexplained.

    Returns:
        The rows, with columns name, agreement (reproduced, close, off; empty where nothing can be
        compared), checks (those that speak against the row, joined), wrong (the metric that they
        say most against) and verdict; and the evidence, without the column comparison.
    """
    rows = rows.reset_index(drop=True)
    against: dict[tuple[str, int], list[Finding]] = {}
    for finding in chain.from_iterable(check(rows) for check in CHECKS):
        against.setdefault((finding.table, finding.row), []).append(finding)
    found = rows.assign(name=names(rows), agreement=agreements(rows))
    judged = [
        _judge(
            row,
            against.get((row["table"], row["row"]), []),
            fitted.get(row["table"], ()),
            unstated.get(row["table"], ()),
            (remarks or {}).get(row["table"], ""),
        )
        for row in records(found)
    ]
    evidence = [
        {"table": row["table"], "row": row["row"], **NOTHING, **piece}
        for row, (*_, pieces) in zip(records(found), judged, strict=True)
        for piece in pieces
    ]
    verdicts = pd.DataFrame([each[:-1] for each in judged], columns=["checks", "wrong", "verdict"])
    return found.join(verdicts), pd.DataFrame(evidence).astype({"other_row": "Int64"})


def names(rows: pd.DataFrame) -> "pd.Series[str]":
    """A short name for each row: its report's number, and the constants that its table varies."""
    texts = pd.Series("", index=rows.index, dtype=object)
    for table, group in rows.groupby("table", sort=False):
        varied = [c for c in group.columns if c.startswith(CONSTANT) and group[c].nunique() > 1]
        report = labels.report_of(str(table)).removeprefix("Report ")
        for label, row in zip(group.index, records(group), strict=True):
            values = "/".join(labels.number(row[c]) for c in varied if row[c] == row[c])
            parts = (report, labels.words(row["controller"]), values or f"row {row['row'] + 1}")
            texts[label] = " ".join(parts)
    return texts


def agreements(rows: pd.DataFrame) -> "pd.Series[str]":
    """How near each row is to ours: reproduced, close, off; empty where nothing can be compared."""
    published, ours = logarithms(rows, "published"), logarithms(rows, "ours")
    judged = pd.DataFrame({m: published[m].notna() & ours[m].notna() for m in METRICS})
    texts = pd.Series("", index=rows.index, dtype=object)
    texts[judged.any(axis="columns")] = "off"
    exact = {metric: METRICS[metric].relative for metric in METRICS}
    for text, tolerances in (("close", CLOSE), ("reproduced", exact)):
        within = pd.DataFrame(
            {
                metric: (rows[f"relative_{metric}"].abs() <= tolerance)
                | (rows[f"difference_{metric}"].abs() <= METRICS[metric].absolute)
                for metric, tolerance in tolerances.items()
            }
        )
        texts[judged.any(axis="columns") & (within | ~judged).all(axis="columns")] = text
    return texts


def _judge(
    row: Record,
    against: Sequence[Finding],
    fitted: Sequence[str],
    unstated: Sequence[str],
    remark: str,
) -> tuple[str, str, str, list[Record]]:
    """Checks that speak against the row, what they say is wrong, the verdict, the evidence."""
    if against:
        checks = ", ".join(dict.fromkeys(finding.check for finding in against))
        worst = max(against, key=lambda each: each.size / each.limit if each.size > 0 else 0.0)
        return checks, worst.metric, CONTRADICTED, [_of_finding(each) for each in against]
    if not row["agreement"]:
        return "", "", "not comparable", [{"kind": _why_not(row)}]
    shown = [m for m in (THROUGHPUT, SIGNAL_DELAY) if row[f"relative_{m}"] == row[f"relative_{m}"]]
    evidence: list[Record] = [
        {"kind": "difference", "metric": metric} for metric in shown or [POWER]
    ]
    if fitted:
        return "", "", "fitted", [*evidence, {"kind": "fitted", "constants": fitted}]
    if row["agreement"] != "off":
        return "", "", row["agreement"], evidence
    if unstated:
        evidence.append({"kind": "unstated", "constants": unstated})
    if remark:
        evidence.append({"kind": "remark", "remark": remark})
    return "", "", "unexplained", evidence


def _of_finding(finding: Finding) -> Record:
    return {
        "kind": finding.check,
        "metric": finding.metric,
        "size": finding.size,
        "limit": finding.limit,
        **finding.more,
    }


def _why_not(row: Record) -> str:
    if all(pd.isna(row[f"published_{metric}"]) for metric in METRICS):
        return "no number"
    if not row["replayable"]:
        return "no constants"
    return "no run" if row["runs"] == 0 else "no such number"


# Summaries ------------------------------------------------------------------------------------


def counts(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The number of rows of each verdict, a line a table: columns table, rows, VERDICTS."""
    table = pd.crosstab(verdicts["table"], verdicts["verdict"])
    table = table.reindex(index=verdicts["table"].unique(), columns=VERDICTS, fill_value=0)
    table.insert(0, "rows", table.sum(axis="columns"))
    return table.rename_axis(index="table", columns=None).reset_index()


def errors(verdicts: pd.DataFrame) -> pd.DataFrame:
    """How large the differences are, rows with power only apart.

    Returns:
        One line for each metric and group of rows: columns metric, group ("all", "not
        contradicted" or "nothing fitted": neither contradicted nor fitted), rows, median, p90
        (of the absolute relative difference), near (the share of rows within CLOSE).
    """
    compared = verdicts[verdicts["agreement"] != ""]
    direct = compared[[f"relative_{THROUGHPUT}", f"relative_{SIGNAL_DELAY}"]].notna()
    lines = []
    for metric, printed in (
        (THROUGHPUT, direct.all(axis="columns")),
        (SIGNAL_DELAY, direct.all(axis="columns")),
        (POWER, ~direct.any(axis="columns")),
    ):
        of_metric = compared[printed]
        uncontested = of_metric[of_metric["verdict"] != CONTRADICTED]
        for group, rows in (
            ("all", of_metric),
            ("not contradicted", uncontested),
            ("nothing fitted", uncontested[uncontested["verdict"] != "fitted"]),
        ):
            size = rows[f"relative_{metric}"].abs()
            lines.append(
                {
                    "metric": metric,
                    "group": group,
                    "rows": len(size),
                    "median": size.median(),
                    "p90": size.quantile(0.9),
                    "near": (size <= CLOSE[metric]).mean(),
                }
            )
    return pd.DataFrame(lines)

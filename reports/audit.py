"""The audit of published tables: a verdict on every row, with its evidence in words.

Frames in, frames out; `reports.checks` and `reports.neighbours` find what speaks against a row.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

import pandas as pd

from reports import labels
from reports.checks import (
    CLOSE,
    Finding,
    arithmetic,
    conflicts,
    logarithms,
    name,
    repetitions,
    replays,
)
from reports.frames import Record, records
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.neighbours import neighbours
from reports.statistics import CONSTANT

VERDICTS = ("reproduced", "close", "fitted", "unexplained", "contradicted", "not comparable")
"""What a row can be; `unexplained` is off, and nothing but our runs speaks against it."""

CHECKS = (arithmetic, repetitions, conflicts, neighbours, replays)


def audit(
    rows: pd.DataFrame,
    fitted: Mapping[str, Sequence[str]],
    unstated: Mapping[str, Sequence[str]],
    remarks: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """The verdict on each row.

    Args:
        rows: from `statistics.beside`, with columns step_<metric> where the digits are known.
        fitted: for each table, the constants and settings of the host that were fitted to it.
        unstated: for each table, the constants that its report does not state.
        remarks: for some tables, what their authors say elsewhere; evidence of what is unexplained.

    Returns:
        The rows, with columns name, agreement (reproduced, close, off; empty where nothing can be
        compared), checks (those that speak against the row, joined), wrong (the metric that they
        say most against), verdict and evidence.
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
    return found.join(pd.DataFrame(judged, columns=["checks", "wrong", "verdict", "evidence"]))


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
) -> tuple[str, str, str, str]:
    """Checks that speak against the row, what they say is wrong, verdict and evidence."""
    if against:
        checks = ", ".join(dict.fromkeys(finding.check for finding in against))
        worst = max(against, key=lambda each: each.size / each.limit if each.size > 0 else 0.0)
        words = "; ".join(finding.words for finding in against)
        return checks, worst.metric, "contradicted", words
    if not row["agreement"]:
        return "", "", "not comparable", _why_not(row)
    differences = _differences(row)
    if fitted:
        what = labels.joined([labels.words(constant) for constant in fitted])
        return "", "", "fitted", f"{differences}; {what} fitted to this table"
    if row["agreement"] != "off":
        return "", "", row["agreement"], differences
    missing = [labels.words(constant) for constant in unstated]
    unsaid = f"the report does not state {labels.joined(missing)}" if missing else ""
    return "", "", "unexplained", "; ".join(filter(None, (differences, unsaid, remark)))


def _why_not(row: Record) -> str:
    if all(pd.isna(row[f"published_{metric}"]) for metric in METRICS):
        return "the report prints no number"
    if not row["replayable"]:
        return "the report does not print its constants"
    return "no study ran it" if row["runs"] == 0 else "ours has no such number"


def _differences(row: Record) -> str:
    """What ours less published is, for what can be compared."""
    shown = [m for m in (THROUGHPUT, SIGNAL_DELAY) if row[f"relative_{m}"] == row[f"relative_{m}"]]
    return ", ".join(
        f"{name(metric)} {labels.percent(row[f'relative_{metric}'], signed=True)}"
        for metric in shown or [POWER]
    )


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
        uncontested = of_metric[of_metric["verdict"] != "contradicted"]
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

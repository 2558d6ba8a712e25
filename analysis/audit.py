"""The audit of published tables: a verdict on every row, with its evidence.

`analysis.checks` and `analysis.neighbours` find what speaks against a row.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
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
    truncations,
)
from analysis.frames import CONSTANT, STEP, Record, records, together
from analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.neighbours import neighbours
from analysis.results import Results, Source
from analysis.schema import STAGES, VERDICTS, WITHIN_SPREAD
from common.tables import Tables
from experiments.exchanged import CONTRADICTED, REPORTS

CHECKS = (arithmetic, repetitions, conflicts, neighbours, replays)


MEASURED = "measured"
"""Beside REPORTS, what published rows are compared: reports' rows, or runs that were measured."""
COPIED = 1e-3
"""Settings that differ relatively by no more are the same: a report prints four digits of them."""
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
    published = results.published()
    found: dict[str, list[pd.DataFrame]] = {table.name: [] for table in STAGES["audit"].tables}
    for comparison, kind in ((REPORTS, "published"), (MEASURED, "measured")):
        for name, table in _compare(published[published["kind"] == kind], results).items():
            table.insert(0, "comparison", comparison)
            found[name].append(table)
    return together(found)


def _compare(published: pd.DataFrame, results: Results) -> dict[str, pd.DataFrame]:
    """The tables of one comparison; none where no study replays any of its rows."""
    studies, sources = results.studies(), results.sources()
    parts, elsewhere = [], []
    for table, rows in published.groupby("table", sort=False):
        replays = [study for study in studies if table in study.compare and not study.fit]
        if not replays:
            continue
        runs = pd.concat([study.runs for study in replays], ignore_index=True)
        parts.append(statistics.beside(rows, runs))
        own = rows["network"].iloc[0]
        networks = dict.fromkeys(name for study in replays for name in study.networks)
        elsewhere += [
            _elsewhere(rows, runs, str(network), results) for network in networks if network != own
        ]
    if not parts:
        return {}
    beside = pd.concat(parts, ignore_index=True)
    others = pd.concat(elsewhere, ignore_index=True) if elsewhere else pd.DataFrame()
    networks_of = beside.drop_duplicates("table").set_index("table")["network"]
    rows, evidence = audit(
        beside,
        fitted={
            str(table): (
                *sources.get(str(table), Source()).fitted,
                *fitted_host(str(table), str(network), results),
            )
            for table, network in networks_of.items()
        },
        unstated={table: tuple(source.unstated) for table, source in sources.items()},
        remarks={table: source.remark for table, source in sources.items()},
        selected={table: source.selected or "" for table, source in sources.items()},
        elsewhere={
            str(table): labels.joined(titles["network_title"].tolist())
            for table, titles in (others.groupby("table") if len(others) else ())
        },
    )
    rows["within"] = statistics.within_tolerance(rows)
    found = {**summaries(rows, sources), "audit_evidence": evidence}
    return {**found, "audit_replays": others} if len(others) else found


def _elsewhere(
    rows: pd.DataFrame, runs: pd.DataFrame, network: str, results: Results
) -> pd.DataFrame:
    """How well a table is met by its replay on another network than its own."""
    agreement = statistics.agreement(statistics.beside(rows.assign(network=network), runs))
    return agreement.assign(
        network=network,
        network_title=results.networks.get(network, network),
        fitted=bool(fitted_host(str(rows["table"].iloc[0]), network, results)),
    )


def fitted_host(table: str, network: str, results: Results) -> tuple[str, ...]:
    """The settings of the host that a fit to the table found and the network has.

    A fit counts only where the network's host is in every setting that of the fit at its best.
    """
    hosts = results.hosts
    found: list[str] = []
    for study in results.studies():
        if table not in study.fit or not study.is_of_host or study.trials["value"].isna().all():
            continue
        best = records(study.trials.sort_values("value", kind="stable"))[0]
        searched = {each.name: float(best[CONSTANT + each.name]) for each in study.searched}
        if _is_alike({**hosts.get(study.networks[0], {}), **searched}, hosts.get(network, {})):
            found += searched
    return tuple(dict.fromkeys(found))


def _is_alike(one: Mapping[str, float | str], other: Mapping[str, float | str]) -> bool:
    """Whether two hosts have the same settings, to as many digits as a person would copy."""
    if one.keys() != other.keys():
        return False
    return all(
        math.isclose(value, there, rel_tol=COPIED)
        if isinstance(value, float) and isinstance(there := other[name], float | int)
        else value == other[name]
        for name, value in one.items()
    )


def summaries(rows: pd.DataFrame, sources: Mapping[str, Source]) -> dict[str, pd.DataFrame]:
    """The tables of one comparison, from the rows of `audit` with the column within."""
    tables = statistics.agreement(rows).merge(counts(rows).drop(columns="rows"), on="table")
    said = [sources.get(table, Source()) for table in tables["table"]]
    tables["source"] = [source.text for source in said]
    tables["report"] = rows.drop_duplicates("table")["report"].tolist()
    tables["selected"] = [source.selected for source in said]
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
    selected: Mapping[str, str] | None = None,
    elsewhere: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdict on each row, and the evidence for it.

    Args:
        rows: from `statistics.beside`, with columns step_<metric> where the digits are known.
        fitted: for each table, the constants and settings of the host that were fitted to it.
        unstated: for each table, the constants that its report does not state.
        remarks: for some tables, what their authors say elsewhere; evidence of what is unexplained.
        selected: for some tables, that their rows are the best or the worst of many runs.
        elsewhere: for some tables, other networks than their own on which they were replayed.

    Returns:
        The rows, with columns name, agreement (reproduced, close, off; empty where nothing can be
        compared), checks (those that speak against the row, joined), wrong (the metric that they
        say most against) and verdict; and the evidence, without the column comparison.
    """
    rows = rows.reset_index(drop=True)
    against: dict[tuple[str, int], list[Finding]] = {}
    for finding in chain.from_iterable(check(rows) for check in CHECKS):
        against.setdefault((finding.table, finding.row), []).append(finding)
    cut_off = {(each.table, each.row): each for each in truncations(rows)}
    found = rows.assign(name=names(rows), agreement=agreements(rows))
    judged = [
        _judge(
            row,
            against.get((row["table"], row["row"]), []),
            _Said(
                fitted.get(row["table"], ()),
                unstated.get(row["table"], ()),
                (remarks or {}).get(row["table"], ""),
                (selected or {}).get(row["table"], ""),
                (elsewhere or {}).get(row["table"], ""),
                cut_off.get((row["table"], row["row"])),
            ),
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
    for _, group in rows.groupby("table", sort=False):
        varied = [c for c in group.columns if c.startswith(CONSTANT) and group[c].nunique() > 1]
        report = labels.short_report(str(group["report"].iloc[0]))
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


@dataclass(frozen=True)
class _Said:
    """What is said of a row besides its numbers: see `audit`."""

    fitted: Sequence[str]
    unstated: Sequence[str]
    remark: str
    selected: str
    elsewhere: str
    cut_off: Finding | None


def _judge(
    row: Record,
    against: Sequence[Finding],
    said: _Said,
) -> tuple[str, str, str, list[Record]]:
    """Checks that speak against the row, what they say is wrong, the verdict, the evidence."""
    beside: list[Record] = []
    if said.cut_off:
        beside.append(_of_finding(said.cut_off))
    if said.selected:
        beside.append({"kind": "selected", "remark": said.selected})
    if against:
        checks = ", ".join(dict.fromkeys(finding.check for finding in against))
        worst = max(against, key=lambda each: each.size / each.limit if each.size > 0 else 0.0)
        found = [_of_finding(each) for each in against]
        return checks, worst.metric, CONTRADICTED, [*found, *beside]
    if not row["agreement"]:
        return "", "", "not comparable", [_why_not(row, said.elsewhere), *beside]
    shown = [m for m in (THROUGHPUT, SIGNAL_DELAY) if row[f"relative_{m}"] == row[f"relative_{m}"]]
    evidence: list[Record] = [
        {"kind": "difference", "metric": metric} for metric in shown or [POWER]
    ]
    if said.fitted:
        return "", "", "fitted", [*evidence, {"kind": "fitted", "constants": said.fitted}, *beside]
    if row["agreement"] != "off":
        return "", "", row["agreement"], [*evidence, *beside]
    spread = _within_spread(row)
    if spread:
        return "", "", WITHIN_SPREAD, [*evidence, *spread, *beside]
    if said.unstated:
        beside.append({"kind": "unstated", "constants": said.unstated})
    if said.remark:
        beside.append({"kind": "remark", "remark": said.remark})
    return "", "", "unexplained", [*evidence, *beside]


def _within_spread(row: Record) -> list[Record]:
    """Our range of each number that is off, if all these lie within; nothing otherwise.

    It takes several runs of one setting, and allows for the rounding of what is printed.
    """
    if row["runs"] < 2 or row["settings"] != 1:
        return []
    known = [metric for metric in METRICS if row[f"relative_{metric}"] == row[f"relative_{metric}"]]
    follows = THROUGHPUT in known or SIGNAL_DELAY in known  # power, from what else is printed
    ranges: list[Record] = []
    for metric in (each for each in known if each != POWER or not follows):
        near = abs(row[f"relative_{metric}"]) <= CLOSE[metric]
        if near or abs(row[f"difference_{metric}"]) <= METRICS[metric].absolute:
            continue
        half = float(np.nan_to_num(row.get(STEP + metric, math.nan))) / 2
        low, high = row[f"least_{metric}"], row[f"greatest_{metric}"]
        if not low - half <= row[f"published_{metric}"] <= high + half:
            return []
        ranges.append({"kind": "spread", "metric": metric, "low": low, "high": high})
    return ranges


def _of_finding(finding: Finding) -> Record:
    return {
        "kind": finding.check,
        "metric": finding.metric,
        "size": finding.size,
        "limit": finding.limit,
        **finding.more,
    }


def _why_not(row: Record, elsewhere: str) -> Record:
    if all(pd.isna(row[f"published_{metric}"]) for metric in METRICS):
        return {"kind": "no number"}
    if not row["replayable"]:
        return {"kind": "no constants"}
    if row["runs"]:
        return {"kind": "no such number"}
    if row["failed"]:
        return {"kind": "failed", "remark": row["failure"]}
    return {"kind": "elsewhere", "remark": elsewhere} if elsewhere else {"kind": "no run"}


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

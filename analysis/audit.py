"""The audit of published tables: a verdict on every row, with its evidence.

`analysis.checks` and `analysis.neighbours` find the evidence against a row.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import pandas as pd

from analysis import labels, statistics
from analysis.checks import (
    CLOSE,
    Finding,
    arithmetic,
    conflicts,
    repetitions,
    replays,
    truncations,
)
from analysis.frames import CONSTANT, Record, records, together
from analysis.host_fits import fitted_host
from analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.nearness import OFF, agreements, is_within, not_close, sureness
from analysis.neighbours import neighbours
from analysis.results import Results, Source, StudyRuns
from analysis.schema import STAGES, VERDICTS, WITHIN_SPREAD
from analysis.spread import Selection
from common.tables import Tables
from experiments.exchanged import CONTRADICTED, REPORTS

CHECKS = (arithmetic, repetitions, conflicts, neighbours, replays)


MEASURED = "measured"
"""Besides REPORTS, a comparison: of rows that were measured, not printed."""
SURE = 0.95
"""Share of draws of our runs that must give a verdict for it to be clear."""
LEAST_RUNS = 10
"""With this many runs, none of ours contradicts an honest row (docs/decisions/0005)."""
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)

NOTHING: Record = {
    **dict.fromkeys(("metric", "along", "other_table", "other_row", "remark")),
    **dict.fromkeys(("size", "limit", "low", "high", "variation", "usual", "p"), math.nan),
    **dict.fromkeys(("other_published", "other_ours"), math.nan),
    "constants": (),
}
"""An empty row of audit_evidence."""


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    return tables_of(results, results.studies(), results.added_runs())


def tables_of(
    results: Results, studies: Sequence[StudyRuns], added: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """The tables of the stage.

    Args:
        results: published rows, with their networks and hosts.
        studies: those that replay a table, or that fit a host.
        added: further runs of rows whose verdict is unclear from the studies' runs.
    """
    published = results.published()
    found: dict[str, list[pd.DataFrame]] = {table.name: [] for table in STAGES["audit"].tables}
    for comparison, kind in ((REPORTS, "published"), (MEASURED, "measured")):
        rows = published[published["kind"] == kind]
        for name, table in _compare(rows, results, studies, added).items():
            table.insert(0, "comparison", comparison)
            found[name].append(table)
    return together(found)


def _compare(
    published: pd.DataFrame, results: Results, studies: Sequence[StudyRuns], added: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """The tables of one comparison; none if no study replays any of its rows."""
    sources = results.sources()
    selections = {table: source.selection for table, source in sources.items() if source.selection}
    fitted: dict[str, Sequence[str]] = {}
    parts: list[pd.DataFrame] = []
    behind: list[pd.DataFrame | None] = []
    lines: list[pd.DataFrame] = []
    for table, rows in ((str(name), each) for name, each in published.groupby("table", sort=False)):
        replays = [study for study in studies if table in study.compare and not study.fit]
        if not replays:
            continue
        own = str(rows["network"].iloc[0])
        for network in dict.fromkeys([own, *chain(*(study.networks for study in replays))]):
            is_own = network == own
            runs = statistics.runs_of(table, network, studies, added)
            there = rows.assign(network=network)
            beside = statistics.beside(there, runs, selections if is_own else None)
            host = fitted_host(table, network, studies, results.hosts)
            lines.append(
                statistics.agreement(beside).assign(
                    network=network,
                    network_title=results.networks.get(network, network),
                    own=is_own,
                    host_fitted=bool(host),
                )
            )
            if is_own:
                parts.append(beside)
                fitted[table] = (*sources.get(table, Source()).fitted, *host)
                behind += _runs_behind(beside, runs, bool(fitted[table]))
    if not parts:
        return {}
    beside = pd.concat(parts, ignore_index=True)
    tables = pd.concat(lines, ignore_index=True)
    rows, evidence = audit(
        beside.assign(sure=sureness(beside, behind, selections)),
        fitted=fitted,
        unstated={table: tuple(source.unstated) for table, source in sources.items()},
        remarks={table: source.remark for table, source in sources.items()},
        selections=selections,
        elsewhere={
            str(table): labels.joined(titles.tolist())
            for table, titles in tables[~tables["own"]].groupby("table")["network_title"]
        },
    )
    rows["within"] = statistics.within_tolerance(rows)
    return {
        "audit": rows,
        "audit_evidence": evidence,
        "audit_tables": _described(tables, rows, sources),
        "audit_summary": _summary(rows, results.most_runs),
    }


def _runs_behind(
    beside: pd.DataFrame, runs: pd.DataFrame, fitted: bool
) -> list[pd.DataFrame | None]:
    """For each row the runs behind its verdict; None: it is fitted."""
    if fitted:
        return [None] * len(beside)
    own = statistics.succeeded(statistics.on_own_host(runs))
    return [own[own["constants"] == constants] for constants in beside["constants"]]


def _described(
    tables: pd.DataFrame, rows: pd.DataFrame, sources: Mapping[str, Source]
) -> pd.DataFrame:
    """The replays of tables with their sources and, on a table's own network, their verdicts."""
    found = tables.merge(counts(rows).drop(columns="rows"), on="table")
    found.loc[~found["own"], list(VERDICTS)] = 0
    said = [sources.get(table, Source()) for table in found["table"]]
    selections = [source.selection for source in said]
    return found.assign(
        source=[source.text for source in said],
        report=found["table"].map(rows.drop_duplicates("table").set_index("table")["report"]),
        selected=pd.Series([each.extreme if each else None for each in selections], dtype=object),
        held=[json.dumps(dict(source.held)) for source in said],
        unstated=[json.dumps(dict(source.unstated)) for source in said],
    )


def _summary(rows: pd.DataFrame, limit: int | None) -> pd.DataFrame:
    """The one row of a comparison; runs were added up to `limit` (None: none were)."""
    sizes = rows[[f"relative_{metric}" for metric in SHOWN]].abs()
    summary = {
        "rows": len(rows),
        "tables": rows["table"].nunique(),
        "compared": int(rows["within"].notna().sum()),
        "within": int(rows["within"].sum()),
        "median_power": sizes[f"relative_{POWER}"].median(),
        "greatest": sizes.max(axis=None),
        "limit": limit,
        **{verdict: int((rows["verdict"] == verdict).sum()) for verdict in VERDICTS},
    }
    return pd.DataFrame([summary]).astype({"limit": "Int64"})


def audit(
    rows: pd.DataFrame,
    fitted: Mapping[str, Sequence[str]],
    unstated: Mapping[str, Sequence[str]],
    remarks: Mapping[str, str] | None = None,
    selections: Mapping[str, Selection] | None = None,
    elsewhere: Mapping[str, str] | None = None,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The verdict on each row, and the evidence for it.

    Args:
        rows: from `statistics.beside`, with columns step_<metric> where the digits are known, and
            sure (see `nearness.sureness`).
        fitted: for each table, the parameters and host settings that were fitted to it.
        unstated: for each table, the parameters that its report does not state.
        remarks: for some tables, authors' notes from elsewhere, as evidence on unexplained rows.
        selections: for some tables, how their rows were selected from many runs.
        elsewhere: for some tables, other networks than their own on which they were replayed.

    Returns:
        The rows, with columns name, agreement (reproduced, close, off; empty where nothing can be
        compared), checks (those that speak against the row, joined), wrong (the metric that they
        say most against), verdict and clear (whether further runs would leave the verdict as it
        is); and the evidence, without the column comparison.
    """
    rows = rows.reset_index(drop=True)
    against: dict[tuple[str, int], list[Finding]] = {}
    for finding in chain.from_iterable(check(rows) for check in CHECKS):
        against.setdefault((finding.table, finding.row), []).append(finding)
    cut_off = {(each.table, each.row): each for each in truncations(rows)}
    found = rows.assign(name=names(rows), agreement=agreements(rows))
    spreads = _spreads(rows)
    judged = [
        _judge(
            row,
            against.get((row["table"], row["row"]), []),
            _Said(
                fitted.get(row["table"], ()),
                unstated.get(row["table"], ()),
                (remarks or {}).get(row["table"], ""),
                (selections or {}).get(row["table"]),
                (elsewhere or {}).get(row["table"], ""),
                cut_off.get((row["table"], row["row"])),
                spreads.get(label, []),
            ),
        )
        for label, row in enumerate(records(found))
    ]
    evidence = [
        {"table": row["table"], "row": row["row"], **NOTHING, **piece}
        for row, (*_, pieces) in zip(records(found), judged, strict=True)
        for piece in pieces
    ]
    verdicts = pd.DataFrame([each[:-1] for each in judged], columns=["checks", "wrong", "verdict"])
    found = found.join(verdicts)
    found["clear"] = _are_clear(found)
    return found, pd.DataFrame(evidence).astype({"other_row": "Int64"})


def _spreads(rows: pd.DataFrame) -> dict[int, list[Record]]:
    """Explanations of rows that are not close: our intervals of their deviating numbers.

    One more run of ours may be what was printed, or else one on another of the hosts that the fit
    of the network's host leaves open.
    """
    off = rows[agreements(rows) == OFF]
    found: dict[int, list[Record]] = {}
    for kind, low, high in (("host", "host_low", "host_high"), ("spread", "low", "high")):
        for label in off.index[is_within(off, low, high)]:
            row = off.loc[label]
            found[label] = [
                {
                    **{"kind": kind, "metric": metric},
                    **{"low": row[f"{low}_{metric}"], "high": row[f"{high}_{metric}"]},
                }
                for metric in not_close(off.loc[[label]])
            ]
    return found


def _are_clear(found: pd.DataFrame) -> "pd.Series[bool]":
    """Whether further runs would not change a verdict.

    A distance from our runs is evidence if these are LEAST_RUNS at least.
    """
    rests_on_few = (found["checks"] == "replay") & (found["runs"] < LEAST_RUNS)
    needs_none = found["verdict"].isin([CONTRADICTED, "fitted", "not comparable"])
    return (needs_none & ~rests_on_few) | (~needs_none & (found["sure"] >= SURE))


def names(rows: pd.DataFrame) -> "pd.Series[str]":
    """A short name for each row: its report's number, and the parameters that its table varies."""
    texts = pd.Series("", index=rows.index, dtype=object)
    for _, group in rows.groupby("table", sort=False):
        varied = [c for c in group.columns if c.startswith(CONSTANT) and group[c].nunique() > 1]
        report = labels.short_report(str(group["report"].iloc[0]))
        for label, row in zip(group.index, records(group), strict=True):
            values = "/".join(labels.number(row[c]) for c in varied if row[c] == row[c])
            parts = (report, labels.words(row["controller"]), values or f"row {row['row'] + 1}")
            texts[label] = " ".join(parts)
    return texts


@dataclass(frozen=True)
class _Said:
    """The notes on a row besides its numbers: see `audit`."""

    fitted: Sequence[str]
    unstated: Sequence[str]
    remark: str
    selection: Selection | None
    elsewhere: str
    cut_off: Finding | None
    spread: Sequence[Record]


def _judge(
    row: Record,
    against: Sequence[Finding],
    said: _Said,
) -> tuple[str, str, str, list[Record]]:
    """Checks that contradict the row, the wrong number, the verdict, the evidence."""
    beside: list[Record] = []
    if said.cut_off:
        beside.append(_of_finding(said.cut_off))
    if row["settings"] > 1:
        beside.append({"kind": "nearest", "remark": row["nearest"]})
    if said.selection:
        of = {"low": said.selection.least, "high": said.selection.most}
        beside.append({"kind": "selected", "remark": said.selection.extreme, **of})
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
    if said.spread:
        return "", "", WITHIN_SPREAD, [*evidence, *said.spread, *beside]
    if said.unstated:
        beside.append({"kind": "unstated", "constants": said.unstated})
    if said.remark:
        beside.append({"kind": "remark", "remark": said.remark})
    return "", "", "unexplained", [*evidence, *beside]


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
    """The number of rows of each verdict, one line per table: columns table, rows, VERDICTS."""
    table = pd.crosstab(verdicts["table"], verdicts["verdict"])
    table = table.reindex(index=verdicts["table"].unique(), columns=VERDICTS, fill_value=0)
    table.insert(0, "rows", table.sum(axis="columns"))
    return table.rename_axis(index="table", columns=None).reset_index()


def errors(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The sizes of the differences, with rows that print power only counted separately.

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

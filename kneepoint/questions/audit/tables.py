"""A verdict on every row of published tables, with its evidence.

`checks` finds evidence against a row; `beside` compares the row with our runs.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, product

import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.frames import (
    Parts,
    Record,
    parameters_in,
    records,
    select,
    together,
    with_parameters,
)
from kneepoint.analysis.further_run import Selection
from kneepoint.analysis.inventory import InventoryEntry, experiment_entry
from kneepoint.analysis.metrics import (
    METRICS,
    POWER,
    SIGNAL_DELAY,
    THROUGHPUT,
    as_printed,
    per_metric,
)
from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables, flag, read_frame, real, table, text, texts, whole
from kneepoint.config.published import TableDescription
from kneepoint.config.study import EMULATOR
from kneepoint.questions.audit import ADDED_RUNS, adds_runs
from kneepoint.questions.audit.beside import (
    OFF,
    WITHIN_SPREAD,
    agreement_stability,
    agreements,
    beside,
    fitted_host,
    is_within,
    not_close,
    replayed,
    runs_of,
    unfit,
)
from kneepoint.questions.audit.checks import (
    CAPACITY,
    Finding,
    arithmetic,
    capacities,
    conflicts,
    neighbours,
    repetitions,
    replays,
    truncations,
)
from kneepoint.runs.audit_table import AGREEING, AUDIT, CONTRADICTED, REPORTS
from kneepoint.runs.results import RESULTS, RUNS

OF_PRINT = (arithmetic, capacities)
"""Checks that need no run of the row."""
OF_RUNS = (repetitions, conflicts, neighbours, replays)
CHECKS = (*OF_PRINT, *OF_RUNS)

MEASURED = "measured"
"""The comparison with rows that were measured; REPORTS is the comparison with printed rows."""
SURE = 0.95
"""The minimum share of draws of our runs that give the same agreement if a verdict is clear."""
MIN_RUNS = 10
"""The number from which our runs do not contradict a correct row (docs/decisions/0005)."""

NO_EVIDENCE = "no evidence"
VERDICTS = (
    *(*AGREEING, WITHIN_SPREAD, "unexplained"),
    *(CONTRADICTED, NO_EVIDENCE, "not comparable"),
)
"""All verdicts. A row `within our spread` is off, but one further run, on the network's host or on
a host that fits equally well, may give the printed number. An `unexplained` row is off, and no
check contradicts it. `no evidence`: our runs are no evidence for or against the row (see
`beside`)."""

SETTINGS = table(
    "added_runs/settings",
    'a setting; host: changes of the network\'s host as JSON; "" without changes',
    whole("trial"),
    text("controller", "parameters", "network", "host"),
    version=RESULTS,
)
"""A table of the experiment that adds runs (see `plan`)."""

TABLES = (
    table(
        "audit",
        "a published row and the mean of our runs; comparison is reports or measured",
        AUDIT.columns,
        text("report", "kind"),
        whole("mark"),
        text("controller", "network"),
        flag("replayable"),
        real("parameter_*", "step_*"),
        per_metric("published_", "ours_", "deviation_", "least_", "greatest_"),
        # The interval of one further run, on the network's host, and on every host that the fit
        # leaves open.
        per_metric("low_", "high_", "host_low_", "host_high_"),
        per_metric("difference_"),
        per_metric("relative_", unit=""),
        # Our runs of a row: their number, settings and failures; the setting that is compared, and
        # its parameters that differ from the other settings'.
        whole("runs", "settings", "failed"),
        text("parameters", "nearest", "failure", "name", "agreement", "checks", "wrong"),
        # The share of our packets that queues dropped, and the shares of RunRecord.
        real("loss", "at_bound_share", "idle_share"),
        # The share of draws of our runs that give the same agreement; whether the verdict is clear.
        real("sure"),
        flag("clear"),
    ),
    table(
        "audit_evidence",
        "evidence for a verdict: a check that contradicts the row (its kind), a difference, or "
        "another explanation; numbers are in the unit of the metric",
        text("comparison", "table"),
        whole("row"),
        text("kind"),
        text("metric", optional=True),
        # The error of the metric, and the smallest error that counts, as differences of logarithms.
        real("size", "limit"),
        # The range that the row's other numbers, its neighbours along a parameter or throughput, or
        # one further run allow; NaN: no bound. For a selection: the number of runs.
        real("low", "high"),
        text("along", optional=True),
        # The row of the same table that this row repeats, or the row that it conflicts with.
        text("other_table", optional=True),
        whole("other_row", optional=True),
        real("other_published", "other_ours"),
        # The relative standard deviation of our runs, the median absolute relative difference of
        # the table's other rows, and the probability that one of the table's numbers is as far off
        # if all have one distribution; missing above 1 %.
        real("variation", "usual", "p"),
        texts("parameters"),
        text("remark", optional=True),
        # The share of packets lost, of the time at the bound, or of the capacity that passed
        # unused.
        real("share"),
    ),
    table(
        "audit_tables",
        "a published table on its own network: its source, how many rows agree, how many have "
        "each verdict; or its replay on another network, which gives no verdict; host_fitted: "
        "the network's host was fitted to the table",
        text("comparison", "table", "report", "source", "held", "unstated"),
        text("selected", optional=True),
        text("network", "network_title"),
        flag("own", "host_fitted"),
        whole("rows", "compared"),
        per_metric("median_", "worst_", unit=""),
        whole(*VERDICTS),
    ),
)


def added_runs(results: Results) -> pd.DataFrame:
    """Reads the runs added until verdicts are clear: see `added_frame`."""
    if not adds_runs(results.workflow):
        return pd.DataFrame()
    folder = results.folder / ADDED_RUNS
    hosts = read_frame(folder / SETTINGS.file, SETTINGS)["host"]
    return added_frame(read_frame(folder / "runs.parquet", RUNS), hosts.tolist())


def added_frame(runs: pd.DataFrame, hosts: Sequence[str]) -> pd.DataFrame:
    """Adds a column host: the changed settings of the network's host, as JSON; "" without changes.

    Args:
        runs: see `plan`.
        hosts: the host of each trial.
    """
    return with_parameters(runs).assign(host=[hosts[trial] for trial in runs["trial"]])


def inventory_entries(results: Results) -> Iterator[InventoryEntry]:
    """Yields the runs added until verdicts are clear."""
    added = results.part(added_runs)
    if len(added):
        settings = added.groupby(["controller", "parameters", "network", "host"]).ngroups
        yield experiment_entry(ADDED_RUNS, "added", EMULATOR, settings=settings), added


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables."""
    found, published = Parts(list), results.published
    for comparison, kind in ((REPORTS, "published"), (MEASURED, "measured")):
        rows = published[published["kind"] == kind]
        for name, frame in _compare(rows, results).items():
            frame.insert(0, "comparison", comparison)
            found[name].append(frame)
    return together(found)


def _compare(published: pd.DataFrame, results: Results) -> dict[str, pd.DataFrame]:
    """Makes the tables of one comparison; empty if no study replays any of its rows."""
    studies, added = results.part(replayed), results.part(added_runs)
    sources = dict(results.sources)
    parts: list[pd.DataFrame] = []
    lines: list[Record] = []
    for name, rows in ((str(of), each) for of, each in published.groupby("table", sort=False)):
        replays = [study for study in studies if name in study.compare and not study.config.fit]
        if not replays:
            continue
        source, selection = sources[name], Selection.of(sources[name])
        own = list(rows["network"].unique())
        used = dict.fromkeys(chain(*(study.config.networks for study in replays)))
        for networks in (own, *([network] for network in used if network not in own)):
            network, is_own = str(networks[0]), networks is own
            runs = pd.concat([runs_of(name, n, studies, added) for n in networks])
            of_network = rows if is_own else rows.assign(network=network)
            ours = beside(of_network, runs, selection if is_own else None)
            host = fitted_host(name, network, studies, results.hosts)
            fit = ours.drop(index=list(unfit(ours)))
            sizes = {metric: fit[f"relative_{metric}"].abs() for metric in METRICS}
            lines.append(
                {
                    "table": name,
                    "rows": len(ours),
                    "compared": (agreements(ours) != "").sum(),
                    **{f"median_{metric}": each.median() for metric, each in sizes.items()},
                    **{f"worst_{metric}": each.max() for metric, each in sizes.items()},
                    "network": network,
                    "network_title": labels.joined([results.title(each) for each in networks]),
                    "own": is_own,
                    "host_fitted": bool(host),
                }
            )
            if is_own:
                fitted = (*source.fitted, *host)
                sources[name] = source.model_copy(update={"fitted": fitted})
                sure = math.nan if fitted else agreement_stability(ours, runs, selection)
                links = runs.groupby("network")[CAPACITY].max()
                capacity = ours["network"].map(links)
                parts.append(ours.assign(sure=sure, **{CAPACITY: capacity}))
    if not parts:
        return {}
    tables = pd.DataFrame(lines)
    elsewhere = {
        str(table): labels.joined(titles.tolist())
        for table, titles in tables[~tables["own"]].groupby("table")["network_title"]
    }
    rows, evidence = audit(pd.concat(parts, ignore_index=True), sources, elsewhere)
    return {
        "audit": rows,
        "audit_evidence": evidence,
        "audit_tables": _described(tables, rows, sources),
    }


def _described(
    tables: pd.DataFrame, rows: pd.DataFrame, sources: Mapping[str, TableDescription]
) -> pd.DataFrame:
    """Adds the sources of tables and, on a table's own network, the counts of verdicts."""
    counts = pd.crosstab(rows["table"], rows["verdict"]).reindex(columns=VERDICTS, fill_value=0)
    found = tables.join(counts, on="table")
    found.loc[~found["own"], list(VERDICTS)] = 0
    said = [sources[table] for table in found["table"]]
    return found.assign(
        source=[source.source for source in said],
        report=found["table"].map(rows.drop_duplicates("table").set_index("table")["report"]),
        selected=found["table"].map({name: each.selected for name, each in sources.items()}),
        held=[json.dumps(dict(source.parameters)) for source in said],
        unstated=[json.dumps(dict(source.unstated)) for source in said],
    )


def audit(
    rows: pd.DataFrame, sources: Mapping[str, TableDescription], elsewhere: Mapping[str, str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Judges each row, and returns the evidence.

    Args:
        rows: from `beside.beside`, with columns step_<metric> where the digits are known, and sure
            (see `beside.agreement_stability`); capacity_mbps of their links is not returned.
        sources: the description of each table; its `fitted` includes fitted settings of the host.
        elsewhere: by table, the titles of other networks on which it was replayed.

    Returns:
        The rows of the tables audit and audit_evidence, without the column comparison: agreement is
        reproduced, close, off, or empty where no number can be compared; checks are the joined
        names of the checks that contradict the row, and wrong is the metric that is off by the
        greatest margin.
    """
    rows = rows.reset_index(drop=True)
    against: dict[tuple[str, int], list[Finding]] = {}
    unfit_runs = unfit(rows)
    without, fit = rows.copy(), rows.drop(index=list(unfit_runs))
    without.loc[list(unfit_runs), [f"ours_{metric}" for metric in METRICS]] = math.nan
    of_print, of_runs = (check(without) for check in OF_PRINT), (check(fit) for check in OF_RUNS)
    for finding in chain.from_iterable(chain(of_print, of_runs)):
        against.setdefault((finding.table, finding.row), []).append(finding)
    cut_off = {(each.table, each.row): _of_finding(each) for each in truncations(rows)}
    found = rows.assign(name=names(rows), agreement=agreements(rows))
    spreads = _spreads(rows)
    verdicts: list[Record] = []
    evidence: list[Record] = []
    for label, row in enumerate(records(found)):
        table, key = row["table"], (row["table"], row["row"])
        checks, spread = against.get(key, []), spreads.get(label, [])
        why, other_networks = unfit_runs.get(label, []), elsewhere.get(table, "")
        verdict, pieces = _judge(row, checks, why, sources[table], spread, other_networks)
        verdicts.append({**_said(checks), "verdict": verdict})
        pieces += [cut_off[key]] if key in cut_off else []
        pieces += _beside(row, sources[table], verdict)
        evidence += [{"table": table, "row": row["row"], **piece} for piece in pieces]
    found = found.join(pd.DataFrame(verdicts))
    found["clear"] = _are_clear(found)
    return found.drop(columns=CAPACITY, errors="ignore"), pd.DataFrame(evidence)


def _said(against: Sequence[Finding]) -> Record:
    """Returns the checks that contradict a row, and the metric that deviates most."""
    checks = ", ".join(dict.fromkeys(finding.check for finding in against))
    ordered = sorted(against, key=lambda each: -each.size / each.limit if each.size > 0 else 0.0)
    return {"checks": checks, "wrong": ordered[0].metric if ordered else ""}


def _spreads(rows: pd.DataFrame) -> dict[int, list[Record]]:
    """Explains rows whose deviating numbers lie within our intervals."""
    off = rows[agreements(rows) == OFF]
    found: dict[int, list[Record]] = {}
    for kind, low, high in (("host", "host_low", "host_high"), ("spread", "low", "high")):
        for label in off.index[is_within(off, low, high)]:
            row = off.loc[label]
            found[label] = [
                {"kind": kind, "metric": m, "low": row[f"{low}_{m}"], "high": row[f"{high}_{m}"]}
                for m in not_close(off.loc[[label]])
            ]
    return found


def _are_clear(found: pd.DataFrame) -> "pd.Series[bool]":
    """Returns whether a verdict is clear, so that further runs would not change it.

    A distance from our runs is evidence only with at least MIN_RUNS runs.
    """
    rests_on_few = (found["checks"] == "replay") & (found["runs"] < MIN_RUNS)
    needs_none = found["verdict"].isin([CONTRADICTED, "fitted", NO_EVIDENCE, "not comparable"])
    return (needs_none & ~rests_on_few) | (~needs_none & (found["sure"] >= SURE))


def names(rows: pd.DataFrame) -> "pd.Series[str]":
    """Returns a short name for each row: report, controller, and the parameters that vary."""
    texts = pd.Series("", index=rows.index, dtype=object)
    for _, group in rows.groupby("table", sort=False):
        varied = parameters_in(group, varied=True)
        report = str(group["report"].iloc[0]).removeprefix("Report ")
        for label, row in zip(group.index, records(group), strict=True):
            values = "/".join(labels.number(row[c]) for c in varied if row[c] == row[c])
            parts = (report, labels.words(row["controller"]), values or f"row {row['row'] + 1}")
            texts[label] = " ".join(parts)
    return texts


def _judge(
    row: Record,
    against: Sequence[Finding],
    unfit_runs: Sequence[Record],
    source: TableDescription,
    spread: Sequence[Record],
    elsewhere: str,
) -> tuple[str, list[Record]]:
    """Returns the verdict on a row, and its evidence."""
    if against:
        return CONTRADICTED, [_of_finding(each) for each in against]
    if not row["agreement"]:
        return "not comparable", [_why_not(row, elsewhere)]
    if unfit_runs:
        return NO_EVIDENCE, list(unfit_runs)
    shown = [m for m in (THROUGHPUT, SIGNAL_DELAY) if row[f"relative_{m}"] == row[f"relative_{m}"]]
    evidence: list[Record] = [{"kind": "difference", "metric": m} for m in shown or [POWER]]
    if source.fitted:
        return "fitted", [*evidence, {"kind": "fitted", "parameters": source.fitted}]
    if row["agreement"] == OFF:
        return WITHIN_SPREAD if spread else "unexplained", [*evidence, *spread]
    return row["agreement"], evidence


def _beside(row: Record, source: TableDescription, verdict: str) -> Iterator[Record]:
    """Yields the remarks on a row that do not depend on its numbers."""
    if row["settings"] > 1:
        yield {"kind": "nearest", "remark": row["nearest"]}
    if selection := Selection.of(source):
        of = {"low": selection.least, "high": selection.most}
        yield {"kind": "selected", "remark": selection.extreme, **of}
    if verdict == "unexplained" and source.unstated:
        yield {"kind": "unstated", "parameters": tuple(source.unstated)}
    if verdict == "unexplained" and source.remark:
        yield {"kind": "remark", "remark": source.remark}


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
        return {"kind": "no parameters"}
    if row["runs"]:
        return {"kind": "no such number"}
    if row["failed"]:
        return {"kind": "failed", "remark": row["failure"]}
    return {"kind": "elsewhere", "remark": elsewhere} if elsewhere else {"kind": "no run"}


def printed(tables: Tables) -> pd.DataFrame:
    """Formats each published number as its source prints it, and marks truncated numbers.

    Returns:
        Columns table, row, metric, text.
    """
    cut_off = select(tables["audit_evidence"], kind="truncation")
    truncated = set(zip(cut_off["table"], cut_off["row"], cut_off["metric"], strict=True))
    lines = []
    for row, metric in product(records(tables["audit"]), METRICS):
        place = row["table"], row["row"], metric
        sign = " (truncated)" if place in truncated else ""
        if not math.isnan(row[f"published_{metric}"]):
            lines.append((*place, f"{as_printed(row, metric)}{sign}"))
    return pd.DataFrame(lines, columns=["table", "row", "metric", "text"])


DERIVED = {"printed": printed}

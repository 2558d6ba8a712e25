"""Comparison of our runs with published rows, and the hosts that were fitted to rows.

Runs whose throughput and delay are close to a row's may still be no evidence for it. Each threshold
is one half, for a different reason:

- loss: a sender clocked by acknowledgments sends at most two packets for each delivered packet in
  slow start (RFC 5681, section 3.1), and one packet otherwise (conservation of packets, Jacobson
  1988). Queues therefore drop at most half of its packets, even if it never leaves slow start. A
  rule that reduces its window on loss loses far less: Reno, which fills a path of W packets and
  then halves its window, loses a share of 8 / 3 W^2; in the shipped studies Reno and CUBIC alone on
  a link lose at most 8 %. A sender that loses more than half floods the link: its throughput is the
  link's capacity and its delay the queue's length, whatever its rule.
- bound: a window that is at the transport's maximum, or above TCP's buffers, for most of the time
  does not follow its rule; the buffer determines the delay.
- idle: if most of the capacity passed unused, the sender was idle for most of the time, and
  throughput and delay describe only the remaining time.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.frames import PARAMETER, Record, records
from kneepoint.analysis.further_run import Selection, figures
from kneepoint.analysis.metrics import METRICS, POWER, resolution
from kneepoint.analysis.recovery import recovery
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.analysis.statistics import succeeded
from kneepoint.common.json_text import parse_json
from kneepoint.engines.base import SHARES
from kneepoint.questions.audit import audited
from kneepoint.questions.audit.checks import CLOSE, logarithms
from kneepoint.runs.seeds import derive_seed
from kneepoint.stats import Floats
from kneepoint.stats.intervals import t_quantile

MAX_LOST = 0.5
"""The maximum share of packets that queues may drop."""
MAX_OF_TIME = 0.5
"""The maximum share of the time at the bound, and of the capacity that passes unused."""
LIMITS = {"loss": MAX_LOST, "at_bound_share": MAX_OF_TIME, "idle_share": MAX_OF_TIME}
KINDS = {"loss": "lost", "at_bound_share": "at bound", "idle_share": "idle"}
"""Kinds of reasons for which our runs are no evidence, by the column that exceeds its limit."""
DRAWS = 200
"""The number of bootstrap draws of a row's runs that test whether its agreement is stable."""
OFF = "off"
_NORMAL = 1.959964
"""The 97.5th percentile of a normal distribution."""
WITHIN_SPREAD = "within our spread"
"""The verdict on a row that is off, but within the interval of one further run of ours."""
Hosts = Mapping[str, Mapping[str, float | str]]
"""The host settings of each network, by name."""
COPIED = 1e-3
"""The relative difference up to which host settings are equal: a report prints four digits."""


def beside(
    published: pd.DataFrame,
    runs: pd.DataFrame,
    selection: Selection | None = None,
) -> pd.DataFrame:
    """Compares each published row with our runs of its controller, network and parameters.

    A row that leaves a parameter open may match runs of several settings; it is compared with the
    nearest setting.

    Args:
        published: rows of `Results.published`; a row that is not replayable matches no run.
        runs: see `runs_of`. If they have a column host, it is "" for runs on the network's own
            host.
        selection: how the rows were selected from many runs.

    Returns:
        For each row, these columns of the table audit: the row's columns, with its metrics as
        published_<metric>; the columns of `figures`; host_low_<metric> and host_high_<metric>, an
        interval that covers the intervals on all hosts (NaN without another host); the differences;
        and the runs' setting. `failed` counts failed runs, which `runs` does not include.
    """
    return pd.DataFrame(
        [_compared(line, _matching(line, runs), selection) for _, line in published.iterrows()]
    )


def runs_of(
    table: str, network: str, studies: Iterable[StudyRuns], added: pd.DataFrame
) -> pd.DataFrame:
    """Returns the runs on a network with which a published table is compared.

    Parameters that the table leaves open have the values of the study that replays it; without such
    a study, the values of the studies that list it under `compare`. Runs of other studies and added
    runs count only if they have the same parameters: they may belong to another table, which varies
    a parameter that this table leaves open.
    """
    compared = [study for study in studies if table in study.compare and not study.config.fit]
    here = [study for study in compared if network in study.config.networks]
    replays = [study for study in here if study.config.table == table] or here
    parameters = {each for study in replays for each in study.runs["parameters"]}
    runs = pd.concat([*(study.runs for study in compared), added], ignore_index=True)
    return runs[(runs["network"] == network) & runs["parameters"].isin(parameters)]


def _matching(line: "pd.Series[Any]", runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the runs, on any host, of a row's controller, network and stated parameters."""
    match = np.full(len(runs), bool(line["replayable"]))
    for name, value in line.items():
        if name in ("controller", "network"):
            match &= (runs[name] == value).to_numpy()
        elif str(name).startswith(PARAMETER) and pd.notna(value):
            parameter = runs[name] if name in runs else pd.Series(math.nan, runs.index)
            match &= np.isclose(parameter.to_numpy(dtype=float), float(value), rtol=1e-9)
    found: pd.DataFrame = runs[match]
    return found


def _nearest(line: "pd.Series[Any]", runs: pd.DataFrame) -> str:
    """Returns the parameters of the setting whose means are nearest to a row; "" without runs."""
    if runs["parameters"].nunique() < 2:
        return "" if runs.empty else str(runs["parameters"].iloc[0])
    means = runs.groupby("parameters", sort=False)[list(METRICS)].mean()
    printed = pd.Series({metric: line.get(metric, math.nan) for metric in METRICS}, dtype=float)
    if printed.drop(POWER).notna().any():  # power follows from throughput and delay
        printed[POWER] = math.nan
    off = pd.DataFrame(np.log(means / printed)).abs().max(axis="columns")
    return str(off.idxmin() if off.notna().any() else means.index[0])


def _compared(line: "pd.Series[Any]", runs: pd.DataFrame, selection: Selection | None) -> Record:
    own = on_own_host(runs)
    failed = own.loc[own["status"] != "ok", "reason"]
    measured = succeeded(own)
    settings = measured["parameters"].drop_duplicates()
    parameters = _nearest(line, measured)
    ours = measured[measured["parameters"] == parameters]
    elsewhere = runs.drop(own.index)
    row: Record = {str(k): v for k, v in line.items() if k not in METRICS}
    row |= {name: float(value[0]) for name, value in figures(_one_draw(ours), selection).items()}
    row |= _over_hosts(row, elsewhere[elsewhere["parameters"] == parameters], selection)
    for metric in METRICS:
        published = float(line.get(metric, math.nan))
        row[f"published_{metric}"] = published
        row[f"difference_{metric}"] = row[f"ours_{metric}"] - published
        row[f"relative_{metric}"] = row[f"ours_{metric}"] / published - 1
    row |= {"runs": len(ours), "parameters": parameters, "settings": len(settings)}
    row |= shares(ours)
    row["nearest"] = ""
    if len(settings) > 1:
        differing = labels.differing(parse_json(parameters), map(parse_json, settings))
        row["nearest"] = labels.parameters(differing)
    row["failed"] = len(failed)
    row["failure"] = str(failed.iloc[0]) if len(failed) else ""
    return row


def shares(runs: pd.DataFrame) -> dict[str, float]:
    """Returns the share of packets that queues dropped, and the means of SHARES; NaN if unknown.

    Random losses that a link's description prescribes do not count.
    """
    sent, dropped = runs[["packets_sent", "packets_dropped"]].dropna().sum()
    loss = float(dropped / sent) if sent else math.nan
    return {"loss": loss, **{name: float(runs[name].mean()) for name in SHARES}}


def _one_draw(runs: pd.DataFrame) -> dict[str, Floats]:
    return {metric: runs[metric].to_numpy(dtype=float)[None, :] for metric in METRICS}


def _over_hosts(
    row: Mapping[str, Any], elsewhere: pd.DataFrame, selection: Selection | None
) -> dict[str, float]:
    """Returns an interval of each metric that covers the intervals on all hosts."""
    good, found = succeeded(elsewhere), {}
    hosts = [each for _, each in good.groupby("host")] if len(good) else []
    for_each = [figures(_one_draw(each), selection) for each in hosts]
    for end, outermost in (("low", min), ("high", max)):
        for name in (f"{end}_{metric}" for metric in METRICS):
            ends = [row[name], *(float(each[name][0]) for each in for_each)]
            found[f"host_{name}"] = outermost(ends) if for_each else math.nan
    return found


def unfit(rows: pd.DataFrame) -> dict[int, list[Record]]:
    """Returns, by label, the reasons for which our runs are no evidence: rows of audit_evidence.

    Args:
        rows: from `beside`.
    """
    found = ((label, list(_why(row))) for label, row in zip(rows.index, records(rows), strict=True))
    return {int(label): pieces for label, pieces in found if pieces}


def _why(row: Record) -> Iterator[Record]:
    for name, most in LIMITS.items():
        share = float(row.get(name, math.nan))
        if share > most:
            yield {"kind": KINDS[name], "share": share}


# How near a row is --------------------------------------------------------------------------------


def agreements_with_spread(rows: pd.DataFrame) -> "pd.Series[str]":
    """Returns `agreements`, with WITHIN_SPREAD for rows whose difference our spread explains."""
    rows = _with_ranges(rows)
    found = agreements(rows)
    is_off = found == OFF
    is_explained = is_within(rows[is_off], "low", "high").reindex(rows.index, fill_value=False)
    return found.mask(is_explained, WITHIN_SPREAD)


def agreements(rows: pd.DataFrame) -> "pd.Series[str]":
    """Returns the class of each row: reproduced, close or off; empty without comparable numbers.

    The distance is between our mean and the nearest number whose printed form equals the row's.
    """
    rows, judged = _with_ranges(rows), _judged(rows)
    texts = pd.Series("", index=rows.index, dtype=object)
    texts[judged.any(axis="columns")] = OFF
    exact = {metric: METRICS[metric].relative for metric in METRICS}
    for text, tolerances in (("close", CLOSE), ("reproduced", exact)):
        within = pd.DataFrame({m: _is_near(rows, m, tolerances[m]) for m in METRICS})
        texts[judged.any(axis="columns") & (within | ~judged).all(axis="columns")] = text
    return texts


def is_within(rows: pd.DataFrame, low: str, high: str) -> "pd.Series[bool]":
    """Returns whether each number that is not close lies between the columns `low` and `high`."""
    rows, judged = _with_ranges(rows), _judged(rows)
    held = {}
    for metric in METRICS:
        is_inside = rows[f"{low}_{metric}"] <= rows[f"printed_high_{metric}"]
        is_inside &= rows[f"printed_low_{metric}"] <= rows[f"{high}_{metric}"]
        held[metric] = is_inside | _is_near(rows, metric, CLOSE[metric])
    return judged.any(axis="columns") & (pd.DataFrame(held) | ~judged).all(axis="columns")


def not_close(rows: pd.DataFrame) -> list[str]:
    """Returns the metrics that count and are not close in any of the rows."""
    rows, judged = _with_ranges(rows), _judged(rows)
    return [m for m in METRICS if (judged[m] & ~_is_near(rows, m, CLOSE[m])).all()]


def _with_ranges(rows: pd.DataFrame) -> pd.DataFrame:
    """Adds columns printed_low_<metric> and printed_high_<metric>.

    The printed number was rounded or truncated from a number between these bounds.
    """
    if f"printed_low_{POWER}" in rows:
        return rows
    tables = [table for _, table in rows.groupby("table", sort=False)]
    found = {}
    for metric in METRICS:
        published = rows[f"published_{metric}"]
        steps = [resolution(table, metric) for table in tables]
        step = pd.concat(steps).reindex(rows.index).fillna(0.0) if steps else published
        found[f"printed_low_{metric}"] = published - step / 2
        found[f"printed_high_{metric}"] = published + step
    return rows.assign(**found)


def agreement_stability(
    rows: pd.DataFrame, runs: pd.DataFrame, selection: Selection | None = None
) -> "pd.Series[float]":
    """Returns the share of bootstrap draws of our runs in which each row's agreement is the same.

    A draw takes n - 1 of n runs with replacement (Rao and Wu 1988), and the deviations of its means
    are scaled to a t distribution (Hesterberg 2015). NaN for fewer than two runs.

    Args:
        rows: of one table, numbered from 0.
        runs: the runs from which `beside` made the rows.
        selection: how the table's rows were selected from many runs.
    """
    rows = _with_ranges(rows)
    own = succeeded(on_own_host(runs))
    parts = []
    for label, parameters in enumerate(rows["parameters"]):
        of_row = own[(own["parameters"] == parameters) & (own["network"] == rows["network"][label])]
        if len(of_row) < 2:
            continue
        places = _places(len(of_row))
        drawn = {metric: of_row[metric].to_numpy(dtype=float)[places] for metric in METRICS}
        found = figures(drawn, selection)
        wider = t_quantile(len(of_row) - 1) / _NORMAL
        for metric in METRICS:
            ours = float(rows[f"ours_{metric}"][label])
            found[f"ours_{metric}"] = ours + wider * (found[f"ours_{metric}"] - ours)
        parts.append(pd.DataFrame(found).assign(label=label))
    if not parts:
        return pd.Series(math.nan, index=rows.index)
    draws = pd.concat(parts, ignore_index=True)
    printed = [name for name in rows if str(name).startswith(("published_", "printed_"))]
    kept = rows.loc[draws["label"], printed]
    draws = pd.concat([kept.reset_index(drop=True), draws], axis="columns")
    for metric in METRICS:
        draws[f"difference_{metric}"] = draws[f"ours_{metric}"] - draws[f"published_{metric}"]
    is_same = (
        agreements_with_spread(draws) == agreements_with_spread(rows).loc[draws["label"]].to_numpy()
    )
    return is_same.astype(float).groupby(draws["label"]).mean().reindex(rows.index)


def _places(n: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    random = np.random.Generator(np.random.PCG64(derive_seed("sureness", n)))
    return random.integers(0, n, (DRAWS, n - 1))


def _judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns which numbers count: printed and measured numbers; power only if printed alone."""
    published, ours = logarithms(rows, "published"), logarithms(rows, "ours")
    return pd.DataFrame({m: published[m].notna() & ours[m].notna() for m in METRICS})


def _is_near(rows: pd.DataFrame, metric: str, tolerance: float) -> "pd.Series[bool]":
    ours = rows[f"ours_{metric}"]
    away = (ours - ours.clip(rows[f"printed_low_{metric}"], rows[f"printed_high_{metric}"])).abs()
    is_near = away <= tolerance * rows[f"published_{metric}"]
    return is_near | (rows[f"difference_{metric}"].abs() <= METRICS[metric].absolute)


def on_own_host(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the runs on the host of their network."""
    return runs[runs["host"].isna() | (runs["host"] == "")] if "host" in runs else runs


# Hosts of networks that were fitted to published tables ------------------------------------------


def fitted_host(
    table: str, network: str, studies: Iterable[StudyRuns], hosts: Hosts
) -> tuple[str, ...]:
    """Returns the host settings of the network that were found by a fit to the table.

    A fit counts only if every host setting of the network equals the setting of the best fit.
    """
    found = [
        name
        for study in _fits(network, studies, hosts)
        if table in study.config.fit
        for name in _at_best(study)
    ]
    return tuple(dict.fromkeys(found))


def replayed(results: Results) -> list[StudyRuns]:
    """Reads the studies of the audit: replays of published tables, and fits to them."""
    workflow = results.workflow
    return [results.study(name, workflow.studies[name]) for name in audited(workflow)]


def host_ends(network: str, results: Results) -> list[dict[str, float]]:
    """Returns hosts at the ends of the intervals to which a fit narrows the settings of a host.

    Each host differs from the network's in one setting. Empty if the host was not fitted, or if an
    interval is unknown.
    """
    ends: list[dict[str, float]] = []
    for study in _fits(network, results.part(replayed), results.hosts):
        for line in records(recovery(study, results.published)):
            values = dict.fromkeys((line["pinned_low"], line["pinned_high"]))
            ends += [{line["parameter"]: end} for end in values if end not in (line["best"], None)]
    return [end for end in ends if all(value == value for value in end.values())]


def _fits(network: str, studies: Iterable[StudyRuns], hosts: Hosts) -> Iterator[StudyRuns]:
    """Yields the fits whose best host equals the network's host."""
    for study in studies:
        if study.config.fit and not study.config.space and study.trials["value"].notna().any():
            best = _at_best(study)
            fitted = [{**hosts.get(each, {}), **best} for each in study.config.networks]
            if any(_is_alike(each, hosts.get(network, {})) for each in fitted):
                yield study


def _at_best(study: StudyRuns) -> dict[str, float]:
    """Returns the values of the searched parameters in the best trial of a fit."""
    best = records(study.trials.sort_values("value", kind="stable"))[0]
    return {each.name: float(best[PARAMETER + each.name]) for each in study.searched}


def _is_alike(one: Mapping[str, float | str], other: Mapping[str, float | str]) -> bool:
    """Returns whether two hosts have the same settings, up to the relative difference COPIED."""
    if one.keys() != other.keys():
        return False
    return all(
        math.isclose(value, counterpart, rel_tol=COPIED)
        if isinstance(value, float) and isinstance(counterpart := other[name], float | int)
        else value == other[name]
        for name, value in one.items()
    )

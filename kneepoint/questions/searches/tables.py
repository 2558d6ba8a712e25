"""Adaptive searches: progress, results and their certainty, and earlier published results."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from kneepoint.analysis import statistics
from kneepoint.analysis.frames import PARAMETER, Parts, Record, record, select, together
from kneepoint.analysis.luck import Luck
from kneepoint.analysis.metrics import POWER, SHOWN, SIGNAL_DELAY, THROUGHPUT, per_metric
from kneepoint.analysis.recovery import disagreements, recovery
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.common.study_record import BestTrial, StudyRecord, is_logarithm
from kneepoint.common.tables import Tables, flag, real, table, text, texts, whole
from kneepoint.config.study import (
    EMULATOR,
    MAHIMAHI,
    Bounded,
    Fit,
    Flows,
    Formula,
    Front,
    Least,
    Objective,
    Power,
    WorstCase,
)
from kneepoint.questions.searches.importances import importances
from kneepoint.runs.results import OBJECTIVES, VIOLATION
from kneepoint.stats.intervals import Chance

ONE_PEAK = ("ternary", "golden")
"""The samplers that search one parameter for a single peak."""
ENUMERATING = ("grid",)
"""The samplers whose order of trials has no meaning."""
NEAR = 1.5
"""The factor on the lowest misfit up to which trials count as near, to show how sharp a fit is."""

TABLES = (
    table(
        "searches",
        "an adaptive search and its best trial: the value of its objective and its metrics over "
        "fresh_runs with fresh seeds (0: in the search); in_search: the value that chose the "
        "trial; is_logarithm: values are means of logarithms; tunes: whether it maximises the "
        "power of a controller without traffic, on a given network; keeping: bounds, JSON; "
        "stopped: trials that a race over pairs of network and seed stopped; beyond: trials that "
        "violate the bound; "
        "within: probability that the best is within 1 % of the best of the candidates, after "
        "`spent` further runs of at most `budget`, which gained `chosen_gain`; guide_is_off: "
        "whether the emulator misled the search",
        text("search", "engine", "title", "controller"),
        texts("networks", "network_titles"),
        text("sampler", "objective"),
        texts("fit"),
        text("expression", optional=True),
        text("keeping"),
        flag("tunes"),
        whole("searched", "trials", "runs", "failed", "best_trial", "stopped", "beyond", "pairs"),
        real("bound_ms", "omniscient_ms", "omniscient_mbps", "hypervolume"),
        real("best_value", "best_low", "best_high"),
        whole("fresh_runs"),
        real("in_search"),
        flag("is_logarithm"),
        real("throughput_mbps", "signal_delay_p95_ms"),
        real("power", unit="Mbit/s/s"),
        whole("best_runs"),
        real("margin"),
        whole("ties", "near"),
        real("emulated_power", unit="Mbit/s/s"),
        real("within"),
        whole("candidates", "spent", "budget", optional=True),
        real("chosen_gain"),
        flag("guide_is_off", optional=True),
    ),
    table(
        "search_parameters",
        "a searched parameter: its range, its best value, the best value without the further "
        "runs, its importance by PED-ANOVA and by fANOVA; for a fit, the interval to which the "
        "rows of its tables pin it down",
        text("search", "parameter", "unit"),
        real("low", "high"),
        flag("logarithmic"),
        real("best", "otherwise", "near_low", "near_high", "importance", "fanova"),
        real("pinned_low", "pinned_high", "pinned_share"),
        text("verdict", optional=True),
        whole("fitted_rows", optional=True),
    ),
    table(
        "search_networks",
        "the best trial of a search on one of its networks, with fresh seeds if it has fresh_runs, "
        "and the published best there",
        text("search", "network", "network_title"),
        real("throughput_mbps", "signal_delay_p95_ms"),
        real("power", "half_width", unit="Mbit/s/s"),
        whole("fresh_runs"),
        text("published_table", "published_report", optional=True),
        whole("published_row", optional=True),
        real("published_power", unit="Mbit/s/s"),
        real("gain"),
    ),
    table(
        "search_trials",
        "a trial; rank is among the trials with a value. In a search for a front, metrics are "
        "over its networks, and the knee has the most power; in a search for a single peak, low "
        "and high are the range of the peak after a new evaluation",
        text("search"),
        whole("trial"),
        real("value"),
        flag("failed", "stopped", "beyond"),
        real("best_so_far"),
        flag("improved", "measured"),
        whole("rank", optional=True),
        real("throughput_mbps", "signal_delay_p95_ms"),
        real("power", unit="Mbit/s/s"),
        real("parameter_*"),
        flag("on_front", "knee", optional=True),
        real("low", "high"),
    ),
    table(
        "search_failures",
        "a reason for which trials of a study failed, and their number; failed: for any reason",
        text("search", "engine", "title"),
        whole("trials", "failed"),
        text("reason"),
        whole("count"),
    ),
    table(
        "recovery_rows",
        "a fitted row and the best trial of its fit",
        text("search", "table"),
        whole("line"),
        real("parameter_*"),
        per_metric("published_", "ours_"),
        per_metric("relative_", unit=""),
    ),
)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables. Every fit is also a search."""
    found = Parts(list)
    best = results.table("hold_out")
    for engine, studies, luck in (
        (EMULATOR, results.studies, Luck(results.studies, results.repeats, best)),
        (MAHIMAHI, results.real_studies, Luck(results.real_studies, results.real_repeats, None)),
    ):
        for study in studies:
            config = study.config
            found["search_failures"].append(_failures(study, engine))
            if config.fit or config.sampler.kind not in ENUMERATING or config.is_grid_search:
                for name, frame in _search(study, luck, results, engine).items():
                    found[name].append(frame.assign(search=study.name))
    whole = together(found)
    if "searches" in whole:
        whole["searches"]["emulated_power"] = _emulated_power(whole["searches"])
    return whole


def _search(study: StudyRuns, luck: Luck, results: Results, engine: str) -> dict[str, pd.DataFrame]:
    """Makes the tables of one search; empty if no trial has a value."""
    study = _aside(study)
    trials, config, goal = study.trials, study.config, study.config.objective
    values = -trials["value"] if goal.minimises else trials["value"]
    is_power = isinstance(goal, Power) and goal.power in ("mean", "worst")
    is_on_one = is_power and len(config.networks) == 1
    chance = luck.of(config.controller, config.networks[0]) if is_on_one else Chance()
    stated = study.record.best
    if stated is None:
        return {}
    label = int(trials.index[trials["trial"] == stated.trial][0])
    best = statistics.best(values, trials["n_runs"], chance, label)
    assert best is not None
    first = record(trials, label)
    otherwise = study.record.posterior.otherwise.searched if study.record.posterior else {}
    weights, shares = importances(trials, study.searched, goal.minimises)
    limit = NEAR * first["value"] if goal.minimises else math.nan
    near = trials[trials["value"] <= limit]
    parameters = [
        {
            "parameter": each.name,
            "unit": results.unit(config.controller, each.name),
            "low": each.low,
            "high": each.high,
            "logarithmic": each.logarithmic,
            "best": float(first[PARAMETER + each.name]),
            "otherwise": float(otherwise.get(PARAMETER + each.name, math.nan)),
            "near_low": near[PARAMETER + each.name].min(),
            "near_high": near[PARAMETER + each.name].max(),
            "importance": weights.get(each.name, math.nan),
            "fanova": shares.get(each.name, math.nan),
        }
        for each in study.searched
    ]
    parameter_rows, found = pd.DataFrame(parameters), {}
    if config.fit and engine == EMULATOR:
        pinned = recovery(study, results.published).drop(columns="best")
        parameter_rows = parameter_rows.merge(pinned, on="parameter")
        found["recovery_rows"] = disagreements(study, results.published)
    past = _trials(study)
    networks = _on_networks(study, stated, results)
    measured = first if isinstance(goal, Front) or not stated.runs else networks[[*SHOWN]].mean()
    summary = {
        "engine": engine,
        "title": config.title,
        "controller": config.controller,
        "networks": list(config.networks),
        "network_titles": networks["network_title"].tolist(),
        "sampler": config.sampler.kind,
        "objective": _kind(goal),
        "fit": list(config.fit),
        "expression": goal.expression if isinstance(goal, Formula) else None,
        "keeping": json.dumps(dict(goal.keeping) if isinstance(goal, Least) else {}),
        "tunes": config.tunes,
        "searched": len(study.searched),
        "trials": len(trials),
        "runs": trials["n_runs"].sum(),
        "failed": past["failed"].sum(),
        "stopped": past["stopped"].sum(),
        "beyond": past["beyond"].sum(),
        "pairs": len(config.networks) * config.runs_per_trial if config.race else 0,
        "bound_ms": goal.delay_ms if isinstance(goal, Bounded) else math.nan,
        **_against_bound(past, study.record.bounds),
        "best_trial": int(first["trial"]),
        "best_value": stated.value,
        "best_low": math.nan if stated.low is None else stated.low,
        "best_high": math.nan if stated.high is None else stated.high,
        "fresh_runs": stated.runs,
        "in_search": first["value"],
        "is_logarithm": is_logarithm(study.record.objective),
        **{metric: measured[metric] for metric in SHOWN},
        "best_runs": best.runs,
        "margin": best.margin,
        "ties": len(best.ties),
        "near": len(near),
        **_chosen(study.record),
    }
    return found | {
        "searches": pd.DataFrame([summary]),
        "search_parameters": parameter_rows,
        "search_networks": networks,
        "search_trials": past,
    }


def _failures(study: StudyRuns, engine: str) -> pd.DataFrame:
    """Returns a row for each reason of failed runs; study.json counts the failed trials."""
    failed = study.record.failed
    about = {"search": study.name, "engine": engine, "title": study.config.title}
    counted = {"trials": study.record.n_trials, "failed": failed.trials}
    return pd.DataFrame(
        [
            {**about, **counted, "reason": reason, "count": count}
            for reason, count in failed.reasons.items()
        ]
    )


def _chosen(record: StudyRecord) -> Record:
    """Returns certainty, cost and gain of a guided search's choice; missing for other searches."""
    posterior, guide = record.posterior, record.guide
    return {
        "within": posterior.within_1_percent if posterior else math.nan,
        "candidates": posterior.candidates if posterior else None,
        "spent": posterior.runs if posterior else None,
        "budget": posterior.budget if posterior else None,
        "chosen_gain": posterior.gain if posterior else math.nan,
        "guide_is_off": guide.is_off if guide else None,
    }


def _kind(goal: Objective) -> str:
    """Returns an objective's name in the tables; power over networks has one of POWERS."""
    match goal:
        case Power():
            return goal.power
        case Flows():
            return "worst_flow" if goal.flows == "worst" else goal.flows
    return _KINDS[type(goal)]


_KINDS: Mapping[type[Objective], str] = {
    Bounded: "bounded",
    Formula: "expression",
    Front: "front",
    Least: "least",
    WorstCase: "worst_case",
    Fit: "misfit",
}


def _aside(study: StudyRuns) -> StudyRuns:
    """Removes the values of trials that a race stopped or that violate their bound.

    If every trial violates the bound, trials with the smallest violation keep their values.
    """
    trials = study.trials
    stopped, beyond = trials["state"] == "PRUNED", pd.Series(False, trials.index)
    if VIOLATION in trials:
        nearest = max(0.0, float(trials[VIOLATION].min()))
        beyond = trials[VIOLATION] > nearest
    value = trials["value"].mask(stopped | beyond)
    return replace(study, trials=trials.assign(value=value, stopped=stopped, beyond=beyond))


def _against_bound(trials: pd.DataFrame, omniscient: Mapping[str, Mapping[str, float]]) -> Record:
    """Returns the mean omniscient bound of the networks, and a front's hypervolume relative to it.

    A setting covers the rectangle that it dominates in throughput and in inverse delay, both
    relative to the omniscient sender, whose rectangle has area 1 (Zitzler and Thiele, PPSN 1998).
    """
    nothing = ("omniscient_mbps", "omniscient_ms", "hypervolume")
    if "on_front" not in trials or not omniscient:
        return dict.fromkeys(nothing, math.nan)
    points = trials[trials["on_front"]].sort_values(SIGNAL_DELAY)
    mbps, ms = (
        math.fsum(each[name] for each in omniscient.values()) / len(omniscient)
        for name in ("capacity_mbps", "signal_delay_p95_ms")
    )
    near, high = ms / points[SIGNAL_DELAY], points[THROUGHPUT] / mbps
    volume = float((near * (high - high.shift(fill_value=0.0))).sum())
    return dict(zip(nothing, (mbps, ms, volume), strict=True))


def _trials(study: StudyRuns) -> pd.DataFrame:
    """Returns the trials in their order (see `history`), with their parameters and metrics.

    In a search for a front, the metrics are the objectives.
    """
    trials, goal = study.trials, study.config.objective
    is_front = isinstance(goal, Front)
    if is_front:
        goals = dict(zip(SHOWN, (*OBJECTIVES, "value"), strict=True))
        trials = trials.assign(**{metric: trials[name] for metric, name in goals.items()})
    measured = trials["value"].notna() & (trials["reason"] == "")
    done = trials.dropna(subset=["value"])
    rank = done["value"].rank(ascending=goal.minimises, method="first").astype("Int64")
    searched = [PARAMETER + each.name for each in study.searched]
    columns = ["trial", "stopped", "beyond", *SHOWN, *searched]
    more = trials[columns].assign(measured=measured, rank=rank.reindex(trials.index))
    past = history(trials, goal.minimises).merge(more, on="trial")
    past["failed"] &= ~(past["stopped"] | past["beyond"])
    past = past.astype(dict.fromkeys(searched, float))
    if is_front:
        is_knee = past[POWER] == past[POWER].max()
        past = past.assign(
            on_front=statistics.on_front(past[THROUGHPUT], past[SIGNAL_DELAY]), knee=is_knee
        )
    return past.merge(_brackets(study), on="trial", how="left")


def history(trials: pd.DataFrame, minimised: bool = False) -> pd.DataFrame:
    """Returns the progress of a search: columns trial, value, failed, best_so_far, improved.

    `failed` is whether a run of the trial failed or, after a fault of the machine, the trial has no
    value. `improved` is whether the trial improved best_so_far.
    """
    table = trials[["trial", "value", "reason"]].sort_values("trial", ignore_index=True)
    table["failed"] = table["value"].isna() | (table.pop("reason") != "")
    values = table["value"]
    table["best_so_far"] = (values.cummin() if minimised else values.cummax()).ffill()
    table["improved"] = (values == table["best_so_far"]) & ~table["best_so_far"].duplicated()
    return table


def _brackets(study: StudyRuns) -> pd.DataFrame:
    """Returns the range of the peak after each distinct evaluation of a one-parameter search.

    The peak lies between the evaluated neighbours of the best value so far: columns trial, low,
    high. Empty for other searches.
    """
    rows: list[Record] = []
    if len(study.searched) == 1 and study.config.sampler.kind in ONE_PEAK:
        (only,), column = study.searched, PARAMETER + study.searched[0].name
        done = study.trials.dropna(subset=["value"]).sort_values("trial").drop_duplicates(column)
        places, values = done[column].to_numpy(dtype=float), done["value"].to_numpy(dtype=float)
        values = -values if study.config.objective.minimises else values
        for step, trial in enumerate(done["trial"], 1):
            seen = places[:step]
            peak = seen[np.argmax(values[:step])]
            low = max(seen[seen < peak], default=only.low)
            high = min(seen[seen > peak], default=only.high)
            rows.append({"trial": trial, "low": low, "high": high})
    return pd.DataFrame(rows, columns=["trial", "low", "high"], dtype=None if rows else float)


def _on_networks(study: StudyRuns, best: BestTrial, results: Results) -> pd.DataFrame:
    """Returns the best trial's metrics and the best published power, with a row for each network.

    Metrics are from fresh seeds or, without these, from the search.
    """
    runs = study.runs[study.runs["trial"] == best.trial]
    lines = []
    for network in study.config.networks:
        of_network = runs[runs["network"] == network]
        good = statistics.succeeded(of_network)
        means = {metric: float(good[metric].mean()) for metric in SHOWN}
        means[POWER] = float(good[POWER].sum()) / len(of_network)  # a failed run has power 0
        fresh = best.networks.get(network, {})
        means |= {metric: fresh.get(metric, math.nan) for metric in SHOWN} if fresh else {}
        lines.append(
            {
                "network": network,
                "network_title": results.title(network),
                **means,
                "half_width": (fresh["high"] - fresh["low"]) / 2 if fresh else math.nan,
                "fresh_runs": int(fresh["runs"]) if fresh else 0,
                **_beside_published(study, network, means[POWER], results.published),
            }
        )
    return pd.DataFrame(lines)


def _beside_published(
    study: StudyRuns, network: str, power: float, published: pd.DataFrame
) -> Record:
    """Returns the controller's best published power, and the gain of the search over it."""
    rows = select(published, network=network, controller=study.config.controller)
    if not study.config.tunes or POWER not in rows or rows[POWER].isna().all():
        return {}
    row = rows.iloc[int(np.nanargmax(rows[POWER]))]
    return {
        "published_table": row["table"],
        "published_row": row["row"],
        "published_report": row["report"],
        "published_power": row[POWER],
        "gain": power / row[POWER] - 1,
    }


def _emulated_power(searches: pd.DataFrame) -> "pd.Series[float]":
    """Returns the best emulated power for the controller and networks of each search."""
    place = searches["controller"] + " " + searches["networks"].map(" ".join)
    tunings = searches[(searches["engine"] == EMULATOR) & searches["tunes"]]
    return place.map(tunings.groupby(place)[POWER].max()).astype(float)


def leaders(tables: Tables) -> pd.DataFrame:
    """Returns the greatest power of tunings on the network with most tunings, and equal powers.

    Only searches of several parameters on one network count, by their power with fresh seeds. A
    power is equal if its distance from the greatest is less than the half width of the 95 %
    interval of the difference of independent means.

    Returns:
        The rows of search_networks with the column controller, the greatest power first.
    """
    searches = tables["searches"].set_index("search")
    tuned = searches[
        (searches["engine"] == EMULATOR)
        & searches["tunes"]
        & (searches["searched"] > 1)
        & (searches["networks"].str.len() == 1)
    ]
    found = tables["search_networks"]
    found = found[found["search"].isin(tuned.index) & (found["fresh_runs"] > 0)]
    found = found.assign(controller=found["search"].map(tuned["controller"]))
    if found.empty:
        return found
    most = found.groupby("network", sort=False).size().idxmax()
    found = select(found, network=most).sort_values("power", ascending=False, kind="stable")
    best = found.iloc[0]
    width = np.hypot(found["half_width"], best["half_width"])
    is_equal = best["power"] - found["power"] < width
    equals: pd.DataFrame = found[is_equal | (found.index == best.name)]
    return equals


DERIVED = {"search_leaders": leaders}

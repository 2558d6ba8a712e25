"""The leaderboard as data: ranks, intervals, means, pairs, and entries without a rank."""

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

import numpy as np

from kneepoint.common.json_text import Json
from kneepoint.engines.base import RUN_METRICS
from kneepoint.entries.entries import Sender, latest_of_each
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.stats.means import mean_of
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.scoring import table_of
from kneepoint.tools.contest.standing import (
    compare_pairs,
    interval_of,
    outcomes_of,
    rank_entries,
    spread_of,
)

VERSION = 2
NEAR_OMNISCIENT = 0.5
"""An entry with at least this share of the omniscient power on a final network is marked for
inspection: on a cellular link, a sender that knows only its acknowledgments reaches less."""


def verdict(
    contest: Contest,
    entries: Sequence[Sender],
    networks: Sequence[PreparedNetwork],
    titles: Mapping[str, str],
    on_other_host: Mapping[str, float],
) -> Json:
    """Returns the leaderboard of entries that ran, for JSON; missing values are None."""
    rule = contest.scored_by
    good = [each for each in entries if not each.reason]
    replaced = latest_of_each(good)
    ranked = [
        each for each in good if not (each.is_baseline or each.is_apart or each.name in replaced)
    ]
    lines = [each for each in good if each in ranked or each.is_baseline]
    rows = {each.name: _row(contest, each, networks) for each in good}
    for name, row in rows.items():
        row["other_host_score"] = on_other_host.get(name)
    for each, place in zip(ranked, _places_of(contest, ranked), strict=True):
        rows[each.name] |= place

    def best_first(kind: Callable[[Sender], bool]) -> list[Json]:
        found = [rows[each.name] for each in good if kind(each)]
        return sorted(found, key=lambda row: -row["score"])

    return {
        "kneepoint_contest": VERSION,
        "title": contest.title,
        "score": {"name": rule.name, "expression": rule.expression, "is_ratio": rule.is_ratio},
        "engine": contest.engine,
        "runs": contest.runs,
        "seed": contest.seed,
        "deadline": contest.deadline,
        "secret_sha256": None,
        "secret_seed": None,
        "other_host_latency_us": contest.other_host_latency_us if on_other_host else None,
        "networks": [
            {
                **{"name": network.name, "title": titles[network.name]},
                "is_practice": network.name in contest.practice,
                "is_ranked_on": network.name in contest.ranked_on,
                "host_latency_us": network.host_latency_us,
                "omniscient": vars(network.omniscient),
                "spread": _spread(contest, network.name, lines),
            }
            for network in networks
        ],
        "ranking": sorted(
            (rows[each.name] for each in ranked),
            key=lambda row: (row["rank"], row["name"]),
        ),
        "baselines": best_first(lambda each: each.is_baseline),
        "apart": best_first(lambda each: each.is_apart and each.name not in replaced),
        "earlier": [rows[name] | {"replaced_by": later} for name, later in replaced.items()],
        "failed": [
            {
                **_identity(contest, each),
                "reason": each.reason,
                "is_disturbed": each.is_disturbed,
                "message": each.message,
            }
            for each in entries
            if each.reason
        ],
        "pairs": _pairs(contest, ranked),
    }


def _spread(contest: Contest, name: str, lines: Sequence[Sender]) -> Json | None:
    """Returns how well a network separates entries and baselines; None if fewer than two ran."""
    if len(lines) < 2:
        return None
    delays, rates = (
        np.log([np.mean([getattr(run, metric) for run in each.records[name]]) for each in lines])
        for metric in ("signal_delay_p95_ms", "throughput_mbps")
    )
    both = np.var(delays) + np.var(rates)
    return {
        **spread_of(table_of(lines, [name])[:, 0], is_ratio=contest.scored_by.is_ratio),
        "delay_share": float(np.var(delays) / both) if both else None,
        "signal_delay_p95_ms": float(np.exp(np.median(delays))),
    }


def _places_of(contest: Contest, ranked: Sequence[Sender]) -> list[Json]:
    """Returns the rank of each entry, its interval, and the places lost on the final networks."""
    if not ranked:
        return []
    final, practice = (
        rank_entries(table_of(ranked, names), contest.seed, is_ratio=contest.scored_by.is_ratio)
        for names in (contest.ranked_on, contest.practice)
    )
    return [
        {**own, "practice_rank": known["rank"], "places_lost": own["rank"] - known["rank"]}
        for own, known in zip(final, practice, strict=True)
    ]


def _pairs(contest: Contest, ranked: Sequence[Sender]) -> list[Json]:
    if len(ranked) < 2:
        return []
    scores, is_ratio = table_of(ranked, contest.ranked_on), contest.scored_by.is_ratio
    return compare_pairs([each.name for each in ranked], scores, contest.seed, is_ratio=is_ratio)


def _row(contest: Contest, entry: Sender, networks: Sequence[PreparedNetwork]) -> Json:
    is_ratio = contest.scored_by.is_ratio
    means = {network.name: _means(entry, network, is_ratio) for network in networks}
    return {
        **_identity(contest, entry),
        **_score(contest, entry, contest.ranked_on, ""),
        **_score(contest, entry, contest.practice, "practice_"),
        "near_omniscient": [
            network.name
            for network in networks
            if network.name in contest.final and _is_near(means[network.name], network)
        ],
        "networks": means,
    }


def _is_near(means: Json, network: PreparedNetwork) -> bool:
    """Returns whether an entry is near the omniscient power, by its age until the run's end."""
    assert network.omniscient is not None
    power = 1000 * means["throughput_mbps"] / means["age_p95_ms"]
    return bool(power >= NEAR_OMNISCIENT * network.omniscient.power)


def _identity(contest: Contest, entry: Sender) -> Json:
    submission, arrived_s = entry.submission, entry.arrived_s
    arrived = datetime.fromtimestamp(arrived_s, UTC).isoformat(timespec="seconds")
    return {
        **{"name": entry.name, "author": entry.author, "digest": entry.digest},
        "remark": submission.remark if submission else "",
        "arrived": arrived if arrived_s else None,
        "late": submission is not None and (submission.is_late or contest.is_late(arrived_s)),
    }


def _score(contest: Contest, entry: Sender, networks: Sequence[str], prefix: str) -> Json:
    """Returns a score and its interval, None for a single run."""
    scores, is_ratio = table_of([entry], networks)[0], contest.scored_by.is_ratio
    low, high = interval_of(scores, contest.seed, is_ratio)
    values = {"score": mean_of(scores, is_ratio), "low": low, "high": high}
    return {prefix + name: None if math.isnan(x) else x for name, x in values.items()}


def _means(entry: Sender, network: PreparedNetwork, is_ratio: bool) -> Json:
    """Returns an entry's means on a network, and its mean share of the omniscient power."""
    assert network.omniscient is not None
    means = {
        name: float(np.mean([getattr(run, name) for run in entry.records[network.name]]))
        for name in (*RUN_METRICS, "signal_delay_p50_ms", "age_p95_ms")
    }
    return {
        **means,
        "efficiency": means["power"] / network.omniscient.power,
        "scores": list(entry.scores[network.name]),
        "outcomes": outcomes_of(np.array(entry.scores[network.name]), is_ratio=is_ratio),
    }

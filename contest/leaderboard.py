"""The leaderboard as data: ranks, intervals, means, pairs, and what has no rank."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import numpy as np

from contest.config import Contest
from contest.entries import ContestEntry, latest_of_each
from contest.scoring import Place, Scored, is_ranked_on, standings_on, table_of
from contest.standing import Standing, compare_pairs, spread_of
from engines.base import METRICS, RunRecord

VERSION = 1
Json = dict[str, Any]


def verdict(
    contest: Contest,
    entries: Sequence[ContestEntry],
    scored: Sequence[Scored],
    places: Sequence[Place],
    on_other_host: Mapping[str, float],
) -> Json:
    """Returns the leaderboard as data; None stands for what does not exist."""
    rule = contest.scored_by
    good = [each for each in scored if not each.reason]
    replaced = latest_of_each(each.entry for each in good)
    ranked = [each for each in good if _is_ranked(each.entry, replaced)]
    rows = {each.entry.name: _row(contest, each, places) for each in good}
    for name, row in rows.items():
        row["other_host_score"] = on_other_host.get(name)
    for each, place in zip(ranked, _places_of(contest, ranked), strict=True):
        rows[each.entry.name] |= place
    lost = {each.entry.name: each for each in scored if each.reason}
    return {
        "kneepoint_contest": VERSION,
        "title": contest.title,
        "score": {"name": rule.name, "expression": rule.expression, "is_ratio": rule.is_ratio},
        "engine": contest.engine,
        "runs": contest.runs,
        "seed": contest.seed,
        "deadline": contest.deadline,
        "other_host_latency_us": contest.other_host_latency_us if on_other_host else None,
        "networks": [
            {
                **{"name": place.network.name, "title": place.title, "is_public": place.is_public},
                "is_ranked_on": is_ranked_on(contest, place),
                "host_latency_us": place.network.host_latency_us,
                "omniscient": asdict(place.bound),
                "spread": _spread(
                    contest, place, [each for each in good if _is_line(each, ranked)]
                ),
            }
            for place in places
        ],
        "ranking": sorted(
            (rows[each.entry.name] for each in ranked),
            key=lambda row: (row["rank"], row["name"]),
        ),
        "baselines": _best_first(rows, good, lambda each: each.is_baseline),
        "apart": _best_first(rows, good, lambda each: each.is_apart and each.name not in replaced),
        "earlier": [rows[name] | {"replaced_by": later} for name, later in replaced.items()],
        "failed": [
            {
                **_identity(contest, each),
                "reason": each.reason or lost[each.name].reason,
                "is_disturbed": lost.get(each.name, each).is_disturbed,
                "message": each.message,
            }
            for each in entries
            if each.reason or each.name in lost
        ],
        "pairs": _pairs(contest, ranked),
    }


def _is_ranked(entry: ContestEntry, replaced: Mapping[str, str]) -> bool:
    return not (entry.is_baseline or entry.is_apart or entry.name in replaced)


def _is_line(each: Scored, ranked: Sequence[Scored]) -> bool:
    """Whether it has a line among the ranked ones: entries that are ranked, and baselines."""
    return each in ranked or each.entry.is_baseline


def _spread(contest: Contest, place: Place, lines: Sequence[Scored]) -> Json | None:
    """How well a network tells entries and baselines apart; None if there are not two."""
    if len(lines) < 2:
        return None
    name = place.network.name
    spread = spread_of(table_of(lines, [name])[:, 0], is_ratio=contest.scored_by.is_ratio)
    delays, rates = (
        np.log([np.mean([getattr(run, metric) for run in each.records[name]]) for each in lines])
        for metric in ("signal_delay_p95_ms", "throughput_mbps")
    )
    both = np.var(delays) + np.var(rates)
    return {
        **{key: None if math.isnan(value) else value for key, value in asdict(spread).items()},
        "delay_share": float(np.var(delays) / both) if both else None,
        "signal_delay_p95_ms": float(np.exp(np.median(delays))),
    }


def _places_of(contest: Contest, ranked: Sequence[Scored]) -> list[Json]:
    """The rank of each entry, its interval, and the places lost on held-out networks."""
    unseen, public = (
        standings_on(contest, ranked, names) for names in (contest.ranked_on, [contest.public])
    )
    return [
        {
            "rank": own.rank,
            "best_rank": own.best_rank,
            "worst_rank": own.worst_rank,
            "first": own.first,
            "public_rank": known.rank,
            "places_lost": own.rank - known.rank,
        }
        for own, known in zip(unseen, public, strict=True)
    ]


def _pairs(contest: Contest, ranked: Sequence[Scored]) -> list[Json]:
    """Every pair of ranked entries, with the ratio A/B or the difference A - B of scores."""
    if len(ranked) < 2:
        return []
    names = [each.entry.name for each in ranked]
    is_ratio = contest.scored_by.is_ratio
    return [
        {
            **{"a": names[pair.a], "b": names[pair.b]},
            "ratio": math.exp(pair.difference) if is_ratio else None,
            "difference": None if is_ratio else pair.difference,
            "p_holm": pair.p,
            "ahead": pair.ahead,
            "better": None if pair.better is None else names[pair.better],
        }
        for pair in compare_pairs(
            table_of(ranked, contest.ranked_on), contest.seed, is_ratio=is_ratio
        )
    ]


def _best_first(
    rows: Mapping[str, Json], good: Sequence[Scored], kind: Callable[[ContestEntry], bool]
) -> list[Json]:
    found = [rows[each.entry.name] for each in good if kind(each.entry)]
    return sorted(found, key=lambda row: -row["score"])


def _row(contest: Contest, each: Scored, places: Sequence[Place]) -> Json:
    entry = each.entry
    overall, known = (
        standings_on(contest, [each], names)[0] for names in (contest.ranked_on, [contest.public])
    )
    return {
        **_identity(contest, entry),
        "interface": entry.interface,
        "remarks": list(entry.remarks),
        **_interval("", overall),
        **_interval("public_", known),
        "networks": {
            place.network.name: _means(each.records[place.network.name], each.scores, place)
            for place in places
        },
    }


def _identity(contest: Contest, entry: ContestEntry) -> Json:
    submission, arrived_s = entry.submission, entry.arrived_s
    arrived = datetime.fromtimestamp(arrived_s, UTC).isoformat(timespec="seconds")
    return {
        **{"name": entry.name, "author": entry.author, "digest": entry.digest},
        "arrived": arrived if arrived_s else None,
        "late": submission is not None and (submission.is_late or contest.is_late(arrived_s)),
    }


def _interval(prefix: str, standing: Standing) -> Json:
    """A score and its interval; a single run has none."""
    values = {"score": standing.score, "low": standing.low, "high": standing.high}
    return {prefix + name: None if math.isnan(x) else x for name, x in values.items()}


def _means(
    records: Sequence[RunRecord], scores: Mapping[str, Sequence[float]], place: Place
) -> Json:
    """The means of a entry's runs on a network, and of its share of the omniscient power."""
    means = {
        name: float(np.mean([getattr(run, name) for run in records]))
        for name in (*METRICS, "signal_delay_p50_ms")
    }
    return {
        **means,
        "efficiency": means["power"] / place.bound.power,
        "scores": list(scores[place.network.name]),
    }

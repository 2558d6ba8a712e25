"""Holds a contest: runs every contender on every network, and compares them."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np

from common.files import read_json
from contest.config import Contest
from contest.contenders import Contender, latest_of_each, without_paths
from contest.standing import Floats, Standing, compare_pairs, rank_entries, spread_of
from engines.base import METRICS, EngineSettings, RunRecord
from experiments.results import PlannedRun
from experiments.runner import Batch, Runner
from networks.omniscient import Bound
from networks.scenario import PreparedNetwork

VERSION = 1
Json = dict[str, Any]


@dataclass(frozen=True)
class Place:
    """A network of the contest, with its omniscient bound."""

    network: PreparedNetwork
    title: str
    bound: Bound
    is_public: bool

    def on_host(self, latency_us: float) -> Self:
        """Returns it with another latency of the host."""
        return replace(self, network=self.network.with_host("host_latency_us", latency_us))


@dataclass(frozen=True)
class Scored:
    """A contender that ran.

    Args:
        contender: who.
        records: by network, in the order of the seeds.
        scores: like records; empty if a run failed.
        reason: why it has no scores; "" if it has some.
        is_disturbed: the reason is the machine's, and none of its own.
    """

    contender: Contender
    records: Mapping[str, Sequence[RunRecord]]
    scores: Mapping[str, Sequence[float]]
    reason: str = ""
    is_disturbed: bool = False


_Key = tuple[str, int, int]
"""A run of a contender: network, seed and repetition."""


def run_all(
    contest: Contest,
    contenders: Sequence[Contender],
    places: Sequence[Place],
    engine: EngineSettings,
    runner: Runner,
) -> list[Scored]:
    """Runs what can run and is not in the journal.

    A contender that fails once does not run again: a hanging entry costs seconds, not minutes. In
    virtual time each entry's first run is repeated, to see whether its seed determines it.

    Raises:
        KneepointError: the machine prevented the runs of several contenders from finishing.
    """
    first, *others = range(contest.seed, contest.seed + contest.runs)
    waves: list[list[tuple[Place, int, int]]] = [
        [(places[0], first, 0)],
        [*((place, first, 0) for place in places[1:]), (places[0], first, 1)],
        *([(place, seed, 0) for place in places] for seed in others),
    ]
    records: dict[str, dict[_Key, RunRecord]] = {
        each.name: {} for each in contenders if not each.reason
    }
    for wave in waves:
        asked = [
            (each, place.network, seed, repetition)
            for each in contenders
            if each.name in records
            and all(record.status == "ok" for record in records[each.name].values())
            for place, seed, repetition in wave
            if not repetition or is_repeated(each, engine)
        ]
        planned = [
            PlannedRun(
                *(0, run, None),
                replace(each.spec(engine, engine.place(network), seed), repetition=repetition),
            )
            for run, (each, network, seed, repetition) in enumerate(asked)
        ]
        finished = runner.finish(Batch(planned, keeps_faults=True))
        for (each, network, seed, repetition), run in zip(asked, finished, strict=True):
            records[each.name][network.name, seed, repetition] = run.record
    return [
        _score(contest, each, records[each.name], places)
        for each in contenders
        if each.name in records
    ]


def is_repeated(contender: Contender, engine: EngineSettings) -> bool:
    """Whether one of its runs is made twice: our controllers are deterministic."""
    return not contender.is_yardstick and not engine.is_real_time


def _score(
    contest: Contest,
    contender: Contender,
    records: Mapping[_Key, RunRecord],
    places: Sequence[Place],
) -> Scored:
    """Scores a contender's runs, in the order of networks and seeds, up to the first failure."""
    by_network: dict[str, list[RunRecord]] = {place.network.name: [] for place in places}
    scores: dict[str, list[float]] = {place.network.name: [] for place in places}
    by_name = {place.network.name: place for place in places}
    for (name, seed, repetition), record in sorted(records.items(), key=lambda each: each[0][1]):
        where = f"on {name} with seed {seed}: "
        if record.status == "fault":
            reason = f"the machine prevented it ({record.reason}); run the contest again"
            return Scored(contender, {}, {}, where + without_paths(reason), is_disturbed=True)
        reason = record.reason
        place = by_name[name]
        if record.status == "ok":
            try:
                score = contest.scored_by.of(record, place.network, place.bound)
            except ValueError as error:
                reason = f"no score: {error}"
            else:
                reason = ""
        if repetition:
            before = by_network[name][0]
            if replace(before, run_id=record.run_id) == record:
                continue
            other = f"{score:.10g}" if not reason else f"none ({reason})"
            reason = (
                f"two runs that must be equal have the scores {scores[name][0]:.10g} and {other}: "
                "it depends on more than its seed, such as the processor's random numbers"
            )
        if reason:
            return Scored(contender, {}, {}, where + without_paths(reason))
        scores[name].append(score)
        by_network[name].append(record)
    return Scored(contender, by_network, scores)


def run_on_other_host(
    contest: Contest,
    scored: Sequence[Scored],
    places: Sequence[Place],
    engine: EngineSettings,
    runner: Runner,
) -> dict[str, float]:
    """Returns the scores of one run on each ranked network of the other host, by contender."""
    latency_us = contest.other_host_latency_us
    if latency_us is None or engine.is_real_time:
        return {}
    able = [each.contender for each in scored if not each.reason]
    there = [place.on_host(latency_us) for place in places if _is_ranked_on(contest, place)]
    once = contest.model_copy(update={"runs": 1})
    found = [each for each in run_all(once, able, there, engine, runner) if not each.reason]
    scores = _overall(contest, found, contest.ranked_on)
    return {each.contender.name: own.score for each, own in zip(found, scores, strict=True)}


def _is_ranked_on(contest: Contest, place: Place) -> bool:
    return place.network.name in contest.ranked_on


def verdict(
    contest: Contest,
    contenders: Sequence[Contender],
    scored: Sequence[Scored],
    places: Sequence[Place],
    on_other_host: Mapping[str, float],
) -> Json:
    """Returns the leaderboard as data; None stands for what does not exist."""
    rule = contest.scored_by
    good = [each for each in scored if not each.reason]
    replaced = latest_of_each(each.contender for each in good)
    ranked = [each for each in good if _is_ranked(each.contender, replaced)]
    rows = {each.contender.name: _row(contest, each, places) for each in good}
    for name, row in rows.items():
        row["other_host_score"] = on_other_host.get(name)
    for each, place in zip(ranked, _places_of(contest, ranked), strict=True):
        rows[each.contender.name] |= place
    lost = {each.contender.name: each for each in scored if each.reason}
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
                "is_ranked_on": _is_ranked_on(contest, place),
                "host_latency_us": place.network.host_latency_us,
                "omniscient": asdict(place.bound),
                "spread": _spread(
                    contest, place, [each for each in good if _is_line(each, ranked)]
                ),
            }
            for place in places
        ],
        "ranking": sorted(
            (rows[each.contender.name] for each in ranked),
            key=lambda row: (row["rank"], row["name"]),
        ),
        "yardsticks": _best_first(rows, good, lambda each: each.is_yardstick),
        "apart": _best_first(rows, good, lambda each: each.is_apart and each.name not in replaced),
        "earlier": [rows[name] | {"replaced_by": later} for name, later in replaced.items()],
        "failed": [
            {
                **_identity(contest, each),
                "reason": each.reason or lost[each.name].reason,
                "is_disturbed": lost.get(each.name, each).is_disturbed,
                "message": each.message,
            }
            for each in contenders
            if each.reason or each.name in lost
        ],
        "pairs": _pairs(contest, ranked),
    }


def _is_ranked(contender: Contender, replaced: Mapping[str, str]) -> bool:
    return not (contender.is_yardstick or contender.is_apart or contender.name in replaced)


def _is_line(each: Scored, ranked: Sequence[Scored]) -> bool:
    """Whether it has a line among the ranked ones: entries that are ranked, and yardsticks."""
    return each in ranked or each.contender.is_yardstick


def _overall(contest: Contest, scored: Sequence[Scored], networks: Sequence[str]) -> list[Standing]:
    """The standings on some of the networks."""
    if not scored:
        return []
    is_ratio = contest.scored_by.is_ratio
    return rank_entries(_table(scored, networks), contest.seed, is_ratio=is_ratio)


def _spread(contest: Contest, place: Place, lines: Sequence[Scored]) -> Json | None:
    """How well a network tells entries and yardsticks apart; None if there are not two."""
    if len(lines) < 2:
        return None
    name = place.network.name
    spread = spread_of(_table(lines, [name])[:, 0], is_ratio=contest.scored_by.is_ratio)
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


def _table(scored: Sequence[Scored], networks: Sequence[str]) -> Floats:
    """Scores of shape (entries, networks, runs)."""
    return np.array([[each.scores[name] for name in networks] for each in scored])


def _places_of(contest: Contest, ranked: Sequence[Scored]) -> list[Json]:
    """The rank of each entry, its interval, and the places lost on held-out networks."""
    unseen, public = (
        _overall(contest, ranked, names) for names in (contest.ranked_on, [contest.public])
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
    names = [each.contender.name for each in ranked]
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
            _table(ranked, contest.ranked_on), contest.seed, is_ratio=is_ratio
        )
    ]


def _best_first(
    rows: Mapping[str, Json], good: Sequence[Scored], kind: Callable[[Contender], bool]
) -> list[Json]:
    found = [rows[each.contender.name] for each in good if kind(each.contender)]
    return sorted(found, key=lambda row: -row["score"])


def _row(contest: Contest, each: Scored, places: Sequence[Place]) -> Json:
    contender = each.contender
    overall, known = (
        _overall(contest, [each], names)[0] for names in (contest.ranked_on, [contest.public])
    )
    return {
        **_identity(contest, contender),
        "interface": contender.interface,
        "remarks": list(contender.remarks),
        **_interval("", overall),
        **_interval("public_", known),
        "networks": {
            place.network.name: _means(each.records[place.network.name], each.scores, place)
            for place in places
        },
    }


def _identity(contest: Contest, contender: Contender) -> Json:
    submission, arrived_s = contender.submission, contender.arrived_s
    arrived = datetime.fromtimestamp(arrived_s, UTC).isoformat(timespec="seconds")
    return {
        **{"name": contender.name, "author": contender.author, "digest": contender.digest},
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
    """The means of a contender's runs on a network, and of its share of the omniscient power."""
    means = {
        name: float(np.mean([getattr(run, name) for run in records]))
        for name in (*METRICS, "signal_delay_p50_ms")
    }
    return {
        **means,
        "efficiency": means["power"] / place.bound.power,
        "scores": list(scores[place.network.name]),
    }


def read_place(path: Path, *, is_public: bool) -> Place:
    """Reads a prepared network with its bound.

    Raises:
        KneepointError: it is missing or damaged.
    """
    network = PreparedNetwork.load(path)
    title = str(read_json(path)["title"])
    return Place(network, title, Bound.load(path), is_public)

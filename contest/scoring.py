"""Runs every entry on every network and scores the runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from common.files import read_json
from contest.config import Contest
from contest.entries import ContestEntry, without_paths
from contest.standing import Floats, Standing, rank_entries
from engines.base import EngineSettings, RunRecord
from experiments.results import PlannedRun
from experiments.runner import Batch, Runner
from networks.omniscient import Bound
from networks.scenario import PreparedNetwork


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
    """A entry that ran.

    Args:
        entry: who.
        records: by network, in the order of the seeds.
        scores: like records; empty if a run failed.
        reason: why it has no scores; "" if it has some.
        is_disturbed: the reason is the machine's, and none of its own.
    """

    entry: ContestEntry
    records: Mapping[str, Sequence[RunRecord]]
    scores: Mapping[str, Sequence[float]]
    reason: str = ""
    is_disturbed: bool = False


_Key = tuple[str, int, int]
"""A run of a entry: network, seed and repetition."""


def run_all(
    contest: Contest,
    entries: Sequence[ContestEntry],
    places: Sequence[Place],
    engine: EngineSettings,
    runner: Runner,
) -> list[Scored]:
    """Runs what can run and is not in the journal.

    A entry that fails once does not run again: a hanging entry costs seconds, not minutes. In
    virtual time each entry's first run is repeated, to see whether its seed determines it.

    Raises:
        KneepointError: the machine prevented the runs of several entries from finishing.
    """
    first, *others = range(contest.seed, contest.seed + contest.runs)
    waves: list[list[tuple[Place, int, int]]] = [
        [(places[0], first, 0)],
        [*((place, first, 0) for place in places[1:]), (places[0], first, 1)],
        *([(place, seed, 0) for place in places] for seed in others),
    ]
    records: dict[str, dict[_Key, RunRecord]] = {
        each.name: {} for each in entries if not each.reason
    }
    for wave in waves:
        asked = [
            (each, place.network, seed, repetition)
            for each in entries
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
        for each in entries
        if each.name in records
    ]


def is_repeated(entry: ContestEntry, engine: EngineSettings) -> bool:
    """Whether one of its runs is made twice: our controllers are deterministic."""
    return not entry.is_baseline and not engine.is_real_time


def _score(
    contest: Contest,
    entry: ContestEntry,
    records: Mapping[_Key, RunRecord],
    places: Sequence[Place],
) -> Scored:
    """Scores a entry's runs, in the order of networks and seeds, up to the first failure."""
    by_network: dict[str, list[RunRecord]] = {place.network.name: [] for place in places}
    scores: dict[str, list[float]] = {place.network.name: [] for place in places}
    by_name = {place.network.name: place for place in places}
    for (name, seed, repetition), record in sorted(records.items(), key=lambda each: each[0][1]):
        where = f"on {name} with seed {seed}: "
        if record.status == "fault":
            reason = f"the machine prevented it ({record.reason}); run the contest again"
            return Scored(entry, {}, {}, where + without_paths(reason), is_disturbed=True)
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
            return Scored(entry, {}, {}, where + without_paths(reason))
        scores[name].append(score)
        by_network[name].append(record)
    return Scored(entry, by_network, scores)


def run_on_other_host(
    contest: Contest,
    scored: Sequence[Scored],
    places: Sequence[Place],
    engine: EngineSettings,
    runner: Runner,
) -> dict[str, float]:
    """Returns the scores of one run on each ranked network of the other host, by entry."""
    latency_us = contest.other_host_latency_us
    if latency_us is None or engine.is_real_time:
        return {}
    able = [each.entry for each in scored if not each.reason]
    there = [place.on_host(latency_us) for place in places if is_ranked_on(contest, place)]
    once = contest.model_copy(update={"runs": 1})
    found = [each for each in run_all(once, able, there, engine, runner) if not each.reason]
    scores = standings_on(contest, found, contest.ranked_on)
    return {each.entry.name: own.score for each, own in zip(found, scores, strict=True)}


def is_ranked_on(contest: Contest, place: Place) -> bool:
    """Whether scores on a network count for the ranking."""
    return place.network.name in contest.ranked_on


def standings_on(
    contest: Contest, scored: Sequence[Scored], networks: Sequence[str]
) -> list[Standing]:
    """Returns the standings on some of the networks, in the order of `scored`."""
    if not scored:
        return []
    is_ratio = contest.scored_by.is_ratio
    return rank_entries(table_of(scored, networks), contest.seed, is_ratio=is_ratio)


def table_of(scored: Sequence[Scored], networks: Sequence[str]) -> Floats:
    """Returns scores of shape (entries, networks, runs)."""
    return np.array([[each.scores[name] for name in networks] for each in scored])


def read_place(path: Path, *, is_public: bool) -> Place:
    """Reads a prepared network with its bound.

    Raises:
        KneepointError: it is missing or damaged.
    """
    network = PreparedNetwork.load(path)
    title = str(read_json(path)["title"])
    return Place(network, title, Bound.load(path), is_public)

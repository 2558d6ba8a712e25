"""Runs every entry on every network and scores the runs."""

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from kneepoint.engines.base import EngineSettings, RunRecord
from kneepoint.entries.entries import Sender, failed, shortened, without_paths
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.results import PlannedRun
from kneepoint.runs.runner import Batch, Runner
from kneepoint.stats import Floats
from kneepoint.stats.means import mean_of
from kneepoint.tools.contest.config import Contest

LAST_WORDS = "; its last words: "
"""Text that controllers/entries/process.cc prefixes to an entry's last output."""
_Key = tuple[str, int, int]
"""The key of an entry's run: network, seed and number of the repetition."""


def run_all(
    contest: Contest,
    entries: Sequence[Sender],
    networks: Sequence[PreparedNetwork],
    engine: EngineSettings,
    runner: Runner,
    key: bytes = b"",
) -> list[Sender]:
    """Runs entries, except runs in the journal; returns the entries with scores or reasons.

    An entry that has failed does not run again: a hanging entry costs seconds, not minutes. In
    virtual time, one run of each entry, chosen by the key, is repeated to check that it is
    deterministic given its seed.

    Raises:
        KneepointError: the machine prevented the runs of several entries from finishing.
    """
    first, *others = range(contest.seed, contest.seed + contest.runs)
    waves: list[list[tuple[PreparedNetwork, int]]] = [
        [(networks[0], first)],
        [(network, first) for network in networks[1:]],
        *([(network, seed) for network in networks] for seed in others),
    ]
    runs = [run for wave in waves for run in wave]
    repeated = {
        each.name: runs[_drawn_by(key, each, len(runs))]
        for each in entries
        if is_repeated(each, engine)
    }
    records: dict[str, dict[_Key, RunRecord]] = {
        each.name: {} for each in entries if not each.reason
    }
    for wave in waves:
        asked = [
            (each, network, seed, repetition)
            for each in entries
            if each.name in records
            and all(record.status == "ok" for record in records[each.name].values())
            for network, seed in wave
            for repetition in range(1 + (repeated.get(each.name) == (network, seed)))
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

    def scored(each: Sender) -> Sender:
        try:
            return _scored(contest, each, records[each.name], networks)
        except Exception as error:
            return failed(each, error)

    return [scored(each) if each.name in records else each for each in entries]


def _drawn_by(key: bytes, entry: Sender, choices: int) -> int:
    """Returns one of `choices` numbers, unpredictable without the key."""
    drawn = hmac.digest(key, entry.digest.encode(), "sha256")
    return int.from_bytes(drawn) % choices


def is_repeated(entry: Sender, engine: EngineSettings) -> bool:
    """Returns whether one run of the entry is made twice; our controllers are deterministic."""
    return not entry.is_baseline and not engine.is_real_time


def _scored(
    contest: Contest,
    entry: Sender,
    records: Mapping[_Key, RunRecord],
    networks: Sequence[PreparedNetwork],
) -> Sender:
    """Scores an entry's runs, in the order of networks and seeds, up to the first failure."""
    by_name = {network.name: network for network in networks}
    by_network: dict[str, list[RunRecord]] = {name: [] for name in by_name}
    scores: dict[str, list[float]] = {name: [] for name in by_name}
    for (name, seed, repetition), record in sorted(records.items(), key=lambda each: each[0][1]):
        where = f"on {name} with seed {seed}: "
        reason = _kept_back(record.reason) if name in contest.final else record.reason
        if record.status == "fault":
            reason = f"the machine prevented it ({reason}); run the contest again"
            reason = shortened(where + without_paths(reason))
            return replace(entry, reason=reason, is_disturbed=True)
        if record.status == "ok":
            try:
                score = contest.scored_by.of(record, by_name[name])
            except ValueError as error:
                reason = f"no score: {error}"
            else:
                reason = ""
        if repetition:
            before = by_network[name][-1]
            if replace(before, run_id=record.run_id) == record:
                continue
            other = f"{score:.10g}" if not reason else f"none ({reason})"
            reason = (
                f"two runs with equal seeds have the scores {scores[name][-1]:.10g} and {other}: "
                "the entry depends on more than its seed, such as the processor's random numbers"
            )
        if reason:
            return replace(entry, reason=shortened(where + without_paths(reason)))
        scores[name].append(score)
        by_network[name].append(record)
    return replace(entry, records=by_network, scores=scores)


def _kept_back(reason: str) -> str:
    """Returns the reason of a failed run without the entry's output, which may reveal the link."""
    why, quotes, _ = reason.partition(LAST_WORDS)
    return f"{why}{quotes}kept back, because the network is secret" if quotes else why


def run_on_other_host(
    contest: Contest,
    scored: Sequence[Sender],
    networks: Sequence[PreparedNetwork],
    engine: EngineSettings,
    runner: Runner,
    key: bytes,
) -> dict[str, float]:
    """Returns scores on the other host, of one run per ranked network, by entry."""
    latency_us = contest.other_host_latency_us
    if latency_us is None or engine.is_real_time:
        return {}
    able = [each for each in scored if not each.reason]
    ranked_on = [network for network in networks if network.name in contest.ranked_on]
    there = [network.with_host("host_latency_us", latency_us) for network in ranked_on]
    once = contest.model_copy(update={"runs": 1})
    return {
        each.name: mean_of(table_of([each], contest.ranked_on)[0], contest.scored_by.is_ratio)
        for each in run_all(once, able, there, engine, runner, key)
        if not each.reason
    }


def table_of(scored: Sequence[Sender], networks: Sequence[str]) -> Floats:
    """Returns scores of shape (entries, networks, runs)."""
    return np.array([[each.scores[name] for name in networks] for each in scored])

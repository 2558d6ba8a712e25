"""Tunes a controller against its own worst cases, in rounds.

A round tunes the controller on networks, and then searches for the network on which the tuned
setting does worst; the next round includes that network. Each repeat uses another seed. All
searches of a kind have equally many trials, so that worst cases of different rounds are comparable.
rounds.parquet has a row per round, runs.parquet all runs, whose trials are numbered through all
searches.
"""

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import private_folder
from kneepoint.common.study_record import BestTrial
from kneepoint.common.tables import from_rows, real, table, text, whole
from kneepoint.engines.base import canonical_json
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.questions.hardening import Hardening, Settings
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Outcome, Plan, Steps
from kneepoint.runs.results import RESULTS, FinishedRun, PlannedRun
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.objective import power_of
from kneepoint.search.plan import StudyPlan
from kneepoint.search.study import plan_of, search

ROUNDS = table(
    "rounds",
    "a round; round: the number of worst cases among its networks; parameters: the tuned "
    "parameters, network: the worst case's searched parameters, both JSON; own: mean power, "
    "relative to the omniscient sender's, on the networks of the first tuning; worst_case: the "
    "value of the search for the worst case",
    whole("repeat", "round"),
    text("parameters"),
    real("own"),
    text("network"),
    real("worst_case"),
    version=RESULTS,
)
TABLES = (ROUNDS,)


@dataclass(frozen=True)
class _Found:
    """The outcome of a search."""

    plan: StudyPlan
    best: BestTrial
    runs: list[PlannedRun]

    @property
    def of_best(self) -> Sequence[PlannedRun]:
        """The runs of the best trial."""
        return self.plan.own(self.plan.runs_of(self.best.trial, self.best.searched))


Round = tuple[dict[str, Any], _Found, _Found]
"""A row of rounds.parquet, the tuning, and the search for the worst case."""


def plan(job: Job, name: str) -> Plan:
    """Plans a hardening of the configuration, hardening/NAME."""
    wanted = job.workflow.settings.part(Settings).hardening[name.partition("/")[2]]
    tuning = plan_of(job, wanted.tune)
    worst = replace(plan_of(job, wanted.worst_case), searched=job.searched_networks(name))
    seed = derive_seed(job.workflow.settings.seed, name)

    def steps() -> Steps:
        runs: list[PlannedRun] = []
        rows: list[dict[str, Any]] = []
        for repeat in range(wanted.repeats):
            rounds = yield from _repeat(wanted, tuning, worst, derive_seed(seed, repeat))
            for row, *searches in rounds:
                rows.append({"repeat": repeat, **row})
                for found in searches:
                    first = runs[-1].trial + 1 if runs else 0
                    runs += [replace(run, trial=first + run.trial) for run in found.runs]
        last = [row["worst_case"] for row in rows if row["round"] == wanted.rounds]
        return Outcome(
            runs,
            f"{wanted.repeats} times {wanted.rounds} rounds, the last worst cases "
            + ", ".join(f"{value:.3g}" for value in last),
            {ROUNDS.file: from_rows(ROUNDS, rows)},
        )

    return Plan(tuning.engine, None, steps())


def network_of(_: Job, run: Mapping[str, Any]) -> NoReturn:
    """Refuses to repeat a single run, because no file describes its network, made in a round."""
    raise KneepointError(
        f"{run['run_id'][:16]}: belongs to {run['study']}, which makes its networks during its "
        "rounds; repeat the whole experiment: remove its folder from the results and run the "
        "workflow"
    )


def _repeat(
    wanted: Hardening, tuning: StudyPlan, worst: StudyPlan, seed: int
) -> Generator[Batch, Iterator[FinishedRun], list[Round]]:
    cases: list[PreparedNetwork] = []
    rounds: list[Round] = []
    for number in range(wanted.rounds + 1):
        of_tuning = replace(
            tuning, networks=(*tuning.networks, *cases), seed=derive_seed(seed, number, "tune")
        )
        tuned = yield from _search(of_tuning)
        own = yield from _relative_power(tuned, len(tuning.networks))
        against = replace(
            worst,
            study=worst.study.model_copy(update={"parameters": tuned.best.parameters}),
            seed=derive_seed(seed, number, "worst case"),
        )
        found = yield from _search(against)
        network = found.of_best[0].spec.network
        cases.append(replace(network, name=f"{network.name} {number}"))
        if worst.searched:
            worst.searched.forget_all_but(cases)
        row = {
            "round": number,
            "parameters": canonical_json(dict(tuned.best.parameters)),
            "own": own,
            "network": canonical_json(dict(found.best.searched)),
            "worst_case": found.best.value,
        }
        rounds.append((row, tuned, found))
    return rounds


def _search(planned: StudyPlan) -> Generator[Batch, Iterator[FinishedRun], _Found]:
    """Searches without keeping the log of trials: the dashboard shows only configured studies."""
    with private_folder("search") as folder:
        outcome, best = yield from search(folder, planned)
    if best is None:
        raise KneepointError(f"study {planned.name}: {outcome.message}; correct its controller")
    return _Found(planned, best, list(outcome.runs))


def _relative_power(tuned: _Found, networks: int) -> Generator[Batch, Iterator[FinishedRun], float]:
    """Returns the best trial's mean power on the first networks, relative to the bound."""
    first = {network.name for network in tuned.plan.networks[:networks]}
    runs = [run for run in tuned.of_best if run.spec.network.name in first]
    ratios = []
    for run in (yield Batch(runs)):  # the search's runs, from the journal
        bound = run.planned.spec.network.omniscient
        assert bound is not None
        ratios.append(power_of(run) / bound.power)
    return math.fsum(ratios) / len(ratios)

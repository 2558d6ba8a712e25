"""The ask-and-tell loop, which depends on the study alone, not on when runs end.

`ask_ahead` trials are asked, and their runs are executed in any order, anywhere. When all have
ended, the sampler is told their values in the order in which they were asked; the order of
completion would make the search depend on the machine. A study resumes by asking from the start:
runs in the journal are not executed again, and equal scores lead to equal trials.

In a race, the trials of a batch run one pair after another, and the pruner may stop trials between
pairs.
"""

import itertools
from collections.abc import Callable, Generator, Iterator, Sequence

import optuna
from optuna.trial import Trial, TrialState

from kneepoint.config.study import Power
from kneepoint.runs.results import FinishedRun, FinishedTrial, means_of
from kneepoint.runs.runner import Batch
from kneepoint.search.objective import value_of_pair
from kneepoint.search.plan import StudyPlan
from kneepoint.search.race import make_pruner, reported
from kneepoint.search.samplers import Asker

_ENUMERATED_AHEAD = 64
"""Trials asked at once from a sampler that does not learn: results do not affect it."""

BOUND = "signal delay"
"""The name of the constraint of a search under a bound."""


def ask_and_tell(
    plan: StudyPlan, asker: Asker, record: Callable[[FinishedTrial], object]
) -> Generator[Batch, Iterator[FinishedRun], list[FinishedTrial]]:
    """Yields the runs of a study's trials in batches, and receives them finished.

    Args:
        plan: the study.
        asker: its sampler.
        record: called with each finished trial, in order.

    Returns:
        All trials in order.
    """
    race = plan.study.race
    study = optuna.create_study(
        study_name=plan.name,  # Hyperband assigns a trial's bracket by a hash of it
        sampler=asker.sampler,
        directions=plan.study.objective.directions,
        pruner=make_pruner(race, len(plan.pairs)) if race else None,
    )
    ahead = plan.study.ask_ahead if asker.learns else _ENUMERATED_AHEAD
    execute = _raced if race else _together
    trials: list[FinishedTrial] = []
    start = plan.start
    while count := min(ahead, asker.ready(study, len(trials))):
        for point in start[len(trials) : len(trials) + count]:
            study.enqueue_trial(dict(point))
        asked = [study.ask(dict(plan.space)) for _ in range(count)]
        results = yield from execute(plan, asked)
        for trial, (runs, reports) in zip(asked, results, strict=True):
            result = _finish(plan, trial, runs, reports)
            _tell(study, trial, result)
            record(result)
            trials.append(result)
    return trials


Executed = list[tuple[list[FinishedRun], list[float]]]
"""Each trial's runs and, in a race, its reports."""


def _together(
    plan: StudyPlan, asked: Sequence[Trial]
) -> Generator[Batch, Iterator[FinishedRun], Executed]:
    """Executes all runs of the trials at once."""
    planned = [plan.runs_of(trial.number, trial.params) for trial in asked]
    results = yield Batch([run for runs in planned for run in runs])
    return [(list(itertools.islice(results, len(runs))), []) for runs in planned]


def _raced(
    plan: StudyPlan, asked: Sequence[Trial]
) -> Generator[Batch, Iterator[FinishedRun], Executed]:
    """Executes the trials pair by pair, and stops trials that the pruner rejects.

    Trials are stopped between batches, when none of their runs is in progress.
    """
    race, goal = plan.study.race, plan.study.objective
    assert race is not None and isinstance(goal, Power)
    planned = [plan.runs_of(trial.number, trial.params) for trial in asked]
    runs: list[list[FinishedRun]] = [[] for _ in asked]
    reports: list[list[float]] = [[] for _ in asked]
    racing = list(range(len(asked)))
    start = 0
    while racing and start < len(plan.pairs):
        end = race.first if start == 0 else start + 1
        results = yield Batch([run for at in racing for run in planned[at][start:end]])
        for at in racing:
            runs[at] += itertools.islice(results, end - start)
            values = {k: value_of_pair(run, goal.power) for k, run in enumerate(runs[at])}
            for step in range(start, end):
                reports[at].append(reported(race, values, step))
                asked[at].report(reports[at][step], step)
        start = end
        if start < len(plan.pairs):  # all trials report before any trial is judged
            racing = [at for at in racing if not asked[at].should_prune()]
    return list(zip(runs, reports, strict=True))


def _finish(
    plan: StudyPlan, trial: Trial, runs: list[FinishedRun], reports: list[float]
) -> FinishedTrial:
    score = plan.score(runs, trial.params)
    return FinishedTrial(
        trial.number,
        trial.params,
        score.value,
        score.reason,
        means_of(plan.own(runs)),
        len(runs),
        score.objectives,
        score.violation,
        plan.study.race is not None and len(runs) < len(plan.pairs),
        reports,
    )


def _tell(study: optuna.Study, trial: Trial, result: FinishedTrial) -> None:
    if result.violation is not None:
        trial.set_constraint(BOUND, result.violation)
    if result.is_stopped:
        study.tell(trial, state=TrialState.PRUNED)
    else:
        study.tell(trial, result.objectives or result.value)

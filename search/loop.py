"""The ask-and-tell loop: what it does depends on the study alone, not on when runs end.

`ask_ahead` trials are asked; their runs are executed in any order, anywhere; when all have ended,
the trials are told in the order in which they were asked. (Telling in order of completion made
different searches of the same study.) A study is resumed by asking from the start again: runs
that the journal holds are not executed twice, and the same scores lead to the same questions.
"""

import itertools
from collections.abc import Generator, Iterator
from typing import Any

import optuna
from optuna.study import StudyDirection
from optuna.trial import Trial

from experiments.results import FinishedRun, FinishedTrial, means_of
from experiments.runner import Batch
from search.optuna_journal import OptunaJournal
from search.plan import StudyPlan
from search.samplers import Asker

_ENUMERATED_AHEAD = 64
"""Trials asked at once of a sampler that does not learn: it makes no difference to them."""


def direction_of(plan: StudyPlan) -> StudyDirection:
    """Returns Optuna's name for it."""
    minimises = plan.study.objective.minimises
    return StudyDirection.MINIMIZE if minimises else StudyDirection.MAXIMIZE


def ask_and_tell(
    plan: StudyPlan, asker: Asker, copy: OptunaJournal
) -> Generator[Batch, Iterator[FinishedRun], list[FinishedTrial]]:
    """Yields the runs of a study's trials, some trials at a time, and is sent them finished.

    Args:
        plan: the study.
        asker: its sampler.
        copy: the dashboard's copy.

    Returns:
        All trials in order.
    """
    study = optuna.create_study(sampler=asker.sampler, direction=direction_of(plan))
    if plan.start:
        study.enqueue_trial(dict(plan.start))
    ahead = plan.study.ask_ahead if asker.learns else _ENUMERATED_AHEAD
    trials: list[FinishedTrial] = []
    while count := min(ahead, asker.ready(study, len(trials))):
        asked = [study.ask(dict(plan.space)) for _ in range(count)]
        planned = [plan.runs_of(trial.number, trial.params) for trial in asked]
        results = yield Batch([run for runs in planned for run in runs])
        finished = [
            _finish(plan, trial, list(itertools.islice(results, len(runs))))
            for trial, runs in zip(asked, planned, strict=True)
        ]
        for trial, result in zip(asked, finished, strict=True):
            study.tell(trial, result.value)
        told = study.get_trials(deepcopy=False)[-count:]
        for frozen, result in zip(told, finished, strict=True):
            copy.add(frozen, _attributes(result))
        trials += finished
        copy.publish_if_caught_up()
    copy.publish()
    return trials


def _finish(plan: StudyPlan, trial: Trial, runs: list[FinishedRun]) -> FinishedTrial:
    score = plan.score(runs, trial.params)
    return FinishedTrial(
        trial.number, trial.params, score.value, score.reason, means_of(runs), len(runs)
    )


def _attributes(finished: FinishedTrial) -> dict[str, Any]:
    """What the dashboard shows of a trial beside its value."""
    return {**finished.means, **({"reason": finished.reason} if finished.reason else {})}

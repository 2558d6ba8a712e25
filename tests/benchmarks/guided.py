"""The number of real runs of a guided search, and its results, with emulators as reality.

    python -m tests.benchmarks.guided                        two controllers, two searches each
    python -m tests.benchmarks.guided --all --searches 20    ten controllers
    python -m tests.benchmarks.guided --all --first 3 --searches 1    from the seed 3 alone

Needs the prepared networks of `make reproduce`. Reality is the contest's link with a propagation
delay, host latency and timer lateness that all differ by a share from the guide's, each in a
direction drawn by the search's seed. The loss of a setting is its mean difference from the best
setting, over fresh runs in reality with the same seeds; their number suffices for a precision of
0.2 %. The best setting is chosen among the settings found by any search, the leading settings of
the guided search, and the leading settings of a search in reality of half as many trials; all run
again before the comparison. Other searches make as many real runs as the guided search. The last
table compares the best trial of the search in reality, which ran each setting once, with the best
setting that it tried.
"""

import argparse
import math
import os
import statistics
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np
import optuna

from kneepoint.config.study import Sampler
from kneepoint.engines.base import Engine, RunRecord, RunSpec
from kneepoint.networks.declared import Notation
from kneepoint.runs.load import load_workflow
from kneepoint.runs.results import FinishedRun, FinishedTrial
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.guided import EmulatedGuide, emulate, spend
from kneepoint.search.leaders import CLEAR, Leader, leading, log_value, measurement, repeat_leaders
from kneepoint.search.loop import ask_and_tell
from kneepoint.search.plan import StudyPlan
from kneepoint.search.samplers import make_asker
from kneepoint.search.spaces import Point
from tests.benchmarks.searching import job_of, planned

R = TypeVar("R")
CONFIG = Path("config/config.yaml")
SMALL = ("tune-timely", "tune-delay-threshold")
DISTURBANCES = (0.0, 0.05, 0.1, 0.2)
WITHIN = math.log(0.99)
LATENESS_US = 100.0
"""The default of the emulated host."""
FEW, GROWS, SURE, PRECISE = 10, 4, 3, 0.002
"""Initial runs of each setting. Settings that are not below the best by 1 % and SURE standard
errors then run GROWS times as often, until their differences have the standard error PRECISE."""
SHIPPED = "guided-delay-threshold"
"""A shipped guided study, whose batch size and maximum number of runs are used."""
OTHERS, REPEATS = 10, (20, 40, 80, 160)
"""The number of leading settings of a search in reality, and the maximum numbers of their
repeats."""
NOISY = ("luckiest", "greatest posterior mean", *(f"repeat_best: {most}" for most in REPEATS))
SEARCHES = ("guided", "emulator's winner", "TPE from that winner", "TPE", "random subset")


@dataclass(frozen=True)
class Task:
    """The searches of a controller from one seed, in every reality."""

    study: str
    seed: int
    trials: int
    budget: int
    truth: int


@dataclass(frozen=True)
class Found:
    """The results of the searches in one reality.

    Args:
        disturbance: of the reality.
        losses: for each of SEARCHES, the logarithm of the best true power over its setting's power.
        noisy: the same for each of NOISY, relative to the settings that a long search tried.
        repeats: runs with each of REPEATS, and the stated probability.
        runs: real runs of the guided search.
        within: its stated probability.
        is_off: whether it rejected the guide.
    """

    study: str
    disturbance: float
    losses: tuple[float, ...]
    noisy: tuple[float, ...]
    repeats: tuple[tuple[int, float], ...]
    runs: int
    within: float
    is_off: bool


class Remembering:
    """An engine in virtual time that caches its runs."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[str, RunRecord] = {}

    def run(self, spec: RunSpec) -> RunRecord:
        """See Engine."""
        if spec.run_id not in self._known:
            self._known[spec.run_id] = self._engine.run(spec)
        return self._known[spec.run_id]


def followed(steps: Generator[Batch, Iterator[FinishedRun], R], engine: Remembering) -> R:
    """Executes the batches of steps."""
    try:
        batch = next(steps)
        while True:
            batch = steps.send(iter([FinishedRun(run, engine.run(run.spec)) for run in batch.runs]))
    except StopIteration as end:
        found: R = end.value
        return found


def disturbed(plan: StudyPlan, by: float, seed: int) -> StudyPlan:
    """Returns the study in a reality that differs from the emulator by a share."""
    directions = np.random.default_rng(derive_seed(seed, "directions")).choice([-1, 1], 3)
    delay, latency, lateness = (1 + by * float(each) for each in directions)
    (network,) = plan.networks
    mean_us = float(Notation.parse(network.host_model).parameters.get("wake_mean_us", LATENESS_US))
    network = (
        network.with_value("delay_ms", round(network.uplink.delay_ms * delay))
        .with_host("host_latency_us", round(network.host_latency_us * latency))
        .with_host("wake_mean_us", mean_us * lateness)
    )
    return replace(plan, networks=(network,), seed=derive_seed(seed, "reality", str(by)))


def fresh_values(
    plan: StudyPlan, point: Point, runs: int, stream: str, engine: Remembering
) -> list[float]:
    """Returns a setting's values in fresh runs."""
    fresh = replace(plan, seed=derive_seed(plan.seed, stream))
    found = []
    for number in range(runs):
        each = measurement(fresh, Leader(0, point), number)
        finished = [FinishedRun(run, engine.run(run.spec)) for run in each]
        found.append(log_value(plan, plan.score(finished, point).value))
    return found


def losses(
    plan: StudyPlan, found: Sequence[Point], others: Sequence[Point], most: int, engine: Remembering
) -> tuple[float, ...]:
    """Returns the losses of settings against the best of these and other settings.

    All run with the same seeds, and with further seeds after the choice of the best.
    """
    points = {tuple(point.values()): point for point in (*found, *others)}
    near, lost, count = list(points), dict[tuple[float, ...], float](), FEW
    while True:
        values = {
            key: np.array(fresh_values(plan, points[key], count, f"of {count}", engine))
            for key in near
        }
        best = max(near, key=lambda key: float(values[key].mean()))
        behind = {key: values[best] - values[key] for key in near}
        lost |= {key: float(each.mean()) for key, each in behind.items()}
        errors = {key: float(each.std()) / math.sqrt(count) for key, each in behind.items()}
        near = [key for key in near if lost[key] <= SURE * errors[key] - WITHIN]
        if count >= most or max(errors[key] for key in near) <= PRECISE:
            break
        count *= GROWS
    of_best = fresh_values(plan, points[best], count, "best", engine)
    for key in set(near) & {tuple(point.values()) for point in found}:
        again = fresh_values(plan, points[key], count, "best", engine)
        lost[key] = statistics.fmean(of_best) - statistics.fmean(again)
    return tuple(lost[tuple(point.values())] for point in found)


def tuned(
    plan: StudyPlan, sampler: Sampler, given: Sequence[Point], engine: Remembering
) -> list[FinishedTrial]:
    """Returns the trials of a search without a guide."""
    study = plan.study.model_copy(update={"sampler": sampler})
    plan = replace(plan, study=study, given=tuple(given))
    asker = make_asker(sampler, plan.space, None, plan.seed)
    return followed(ask_and_tell(plan, asker, lambda _: None), engine)


def luckiest(trials: Sequence[FinishedTrial]) -> Point:
    """Returns the setting with the greatest value."""
    return max(trials, key=lambda trial: trial.value).searched


def sampler(kind: Literal["cmaes", "tpe"], trials: int, startup: int) -> Sampler:
    """Returns a sampler of `trials` trials, the first of them random."""
    return Sampler(kind=kind, trials=trials, startup_trials=max(1, startup))


def search(task: Task) -> list[Found]:
    """Searches a study in every reality."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    workflow = load_workflow(CONFIG)
    long = sampler("cmaes", task.trials, task.trials // 10)
    of_search = {
        "sampler": long,
        "runs_per_trial": 1,
        "ask_ahead": workflow.studies[SHIPPED].ask_ahead,
    }
    study = workflow.studies[task.study].model_copy(update=of_search)
    plan = planned(job_of(workflow), task.study, study, derive_seed(task.seed, task.study))
    with closing(plan.engine.open()) as engine:
        return compare(plan, task, engine)


def compare(plan: StudyPlan, task: Task, engine: Engine) -> list[Found]:
    """Emulates a study, and spends real runs in every reality."""
    known = Remembering(engine)
    guide = followed(emulate(plan), known)
    seed = derive_seed(task.seed, task.study)
    return [on_reality(disturbed(plan, by, seed), by, guide, task, known) for by in DISTURBANCES]


def on_reality(
    real: StudyPlan, by: float, guide: EmulatedGuide, task: Task, engine: Remembering
) -> Found:
    """Searches in one reality by every method, with as many runs as the guided search needs."""
    long = sampler("cmaes", task.trials // 2, task.trials // 20)
    guided = followed(spend(real, guide, task.budget), engine)
    runs = len(guided.settled.runs)
    tpe = sampler("tpe", runs, runs // 2)
    winner = guide.settings[guide.winner].point
    some = np.random.default_rng(real.seed).permutation(len(guide.settings))[:runs]
    drawn = [guide.settings[k].point for k in some]
    lucky = [fresh_values(real, point, 1, "random", engine)[0] for point in drawn]
    points = [
        guide.settings[guided.settled.verdict.recommended].point,
        winner,
        luckiest(tuned(real, tpe, [winner], engine)),
        luckiest(tuned(real, tpe, [], engine)),
        drawn[int(np.argmax(lucky))],
    ]
    trials = tuned(real, long, [], engine)
    leaders, posterior = leading(real, trials, OTHERS)
    again = [followed(repeat_leaders(real, trials, most), engine) for most in REPEATS]
    own = [luckiest(trials), leaders[posterior.leaders(1)[0]].point]
    own += [trials[number].searched for number, _ in again]
    others = [each.point for each in leaders]
    candidates = [guide.settings[k].point for k in guided.settled.posterior.leaders(OTHERS)]
    return Found(
        task.study,
        by,
        losses(real, points, [*own, *others, *candidates], task.truth, engine),
        losses(real, own, others, task.truth, engine),
        tuple((said["runs"], said["within_1_percent"]) for _, said in again),
        runs,
        guided.settled.verdict.within,
        guided.is_off,
    )


def lines(found: Sequence[Found]) -> Iterator[str]:
    """Yields the figures of each disturbance, in the Markdown of the docs."""
    yield f"| disturbed by | real runs | called wrong | said | {' | '.join(SEARCHES)} |"
    yield "| --- " * (4 + len(SEARCHES)) + "|"
    for by in DISTURBANCES:
        of = [each for each in found if each.disturbance == by]
        yield (
            f"| {by:.0%} | {statistics.median(each.runs for each in of):g} "
            f"| {statistics.fmean(each.is_off for each in of):.2f} "
            f"| {statistics.fmean(each.within for each in of):.2f} "
            f"| {' | '.join(shares([each.losses for each in of]))} |"
        )
    yield from ("", "| trial | within 1 % | runs | said |", "| --- " * 4 + "|")
    none = [(0, math.nan)] * (len(NOISY) - len(REPEATS))
    again = zip(*((*none, *each.repeats) for each in found), strict=True)
    for name, share, each in zip(NOISY, shares([x.noisy for x in found]), again, strict=True):
        runs, said = map(statistics.fmean, zip(*each, strict=True))
        yield f"| {name} | {share} | {runs:.0f} | {said:.2f} |"
    # Calibration of the stated probabilities.
    sure = [
        -loss >= WITHIN
        for each in found
        for loss, (_, said) in zip(each.noisy[-len(REPEATS) :], each.repeats, strict=True)
        if said > CLEAR
    ]
    yield from ("", f"{sum(sure)} of {len(sure)} that were said to be, with more than {CLEAR}, are")


def shares(losses: Sequence[Sequence[float]]) -> Iterator[str]:
    """Yields, for each method of search, the number of losses within 1 %, and their mean."""
    for each in zip(*losses, strict=True):
        within = statistics.fmean(-loss >= WITHIN for loss in each)
        yield f"{within:.2f} ({100 * statistics.fmean(each):.1f} %)"


def main() -> None:
    """Searches, and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="ten controllers, not two")
    parser.add_argument("--first", type=int, default=0, help="seed (%(default)s)")
    parser.add_argument("--searches", type=int, default=2, help="of each (%(default)s)")
    parser.add_argument(
        "--trials", type=int, default=300, help="of an emulated search (%(default)s)"
    )
    parser.add_argument("--budget", type=int, help=f"most real runs (as {SHIPPED})")
    parser.add_argument(
        "--truth", type=int, default=2560, help="most runs of a setting (%(default)s)"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args()
    workflow = load_workflow(CONFIG)
    budget = given.budget or workflow.studies[SHIPPED].real_runs
    assert budget is not None
    names = [name for name in workflow.tunings if workflow.studies[name].sampler.kind == "tpe"]
    tasks = [
        Task(name, seed, given.trials, budget, given.truth)
        for seed in range(given.first, given.first + given.searches)
        for name in names[:10]
        if name in SMALL or given.all
    ]
    began_s, found = time.monotonic(), list[Found]()
    with ProcessPoolExecutor(given.processes) as pool:
        for each in pool.map(search, tasks):
            found += each
            losses = (f"{x.losses[0]:+.4f}/{x.noisy[-1]:+.4f}/{x.runs}" for x in each)
            print(each[0].study, *losses, flush=True)
    print(*lines(found), sep="\n")
    print(f"{len(tasks)} searches; {time.monotonic() - began_s:.0f} s in all")


if __name__ == "__main__":
    main()

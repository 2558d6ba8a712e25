"""How few real runs a guided search needs, and what it finds, on realities that are emulators.

    python -m tests.benchmarks.guided                        two controllers, two searches each
    python -m tests.benchmarks.guided --all --searches 20    ten controllers

Needs the prepared networks of `make reproduce`. Reality is the contest's link whose propagation
delay, host latency and timers' lateness all differ by a share from the guide's, each in a direction
that the search's seed draws. A setting's true power is its mean over fresh runs there. The best
one is the best of all that any search found there, and of those that a search of its own in
that reality leads with; it runs again before others are compared with it.
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
from typing import TypeVar

import numpy as np
import optuna

from engines.base import Engine
from experiments.config import load_workflow
from experiments.models.study import Sampler
from experiments.results import FinishedRun
from experiments.runner import Batch
from experiments.seeds import derive_seed
from networks.declared import Notation
from search.guided import emulate, leading, spend
from search.leaders import Setting, log_value, measurement
from search.loop import ask_and_tell
from search.plan import StudyPlan
from search.samplers import make_asker
from search.spaces import Point
from tests.benchmarks.searching import job_of, planned

R = TypeVar("R")
CONFIG = Path("config/config.yaml")
SMALL = ("tune-timely", "tune-delay-threshold")
DISTURBANCES = (0.0, 0.05, 0.1, 0.2)
WITHIN = math.log(0.99)
LATENESS_US = 100.0
"""The emulated host's default."""
SEARCHES = ("guided", "emulator's winner", "TPE from that winner", "TPE", "random subset")


@dataclass(frozen=True)
class Task:
    """The searches of a controller from one seed, on every reality."""

    study: str
    seed: int
    trials: int
    budget: int
    truth: int


@dataclass(frozen=True)
class Found:
    """What the searches found on one reality.

    Args:
        disturbance: of the reality.
        losses: logarithm of the best true power over that of each of SEARCHES.
        runs: real runs of the guided search.
        within: the probability that it gave.
        is_off: whether it called the guide wrong.
    """

    study: str
    disturbance: float
    losses: tuple[float, ...]
    runs: int
    within: float
    is_off: bool


def followed(steps: Generator[Batch, Iterator[FinishedRun], R], engine: Engine) -> R:
    """Executes what steps yield."""
    try:
        batch = next(steps)
        while True:
            batch = steps.send(iter([FinishedRun(run, engine.run(run.spec)) for run in batch.runs]))
    except StopIteration as end:
        found: R = end.value
        return found


def disturbed(plan: StudyPlan, by: float, seed: int) -> StudyPlan:
    """Returns the study in a reality that differs by a share from the emulator."""
    directions = np.random.default_rng(derive_seed(seed, "directions")).choice([-1, 1], 3)
    delay, latency, lateness = (1 + by * float(each) for each in directions)
    (network,) = plan.networks
    mean_us = float(Notation.parse(network.host_model).parameters.get("wake_mean_us", LATENESS_US))
    network = (
        network.having("delay_ms", round(network.uplink.delay_ms * delay))
        .with_host("host_latency_us", round(network.host_latency_us * latency))
        .with_host("wake_mean_us", mean_us * lateness)
    )
    return replace(plan, networks=(network,), seed=derive_seed(seed, "reality", str(by)))


def true_value(plan: StudyPlan, point: Point, runs: int, stream: str, engine: Engine) -> float:
    """Returns a setting's mean value over fresh runs."""
    fresh = replace(plan, seed=derive_seed(plan.seed, stream))
    found = []
    for number in range(runs):
        each = measurement(fresh, Setting(0, point), number)
        finished = [FinishedRun(run, engine.run(run.spec)) for run in each]
        found.append(log_value(plan, plan.score(finished, point).value))
    return statistics.fmean(found)


def tuned(plan: StudyPlan, sampler: Sampler, given: Sequence[Point], engine: Engine) -> Point:
    """Returns the luckiest setting of a search without a guide."""
    study = plan.study.model_copy(update={"sampler": sampler})
    plan = replace(plan, study=study, given=tuple(given))
    asker = make_asker(sampler, plan.space, None, plan.seed)
    trials = followed(ask_and_tell(plan, asker, lambda _: None), engine)
    return max(trials, key=lambda trial: trial.value).searched


def search(task: Task) -> list[Found]:
    """Searches a study on every reality."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    workflow = load_workflow(CONFIG)
    long = Sampler(kind="cmaes", trials=task.trials, startup_trials=max(1, task.trials // 10))
    tpe = Sampler(kind="tpe", trials=task.budget, startup_trials=max(1, task.budget // 2))
    study = workflow.studies[task.study].model_copy(update={"sampler": long, "runs_per_trial": 1})
    plan = planned(job_of(workflow), task.study, study, derive_seed(task.seed, task.study))
    with closing(plan.engine.open()) as engine:
        guide = followed(emulate(plan), engine)
        results = []
        for by in DISTURBANCES:
            real = disturbed(plan, by, derive_seed(task.seed, task.study))
            guided = followed(spend(real, guide, task.budget), engine)
            winner = guide.settings[guide.winner].point
            random = np.random.default_rng(real.seed)
            some = random.permutation(len(guide.settings))[: task.budget]
            lucky = [true_value(real, guide.settings[k].point, 1, "random", engine) for k in some]
            settled = guided.settled
            points = [
                guide.settings[settled.verdict.recommended].point,
                winner,
                tuned(real, tpe, [winner], engine),
                tuned(real, tpe, [], engine),
                guide.settings[some[int(np.argmax(lucky))]].point,
            ]
            asker = make_asker(long, real.space, None, real.seed)
            trials = followed(ask_and_tell(real, asker, lambda _: None), engine)
            others = [each.point for each in leading(real, trials, 5)[0]]
            values = [
                true_value(real, point, task.truth, "truth", engine) for point in points + others
            ]
            top = (points + others)[int(np.argmax(values))]
            best = true_value(real, top, task.truth, "best", engine)
            results.append(
                Found(
                    task.study,
                    by,
                    tuple(best - value for value in values[: len(points)]),
                    len(settled.runs),
                    settled.verdict.within,
                    guided.is_off,
                )
            )
    return results


def lines(found: Sequence[Found]) -> Iterator[str]:
    """Yields the figures of each disturbance, in the Markdown of the docs."""
    yield f"| disturbed by | real runs | called wrong | said | {' | '.join(SEARCHES)} |"
    yield "| --- " * (4 + len(SEARCHES)) + "|"
    for by in DISTURBANCES:
        of = [each for each in found if each.disturbance == by]
        shares = [
            f"{statistics.fmean(-each.losses[k] >= WITHIN for each in of):.2f} "
            f"({100 * statistics.fmean(each.losses[k] for each in of):.1f} %)"
            for k in range(len(SEARCHES))
        ]
        yield (
            f"| {by:.0%} | {statistics.median(each.runs for each in of):g} "
            f"| {statistics.fmean(each.is_off for each in of):.2f} "
            f"| {statistics.fmean(each.within for each in of):.2f} | {' | '.join(shares)} |"
        )


def main() -> None:
    """Searches, and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="ten controllers, not two")
    parser.add_argument("--searches", type=int, default=2, help="of each (%(default)s)")
    parser.add_argument("--trials", type=int, default=150, help="of a search (%(default)s)")
    parser.add_argument("--budget", type=int, default=12, help="real runs (%(default)s)")
    parser.add_argument("--truth", type=int, default=30, help="runs of a setting (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args()
    workflow = load_workflow(CONFIG)
    names = [name for name in workflow.tunings if workflow.studies[name].sampler.kind == "tpe"]
    tasks = [
        Task(name, seed, given.trials, given.budget, given.truth)
        for seed in range(given.searches)
        for name in names[:10]
        if name in SMALL or given.all
    ]
    began_s, found = time.monotonic(), list[Found]()
    with ProcessPoolExecutor(given.processes) as pool:
        for each in pool.map(search, tasks):
            found += each
            print(each[0].study, *(f"{x.losses[0]:+.4f}/{x.runs}" for x in each), flush=True)
    print(*lines(found), sep="\n")
    print(f"{len(tasks)} searches; {time.monotonic() - began_s:.0f} s in all")


if __name__ == "__main__":
    main()

"""Results and costs of samplers: the winners' true power against CPU time.

    python -m tests.benchmarks.samplers
    python -m tests.benchmarks.samplers --all --repeats 3

Needs the prepared networks of `make reproduce`. Studies of the configuration that tune a controller
on one network are searched with each sampler, from several seeds, with equal numbers of trials. The
winner then runs with fresh seeds, the same for all: a search's own value is biased by selection.
"""

import argparse
import itertools
import math
import os
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import optuna

from kneepoint.config.study import Sampler
from kneepoint.runs.load import load_workflow
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.objective import find_best
from tests.benchmarks.searching import job_of, planned, powers_of, searched

CONFIG = Path("config/config.yaml")
FRESH = 30
KINDS = ("random", "qmc", "cmaes", "tpe")
SMALL = ("tune-timely", "tune-delay-threshold")


@dataclass(frozen=True)
class Task:
    """One search."""

    study: str
    kind: str
    seed: int
    trials: int


@dataclass(frozen=True)
class Found:
    """The winner's power in its search and with fresh seeds, and the search's CPU time."""

    task: Task
    own: float
    fresh: float
    cpu_s: float


def search(task: Task) -> Found:
    """Searches a study, and runs its winner again."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    workflow = load_workflow(CONFIG)
    study = workflow.studies[task.study]
    learns = {"startup_trials": task.trials // 10} if task.kind in ("tpe", "cmaes") else {}
    sampler = Sampler(kind=task.kind, trials=task.trials, **learns)
    study = study.model_copy(update={"sampler": sampler, "runs_per_trial": 1})
    plan = planned(job_of(workflow), task.study, study, derive_seed(task.seed, task.study))
    began_s = _cpu_s()
    best = find_best(searched(plan), minimise=False)
    cpu_s = _cpu_s() - began_s
    (powers,) = powers_of(plan, best, plan.networks[:1], range(FRESH))
    return Found(task, best.value, statistics.fmean(powers), cpu_s)


def _cpu_s() -> float:
    """Returns the CPU time of this process and of ended emulators."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def tell(found: Sequence[Found], studies: Sequence[str], trials: Sequence[int]) -> None:
    """Prints a line for each sampler and number of trials, in the Markdown of the docs.

    Power is relative to the best of all searches of a controller, with the geometric mean over
    controllers.
    """
    best = {name: max(f.fresh for f in found if f.task.study == name) for name in studies}
    print("| sampler | trials | true power, relative to the best | own value over true | CPU (s) |")
    print("| --- | --- | --- | --- | --- |")
    for count, kind in itertools.product(trials, KINDS):
        of = [f for f in found if (f.task.kind, f.task.trials) == (kind, count)]
        logs = [
            statistics.fmean(
                math.log(max(f.fresh, 1e-9) / best[name]) for f in of if f.task.study == name
            )
            for name in studies
        ]
        luck = statistics.median(f.own / f.fresh for f in of if f.fresh) - 1
        print(
            f"| `{kind}` | {count} | {math.exp(statistics.fmean(logs)):.3f} "
            f"(least {math.exp(min(logs)):.3f}) | {100 * luck:+.1f} % "
            f"| {statistics.fmean(f.cpu_s for f in of):.1f} |"
        )


def main() -> None:
    """Searches, and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--all", action="store_true", help="ten controllers, not two")
    parser.add_argument("--trials", type=int, nargs="+", default=[150, 300])
    parser.add_argument("--repeats", type=int, default=1, help="searches of each (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args()
    workflow = load_workflow(CONFIG)
    tuned = [name for name in workflow.tunings if workflow.studies[name].sampler.kind == "tpe"]
    studies = [name for name in tuned[:10] if name in SMALL or given.all]
    tasks = [
        Task(name, kind, seed, count)
        for seed, name, kind, count in itertools.product(
            range(given.repeats), studies, KINDS, given.trials
        )
    ]
    began_s = time.monotonic()
    with ProcessPoolExecutor(given.processes) as pool:
        found = list(pool.map(search, tasks))
    tell(found, studies, given.trials)
    print(
        f"{len(studies)} controllers, {given.repeats} searches each; "
        f"{time.monotonic() - began_s:.0f} s in all"
    )


if __name__ == "__main__":
    main()

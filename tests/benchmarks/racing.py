"""The savings of a race, and its winner's quality on held-out networks.

    python -m tests.benchmarks.racing --repeats 3
    python -m tests.benchmarks.racing --repeats 20 --against equal

Needs the prepared networks of `make reproduce CONFIG=config/general.yaml`. Each raced study of the
configuration is searched with and without its race, from several seeds, on the same pairs of
network and seed. The search without a race has as many trials (whole), or as many runs (equal).
Winners then run on the held-out networks, which no search has seen; the ratio is the geometric mean
power of the raced winner over the other winner's.
"""

import argparse
import itertools
import math
import os
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import optuna

from kneepoint.config.study import Race
from kneepoint.config.workflow import Workflow
from kneepoint.runs.load import load_workflow
from kneepoint.runs.results import FinishedTrial
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.objective import MIN_POWER, find_best
from kneepoint.search.plan import StudyPlan
from kneepoint.stats.paired import paired_ratio
from tests.benchmarks.searching import job_of, planned, powers_of, searched

NEVER = 1e-300
"""A p value that stops no trial."""
SEEDS = range(3)
"""Seeds of the winner's runs on a held-out network."""


@dataclass(frozen=True)
class Searched:
    """One search: whether it raced, its runs, and its winner's power by held-out network."""

    study: str
    seed: int
    raced: bool
    runs: int
    powers: tuple[float, ...]


@dataclass(frozen=True)
class Task:
    """A study to search from a seed, with and without its race."""

    config: Path
    name: str
    seed: int
    trials: int
    pruner: str
    p: float
    is_equal: bool


def search_both(task: Task) -> tuple[Searched, Searched]:
    """Searches with and without the race."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    workflow = load_workflow(task.config)
    raced = search(workflow, task, task.trials, task.pruner)
    pairs = len(planned_race(workflow, task.name, task.seed, 1, "", task.p).pairs)
    trials = math.ceil(raced.runs / pairs) if task.is_equal else task.trials
    return raced, search(workflow, task, trials, "")


def search(workflow: Workflow, task: Task, trials: int, pruner: str) -> Searched:
    """Searches a study with a pruner, or without if the name is empty."""
    name, seed, p = task.name, task.seed, task.p
    plan = planned_race(workflow, name, seed, trials, pruner, p)
    found = searched(plan)
    powers = tuple(held_out_powers(workflow, plan, find_best(found, minimise=False)))
    return Searched(name, seed, bool(pruner), sum(trial.n_runs for trial in found), powers)


def planned_race(
    workflow: Workflow, name: str, seed: int, trials: int, pruner: str, p: float
) -> StudyPlan:
    """Returns the plan of a study with another seed, number of trials and pruner."""
    study = workflow.studies[name]
    assert study.race is not None
    race = study.race.model_copy(
        update={"pruner": pruner, "p": p} if pruner else {"pruner": "wilcoxon", "p": NEVER}
    )
    sampler = study.sampler.model_copy(update={"trials": trials})
    raced = study.model_copy(update={"race": race, "sampler": sampler})
    return planned(job_of(workflow), name, raced, derive_seed(seed, name))


def held_out_powers(workflow: Workflow, plan: StudyPlan, best: FinishedTrial) -> Iterator[float]:
    """Yields the mean power of a winner on each held-out network."""
    assert workflow.settings.hold_out is not None
    job = job_of(workflow)
    networks = [
        plan.engine.place(job.network(each)) for each in workflow.settings.hold_out.networks
    ]
    for powers in powers_of(plan, best, networks, SEEDS):
        yield max(MIN_POWER, math.fsum(powers) / len(powers))


def told(name: str, raced: Sequence[Searched], whole: Sequence[Searched]) -> str:
    """Returns a line about a study, or about all studies."""
    share = sum(each.runs for each in raced) / sum(each.runs for each in whole)
    pairs = [(a.powers, b.powers) for a, b in zip(raced, whole, strict=True)]
    ratio = paired_ratio([(sum((a for a, _ in pairs), ()), sum((b for _, b in pairs), ()))], 1)
    return f"{name:26}{share:8.2f}  {ratio}"


def tell(names: Sequence[str], found: Sequence[tuple[Searched, Searched]]) -> None:
    """Prints a line for each searched study, and a line for all."""
    for name in (*names, "all"):
        of = [pair for pair in found if name in (pair[0].study, "all")]
        if of:
            print(told(name, *zip(*of, strict=True)), flush=True)


def main() -> None:
    """Prints the share of runs and the ratio of held-out power, study by study."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, default=Path("config/general.yaml"))
    parser.add_argument("--trials", type=int, default=300, help="of a search (%(default)s)")
    parser.add_argument("--repeats", type=int, default=20, help="searches of each (%(default)s)")
    parser.add_argument(
        "--against", choices=("whole", "equal"), default="whole", help="trials of the other search"
    )
    parser.add_argument("--pruner", default="elitist", help="of the race (%(default)s)")
    parser.add_argument("--p", type=float, default=Race().p, help="of the test (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("studies", nargs="*", help="raced studies; none: all")
    given = parser.parse_args()
    workflow = load_workflow(given.config)
    names = given.studies or [name for name, study in workflow.studies.items() if study.race]
    is_equal = given.against == "equal"
    tasks = [
        Task(given.config, name, seed, given.trials, given.pruner, given.p, is_equal)
        for seed, name in itertools.product(range(given.repeats), names)
    ]
    print(f"{'study':26}{'runs':>8}  held-out power, raced / {given.against} [95 %]")
    found: list[tuple[Searched, Searched]] = []
    with ProcessPoolExecutor(given.processes) as pool:
        for pair in pool.map(search_both, tasks):
            found.append(pair)
            if len(found) % len(names) == 0 and len(found) < len(tasks):
                print(f"{len(found) // len(names)} searches of each:")
                tell([], found)
    tell(names, found)
    shares = [raced.runs / other.runs for raced, other in found]
    print(f"median share of runs {statistics.median(shares):.2f}, {given.repeats} searches of each")


if __name__ == "__main__":
    main()

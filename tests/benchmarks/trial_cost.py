"""The cost of a trial: the sampler, the emulator, and our own code; and the growth of samplers.

    python -m tests.benchmarks.trial_cost --trials 1000
    python -m tests.benchmarks.trial_cost --workers 2
    python -m cProfile -s cumtime -m tests.benchmarks.trial_cost
    python -m tests.benchmarks.trial_cost --grow 1000 3000 10000

Needs the prepared network of `make reproduce`. Runs the study tune-timely of the shipped
configuration (TPE, seven parameters, one run of 140 s per trial) with --trials trials, in this
process and one emulator, after a short search that imports the modules. The sampler's part is the
time in which Optuna is asked and told; all times are CPU time. With --workers: the total time if
workers of a running Ray make the runs, as in a workflow. With --grow: a further trial of only the
samplers after the given numbers of trials, over seven parameters, on a made-up objective.
"""

import argparse
import math
import resource
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import optuna
from optuna.distributions import BaseDistribution, FloatDistribution

from kneepoint.common.tables import write
from kneepoint.config.study import Sampler
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.runs.cluster import open_cluster
from kneepoint.runs.executor import Executor, LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.pipeline import follow
from kneepoint.runs.ray_executor import RayExecutor
from kneepoint.runs.results import runs_table
from kneepoint.runs.runner import Runner
from kneepoint.search.samplers import make_asker
from kneepoint.search.study import search
from tests.benchmarks.searching import BUILD, job_of, planned

CONFIG, STUDY = Path("config/config.yaml"), "tune-timely"
SEED = 1
CONSTANTS = 7
AHEAD = 4
"""The number of trials that are asked before the first is told."""
LAST = 40
"""The number of trials that are timed after many others."""


def run(folder: Path, trials: int, workers: Executor | None = None) -> dict[str, float]:
    """Searches and writes the tables; returns the CPU time of each part (s).

    The emulator's time covers emulators that ended in this process: 0 with workers.
    """
    workflow = load_workflow(CONFIG)
    job, study = job_of(workflow, folder), workflow.studies[STUDY]
    sampler = study.sampler.model_copy(update={"trials": trials})
    plan = planned(job, STUDY, study.model_copy(update={"sampler": sampler}), SEED)
    emulator_s, all_s = _emulator_s(), time.process_time()
    with RunJournal(folder / "runs.jsonl") as journal, sampler_timed() as sampler_s:
        executor = workers or LocalExecutor(plan.engine)
        runner = Runner(journal, lambda _: executor, lambda _: None)
        outcome, _ = follow(search(job.out_dir, plan), runner)
        if workers is None:
            executor.close()
        write(folder / "runs.parquet", runs_table(STUDY, runner.recall(outcome.runs)))
        for name, table in outcome.tables.items():
            write(folder / name, table)
    all_s = time.process_time() - all_s
    asked_s = math.fsum(sampler_s)
    parts = {"sampler": asked_s, "emulator": _emulator_s() - emulator_s}
    return {**parts, "ours": all_s - asked_s}


@contextmanager
def sampler_timed() -> Iterator[list[float]]:
    """Provides a list of the CPU times (s) of Optuna's asks and tells."""
    took_s: list[float] = []

    def timed(does: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **more: Any) -> Any:
            began_s = time.process_time()
            try:
                return does(*arguments, **more)
            finally:
                took_s.append(time.process_time() - began_s)

        return call

    with (
        patch.object(optuna.Study, "ask", timed(optuna.Study.ask)),
        patch.object(optuna.Study, "tell", timed(optuna.Study.tell)),
    ):
        yield took_s


def growth(kind: str, trials: int) -> float:
    """Returns the CPU time (s) of a further trial after `trials` trials, the mean of LAST.

    The earlier trials are random, because only their number matters; CMA-ES, which keeps its state
    in them, makes them itself.
    """
    space: dict[str, BaseDistribution] = {
        f"x{number}": FloatDistribution(0, 1) for number in range(CONSTANTS)
    }
    settings = Sampler.model_validate({"kind": kind, "trials": trials})
    own = make_asker(settings, space, None, SEED).sampler
    study = optuna.create_study(sampler=own)
    if kind != "cmaes":
        study.sampler = optuna.samplers.RandomSampler(seed=SEED)
    _ask_and_tell(study, space, trials)
    study.sampler = own
    began_s = time.process_time()
    _ask_and_tell(study, space, LAST)
    return (time.process_time() - began_s) / LAST


def _ask_and_tell(study: optuna.Study, space: Mapping[str, BaseDistribution], trials: int) -> None:
    for _ in range(0, trials, AHEAD):
        for trial in [study.ask(dict(space)) for _ in range(AHEAD)]:
            study.tell(trial, sum((each - 0.3) ** 2 for each in trial.params.values()))


def _emulator_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Prints the cost of a trial."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--trials", type=int, default=1000, help="%(default)s")
    parser.add_argument("--workers", type=int, help="for the runs; none: this process")
    parser.add_argument("--grow", type=int, nargs="+", help="numbers of trials of samplers alone")
    parser.add_argument("--kinds", nargs="+", default=["tpe", "cmaes"], help="samplers to grow")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    for trials in given.grow or ():
        for kind in given.kinds:
            print(f"{kind} after {trials} trials: {1000 * growth(kind, trials):.1f} ms a trial")
    if given.grow:
        return
    engine = EmulatorSettings.of(BUILD / "emulate")
    with ExitStack() as stack:
        workers = None
        if given.workers:
            workers = RayExecutor(stack.enter_context(open_cluster(given.workers)), engine)
        with tempfile.TemporaryDirectory() as folder:
            run(Path(folder), 20, workers)
        began_s = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            parts = run(Path(folder), given.trials, workers)
        wall_s = time.monotonic() - began_s
        if workers:
            workers.close()
    for name, took_s in parts.items():
        print(f"{name:10}{took_s:8.2f} s{1000 * took_s / given.trials:8.2f} ms a trial")
    print(f"{given.trials} trials: {sum(parts.values()):.1f} s of CPU, {wall_s:.1f} s in all")


if __name__ == "__main__":
    main()

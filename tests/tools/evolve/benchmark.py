"""The best power on the contest's network by number of runs: evolved, random and tuned rules.

    kneepoint evolve --seed 1
    python -m tests.tools.evolve.benchmark results/evolved/contest-*/evolved.json

Random rules have no parents; CMA-ES searches the literals of the best rule, twice. For TIMELY, TPE
searches the parameters of the study `tune-timely`. Every trial has three runs. The greatest of many
values is biased by chance; the last column is the best rule's power with other seeds.
"""

import argparse
import json
import os
from collections.abc import Mapping
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from random import Random
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.pipeline import follow
from kneepoint.runs.runner import Runner
from kneepoint.tools.evolve.breeding import random_rule
from kneepoint.tools.evolve.evolve import EvolutionEffort, evolve
from tests.benchmarks.searching import job_of, planned, powers_of, searched
from tests.conftest import ROOT

CONFIG = ROOT / "config/config.yaml"
AT = (1000, 3000, 6000, 10_000, 20_000, 40_000, 80_000)


def random_rules(trials: int, seed: int) -> dict[str, Any]:
    """Returns the outcome of `evolve` with random rules that are all given."""
    rng = Random(seed)
    controller = load_catalogue(EMULATE).controller("rule", "benchmark")
    engine = EmulatorSettings.of(EMULATE)
    steps = evolve(
        EvolutionEffort(rounds=1, trials=trials, tuned=1, longer=1),
        *(controller, [prepared_network("contest")], engine, seed),
        [random_rule(rng) for _ in range(trials)],
    )
    with TemporaryDirectory() as folder, RunJournal(Path(folder) / "runs.jsonl") as journal:
        executor = LocalExecutor(engine, os.cpu_count() or 1)
        with closing(Runner(journal, lambda _: executor, lambda _: None)) as runner:
            return follow(steps, runner)


def tuned_rule(trials: int, seed: int) -> dict[str, Any]:
    """Returns the outcome of a search of TIMELY's parameters, in the same form."""
    workflow = load_workflow(CONFIG)
    study = workflow.studies["tune-timely"]
    sampler = study.sampler.model_copy(update={"trials": trials})
    wanted = study.model_copy(update={"sampler": sampler, "runs_per_trial": EvolutionEffort().runs})
    plan = planned(job_of(workflow), "tune-timely", wanted, seed)
    found = searched(plan)
    best = max(found, key=lambda trial: trial.value)
    (powers,) = powers_of(plan, best, plan.networks, range(30))
    runs = accumulate(trial.n_runs for trial in found)
    curve = zip(runs, accumulate((trial.value for trial in found), max), strict=True)
    fresh = {"value": fmean(powers)}
    return {"curve": list(curve), "runs": len(found) * wanted.runs_per_trial, "fresh": fresh}


def row(name: str, found: Mapping[str, Any]) -> str:
    """Returns a line of the table."""
    known = [max((v for n, v in found["curve"] if n <= at), default=0) for at in AT]
    cells = [f"{v:.1f}" if at <= found["runs"] else "" for at, v in zip(AT, known, strict=True)]
    return "| " + " | ".join([name, *cells, f"{found['fresh']['value']:.1f}"]) + " |"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("evolved", nargs="*", type=Path, help="files of `kneepoint evolve`")
    parser.add_argument("--trials", type=int, default=2000, help="of the others (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the others (%(default)s)")
    given = parser.parse_args()
    make_what_is_missing(CONFIG, ["contest"], ["rule", "timely"])
    print("|", " | ".join(["best after", *(f"{at:,} runs" for at in AT), "other seeds"]), "|")
    print("| " + "--- | " * (len(AT) + 2))
    for path in given.evolved:
        print(row(path.parent.name, json.loads(path.read_text())))
    for name, search in (("random rules", random_rules), ("TIMELY, TPE", tuned_rule)):
        print(row(name, search(given.trials, given.seed)), flush=True)


if __name__ == "__main__":
    main()

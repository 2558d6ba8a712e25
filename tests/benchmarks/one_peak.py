"""Precision and number of runs of searches for the peak of power over one parameter, with jitter.

    python -m tests.benchmarks.one_peak --seeds 20

Needs the prepared network of `make reproduce`. Fixed windows run on the contest's link, whose host
model differs from seed to seed. The window that a search finds is judged by its mean power over
further seeds, relative to the best window's. TPE has as many trials as the ternary search took.
"""

import argparse
import math
import os
import statistics
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import optuna
from optuna.distributions import IntDistribution

from kneepoint.config.study import Sampler
from kneepoint.engines.base import RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorEngine, EmulatorSettings
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.samplers import make_asker

EMULATE, NETWORK = Path("build/emulate"), Path(".kneepoint/networks/contest/network.json")
WINDOWS = IntDistribution(1, 100)
WITHIN = 0.01

Power = Callable[[int, int], float]
"""The power of a window in a run with a seed."""


@dataclass(frozen=True)
class Found:
    """The outcome of a search: its window and its number of evaluations."""

    window: int
    trials: int


def search(kind: str, power: Power, seed: int, runs: int, trials: int | None = None) -> Found:
    """Searches for the window of greatest mean power, with `runs` runs per trial.

    Args:
        kind: ternary, golden or tpe.
        power: of a run.
        seed: of the search and its runs.
        runs: number of runs per trial.
        trials: number of trials of tpe.
    """
    settings = {"kind": kind, "trials": trials}
    if kind == "tpe":
        settings["startup_trials"] = 5
    asker = make_asker(Sampler.model_validate(settings), {"window": WINDOWS}, None, seed)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=asker.sampler, direction="maximize")
    asked = 0
    while count := min(4, asker.ready(study, asked)):
        for trial in [study.ask({"window": WINDOWS}) for _ in range(count)]:
            seeds = (derive_seed(seed, trial.number, run) for run in range(runs))
            powers = [power(trial.params["window"], each) for each in seeds]
            study.tell(trial, math.fsum(powers) / runs)
        asked += count
    return Found(study.best_params["window"], asked)


def max_evaluations(kind: str, places: int) -> int:
    """Returns the maximum number of evaluations over `places` integers with one peak, without
    noise.

    Ternary search drops a third per two evaluations, and evaluates up to three integers completely.
    Fibonacci search of F(k) - 1 integers takes k - 2 evaluations (Kiefer 1953).
    """
    if kind == "ternary":
        evaluations = 0
        while places > 3:
            places -= (places - 1) // 3 + 1
            evaluations += 2
        return evaluations + places
    evaluations, short, long = 0, 1, 1
    while long < places + 1:
        short, long = long, short + long
        evaluations += 1
    return evaluations


@cache
def _engine() -> tuple[EmulatorSettings, EmulatorEngine]:
    settings = EmulatorSettings.of(EMULATE)
    return settings, settings.open()


def emulated(window: int, seed: int) -> float:
    """The power (Mbit/s/s) of a fixed window on the contest's network."""
    settings, engine = _engine()
    controller = load_catalogue(EMULATE).controller("fixed_window", "here")
    parameters = controller.complete({"window": window}, "here")
    network = PreparedNetwork.load(NETWORK)
    return engine.run(RunSpec.on(settings, controller, parameters, network, seed)).power or 0.0


def _true_power(task: tuple[int, int]) -> float:
    window, seeds = task
    return math.fsum(emulated(window, derive_seed("truth", seed)) for seed in range(seeds)) / seeds


def _searches(task: tuple[int, int]) -> dict[str, Found]:
    """Returns the searches from a seed, with a number of runs per trial."""
    seed, runs = task
    found = {kind: search(kind, emulated, seed, runs) for kind in ("ternary", "golden")}
    trials = found["ternary"].trials
    return {**found, "tpe": search("tpe", emulated, seed, runs, trials)}


def lines(found: Sequence[dict[str, Found]], powers: dict[int, float]) -> Iterator[str]:
    """Yields a line for each kind of search."""
    best = max(powers.values())
    for kind in found[0]:
        losses = [1 - powers[each[kind].window] / best for each in found]
        trials = [each[kind].trials for each in found]
        theory = "" if kind == "tpe" else f"{max_evaluations(kind, len(powers))}"
        yield (
            f"{kind:10}{sum(loss <= WITHIN for loss in losses):4} of {len(losses)}"
            f"{100 * statistics.median(losses):8.2f} %{100 * max(losses):8.2f} %"
            f"{statistics.median(trials):8g}{max(trials):6}{theory:>8}"
        )


def main() -> None:
    """Prints how often each search ends within 1 % of the best power, and its evaluations."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="searches of each (%(default)s)")
    parser.add_argument("--runs", type=int, nargs="+", default=[1, 3, 10], help="of a trial")
    parser.add_argument("--truth", type=int, default=30, help="runs of each window (%(default)s)")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args()
    windows = range(WINDOWS.low, WINDOWS.high + 1)
    with ProcessPoolExecutor(given.processes) as pool:
        true = pool.map(_true_power, [(window, given.truth) for window in windows])
        powers = dict(zip(windows, true, strict=True))
        near = [window for window, power in powers.items() if power >= 0.99 * max(powers.values())]
        print(f"best window {max(powers, key=powers.__getitem__)}; within 1 %: {near}")
        for runs in given.runs:
            found = list(pool.map(_searches, [(seed, runs) for seed in range(given.seeds)]))
            print(f"{runs} runs a trial: within 1 %; loss, median, worst; trials, and in theory")
            print(*lines(found, powers), sep="\n", flush=True)


if __name__ == "__main__":
    main()

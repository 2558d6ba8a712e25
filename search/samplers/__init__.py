"""Samplers: our own and Optuna's, with the number of trials that can be asked.

No other module imports Optuna's samplers.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import optuna
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.study import Study

from kneepoint.config.study import Sampler
from kneepoint.search.samplers.golden import GoldenSectionSampler
from kneepoint.search.samplers.ternary import TernarySampler


@dataclass(frozen=True)
class Asker:
    """A sampler, and how to ask it.

    `ready` takes the study and the number of trials asked so far and returns how many more can be
    asked now; 0 while no trial is running means that the search is over. `learns` says whether the
    sampler uses results.
    """

    sampler: BaseSampler
    ready: Callable[[Study, int], int]
    learns: bool


def make_asker(
    settings: Sampler,
    space: Mapping[str, BaseDistribution],
    points: Sequence[Mapping[str, float]] | None,
    seed: int,
) -> Asker:
    """Makes a sampler.

    Args:
        settings: the study's key sampler.
        space: the searched parameters.
        points: all trials, if known in advance; they are enqueued, not sampled.
        seed: of the sampler's random stream.
    """
    if points is not None:
        return _counted(optuna.samplers.RandomSampler(), len(points), learns=False)
    if settings.kind in ("ternary", "golden"):
        kind = TernarySampler if settings.kind == "ternary" else GoldenSectionSampler
        bracket = kind(space)
        return Asker(bracket, lambda study, _: len(bracket.open_values(study)), learns=True)
    assert settings.trials is not None
    learns = settings.kind in ("tpe", "cmaes") or settings.is_genetic
    return _counted(_optuna_sampler(settings, seed % 2**32), settings.trials, learns=learns)


def _counted(sampler: BaseSampler, trials: int, *, learns: bool) -> Asker:
    return Asker(sampler, lambda _, asked: trials - asked, learns)


def _optuna_sampler(settings: Sampler, seed: int) -> BaseSampler:
    startup, population = settings.startup_trials or 10, settings.population or 50
    samplers = optuna.samplers
    match settings.kind:
        case "random":
            return samplers.RandomSampler(seed=seed)
        case "qmc":
            with warnings.catch_warnings():
                # Its interface may change, but its version is locked.
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                return samplers.QMCSampler(seed=seed, warn_independent_sampling=False)
        case "nsga2":
            return samplers.NSGAIISampler(seed=seed, population_size=population)
        case "nsga3":
            return samplers.NSGAIIISampler(seed=seed, population_size=population)
        case "cmaes":
            return samplers.CmaEsSampler(seed=seed, n_startup_trials=startup)
        case _:
            return samplers.TPESampler(seed=seed, n_startup_trials=startup)

"""The contract of every sampler; searches of one parameter find its peak."""

import math
import random
from collections.abc import Callable, Sequence
from typing import Literal

import optuna
import pytest
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.study import Study
from optuna.trial import TrialState

from kneepoint.config.study import Sampler
from kneepoint.search.samplers import Asker, make_asker
from kneepoint.search.samplers.bracket import BracketSampler
from kneepoint.search.samplers.golden import GoldenSectionSampler
from kneepoint.search.samplers.ternary import TernarySampler

BRACKETS = pytest.mark.parametrize("kind", [TernarySampler, GoldenSectionSampler])
LEARNING = {
    "tpe": Sampler(kind="tpe", trials=30, startup_trials=10),
    "cmaes": Sampler(kind="cmaes", trials=30, startup_trials=10),
}
ONE_PARAMETER = {"ternary": Sampler(kind="ternary"), "golden": Sampler(kind="golden")}
DRAWING = {"random": Sampler(kind="random", trials=30), "qmc": Sampler(kind="qmc", trials=30)}
ALL = LEARNING | ONE_PARAMETER | DRAWING

optuna.logging.set_verbosity(optuna.logging.WARNING)


def search(
    asker: Asker,
    space: dict[str, BaseDistribution],
    score: Callable[[dict[str, float]], float | None],
    ahead: int = 1,
    direction: Literal["maximize", "minimize"] = "maximize",
) -> Study:
    """Asks and tells to the end; a score of None FAILs the trial."""
    study = optuna.create_study(sampler=asker.sampler, direction=direction)
    while count := min(ahead, asker.ready(study, len(study.trials))):
        asked = [study.ask(space) for _ in range(count)]
        for trial in asked:
            value = score(trial.params)
            study.tell(trial, value, state=TrialState.FAIL if value is None else None)
    return study


def bracket(sampler: BracketSampler) -> Asker:
    return Asker(sampler, lambda study, _: len(sampler.open_values(study)), learns=True)


def peak_at(
    peak: float, sign: int = 1, scale: Callable[[float], float] = float
) -> Callable[[dict[str, float]], float]:
    return lambda params: -sign * abs(scale(params["x"]) - scale(peak))


def heights_of(heights: Sequence[float]) -> Callable[[dict[str, float]], float]:
    return lambda params: heights[int(params["x"])]


def values_of(study: Study) -> list[float]:
    return [trial.params["x"] for trial in study.trials]


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("ahead", [1, 2, 4])
@pytest.mark.parametrize(
    "distribution",
    [IntDistribution(1, 100), FloatDistribution(0.5, 9), FloatDistribution(0.1, 100, log=True)],
    ids=["integer", "real", "log"],
)
def test_every_sampler_stays_in_range_and_repeats_itself(
    name: str, ahead: int, distribution: IntDistribution | FloatDistribution
) -> None:
    def run() -> list[float]:
        space: dict[str, BaseDistribution] = {"x": distribution}
        asker = make_asker(ALL[name], space, None, seed=5)
        study = search(asker, space, lambda p: -((p["x"] - 7) ** 2), ahead)
        assert asker.ready(study, len(study.trials)) == 0
        return values_of(study)

    values = run()
    assert values
    assert all(distribution.low <= value <= distribution.high for value in values)
    assert run() == values


@pytest.mark.parametrize("name", ALL)
def test_every_sampler_survives_failed_trials(name: str) -> None:
    space: dict[str, BaseDistribution] = {"x": IntDistribution(1, 100)}
    asker = make_asker(ALL[name], space, None, seed=5)
    study = search(asker, space, lambda p: None if p["x"] > 50 else p["x"], ahead=4)
    assert {trial.state for trial in study.trials} == {TrialState.COMPLETE, TrialState.FAIL}


@BRACKETS
@pytest.mark.parametrize("ahead", [1, 2, 5])
@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 34])
def test_bracket_finds_every_peak_of_whole_numbers(
    kind: type[BracketSampler], size: int, ahead: int
) -> None:
    space: dict[str, BaseDistribution] = {"x": IntDistribution(3, 2 + size)}
    for peak in range(3, 3 + size):
        study = search(bracket(kind(space)), space, peak_at(peak), ahead)
        assert study.best_params["x"] == peak
        values = values_of(study)
        assert len(set(values)) == len(values)


@BRACKETS
def test_bracket_finds_the_peak_of_any_unimodal_function(kind: type[BracketSampler]) -> None:
    for seed in range(100):
        generator = random.Random(seed)
        size = generator.randint(2, 300)
        rise = sorted(generator.sample(range(10_000), size))
        cut = generator.randrange(size)
        heights = [rise[i] if i <= cut else rise[cut] - (i - cut) - 0.5 for i in range(size)]
        space: dict[str, BaseDistribution] = {"x": IntDistribution(0, size - 1)}
        study = search(bracket(kind(space)), space, heights_of(heights))
        assert study.best_params["x"] == cut, f"seed {seed}"


@BRACKETS
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_bracket_closes_on_the_peak_of_a_real_parameter(
    kind: type[BracketSampler], direction: Literal["maximize", "minimize"]
) -> None:
    sign = 1 if direction == "maximize" else -1
    for low, high, log in ((0.0, 9.0, False), (0.01, 1000.0, True)):
        space: dict[str, BaseDistribution] = {"x": FloatDistribution(low, high, log=log)}
        scale: Callable[[float], float] = math.log if log else float
        study = search(
            bracket(kind(space, tolerance=1e-4)),
            space,
            peak_at(3.7, sign, scale),
            direction=direction,
        )
        part = abs(scale(study.best_params["x"]) - scale(3.7))
        assert part <= 1e-4 * (scale(high) - scale(low) if log else high)


@BRACKETS
def test_bracket_asks_both_interior_values_at_once(kind: type[BracketSampler]) -> None:
    space: dict[str, BaseDistribution] = {"x": IntDistribution(1, 100)}
    sampler = kind(space)
    study = optuna.create_study(sampler=sampler)
    assert len(sampler.open_values(study)) == 2
    asked = [study.ask(space) for _ in range(2)]
    assert len({trial.params["x"] for trial in asked}) == 2
    assert sampler.open_values(study) == []
    with pytest.raises(ValueError, match=r"x: .*waits for running trials"):
        study.ask(space)


@BRACKETS
@pytest.mark.parametrize(
    "space",
    [
        {"x": IntDistribution(1, 9), "y": IntDistribution(1, 9)},
        {"x": IntDistribution(1, 1)},
        {"x": CategoricalDistribution([1, 2])},
        {"x": IntDistribution(1, 9, step=2)},
    ],
    ids=["two", "none", "categories", "steps"],
)
def test_bracket_refuses_a_space_that_it_cannot_search(
    kind: type[BracketSampler], space: dict[str, BaseDistribution]
) -> None:
    with pytest.raises(ValueError, match="must"):
        kind(space)

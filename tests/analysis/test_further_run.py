"""Intervals of one further run: they contain runs that were left out."""

import math

import numpy as np
import pytest

from kneepoint.analysis.further_run import LEVEL, Selection, figures
from kneepoint.analysis.metrics import POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT


def drawn(draws: int, n: int) -> dict[str, np.ndarray]:
    """Runs that vary by 2 % of throughput and 5 % of delay, in whole milliseconds."""
    random = np.random.default_rng(1)
    throughput = 4 * (1 + 0.02 * random.standard_normal((draws, n)))
    delay = np.round(150 * (1 + 0.05 * random.standard_normal((draws, n))))
    power = 1e3 * throughput / delay
    return {THROUGHPUT: throughput, QUEUEING_DELAY: delay, SIGNAL_DELAY: delay, POWER: power}


def held(found: dict[str, np.ndarray], metric: str, values: np.ndarray) -> float:
    """Returns the share of draws in which the interval contains the value."""
    is_held = (found[f"low_{metric}"] <= values) & (values <= found[f"high_{metric}"])
    return float(is_held.mean())


def test_one_run_predicts_nothing_and_none_says_nothing() -> None:
    one, none = figures(drawn(1, 1)), figures(drawn(1, 0))
    assert not math.isnan(one["ours_power"][0])
    assert all(math.isnan(one[f"{name}_power"][0]) for name in ("deviation", "low", "high"))
    assert all(math.isnan(each[0]) for each in none.values())


@pytest.mark.parametrize("n", [3, 10, 30])
def test_an_interval_holds_one_more_run_as_often_as_it_says(n: int) -> None:
    runs = drawn(4000, n + 1)
    found = figures({metric: values[:, 1:] for metric, values in runs.items()})
    for metric, values in runs.items():
        assert held(found, metric, values[:, 0]) == pytest.approx(LEVEL, abs=0.006), metric


@pytest.mark.parametrize(("delay", "ends"), [(73.0, [72.5, 73.5]), (0.0, [0.0, 0.5])])
def test_runs_that_tie_in_whole_milliseconds_leave_half_a_millisecond(
    delay: float, ends: list[float]
) -> None:
    found = figures({**drawn(1, 6), SIGNAL_DELAY: np.full((1, 6), delay)})
    assert [found[f"{end}_{SIGNAL_DELAY}"][0] for end in ("low", "high")] == pytest.approx(ends)


@pytest.mark.parametrize("extreme", ["best", "worst"])
def test_a_selected_run_is_compared_with_a_selected_run(extreme: str) -> None:
    of, runs = 5, drawn(4000, 35)
    tried = runs[POWER][:, :of]
    place = tried.argmax(axis=1) if extreme == "best" else tried.argmin(axis=1)
    ours = {metric: values[:, of:] for metric, values in runs.items()}
    single, found = figures(ours), figures(ours, Selection(extreme, of, of))  # type: ignore[arg-type]
    for metric, every in runs.items():
        values = every[np.arange(4000), place]
        bias, plain = (abs((f[f"ours_{metric}"] / values).mean() - 1) for f in (found, single))
        assert bias < plain / 4, metric
        assert held(found, metric, values) >= LEVEL - 0.005, metric
    narrow, wide = (each["high_power"] - each["low_power"] for each in (found, single))
    assert (narrow < wide).mean() > 0.9

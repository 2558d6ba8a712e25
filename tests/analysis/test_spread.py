import math

import numpy as np
import pytest

from analysis.metrics import POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from analysis.spread import LEVEL, Selection, figures


def drawn(draws: int, n: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Runs that vary by 2 % of throughput and 5 % of delay, in whole milliseconds."""
    random = np.random.default_rng(seed)
    throughput = 4 * (1 + 0.02 * random.standard_normal((draws, n)))
    delay = np.round(150 * (1 + 0.05 * random.standard_normal((draws, n))))
    power = 1e3 * throughput / delay
    return {THROUGHPUT: throughput, QUEUEING_DELAY: delay, SIGNAL_DELAY: delay, POWER: power}


def test_one_run_predicts_nothing_and_none_says_nothing() -> None:
    one, none = figures(drawn(1, 1)), figures(drawn(1, 0))
    assert not math.isnan(one["ours_power"][0])
    for name in ("deviation", "low", "high"):
        assert math.isnan(one[f"{name}_power"][0])
    assert all(math.isnan(each[0]) for each in none.values())


@pytest.mark.parametrize("n", [3, 10, 30])
def test_an_interval_holds_one_more_run_as_often_as_it_says(n: int) -> None:
    runs = drawn(4000, n + 1)
    found = figures({metric: values[:, 1:] for metric, values in runs.items()})
    for metric, values in runs.items():
        held = (found[f"low_{metric}"] <= values[:, 0]) & (values[:, 0] <= found[f"high_{metric}"])
        assert held.mean() == pytest.approx(LEVEL, abs=0.006), metric


def test_runs_that_tie_in_whole_milliseconds_leave_half_a_millisecond() -> None:
    runs = {**drawn(1, 6), SIGNAL_DELAY: np.full((1, 6), 73.0)}
    found = figures(runs)
    assert (found["low_signal_delay_p95_ms"][0], found["high_signal_delay_p95_ms"][0]) == (
        pytest.approx(72.5),
        pytest.approx(73.5),
    )
    assert figures({**runs, SIGNAL_DELAY: np.zeros((1, 6))})["low_signal_delay_p95_ms"][0] == 0


@pytest.mark.parametrize("extreme", ["best", "worst"])
def test_a_selected_run_is_compared_with_a_selected_run(extreme: str) -> None:
    of = 5
    runs = drawn(4000, 30 + of)
    tried = runs[POWER][:, :of]
    place = tried.argmax(axis=1) if extreme == "best" else tried.argmin(axis=1)
    chosen = {metric: values[np.arange(4000), place] for metric, values in runs.items()}
    ours = {metric: values[:, of:] for metric, values in runs.items()}
    found = figures(ours, Selection(extreme, of, of))  # type: ignore[arg-type]
    for metric, values in chosen.items():
        bias = (found[f"ours_{metric}"] / values).mean() - 1
        plain = (figures(ours)[f"ours_{metric}"] / values).mean() - 1
        assert abs(bias) < abs(plain) / 4, metric
        held = (found[f"low_{metric}"] <= values) & (values <= found[f"high_{metric}"])
        assert held.mean() >= LEVEL - 0.005, metric
    single = figures(ours)
    narrow = found["high_power"] - found["low_power"]
    assert (narrow < single["high_power"] - single["low_power"]).mean() > 0.9

"""Statistics of settings on held-out networks, worked by hand."""

import dataclasses
import math
from collections.abc import Mapping, Sequence

import pandas as pd
import pytest

from analysis import held_out
from analysis.sweeps import Luck
from tests.analysis import synthetic

NETWORKS = pd.DataFrame(
    {
        "network": ["here", "slow", "fast"],
        "is_training": [True, False, False],
        "power": [100.0, 10.0, 1000.0],
    }
)
POWERS = {  # of trial 0 published and 1 tuned; two runs each
    0: {"here": (19.0, 21.0), "slow": (1.0, 1.0), "fast": (300.0, 500.0)},
    1: {"here": (30.0, 30.0), "slow": (0.4, 0.4), "fast": (500.0, 300.0)},
}


def runs_of(powers: Mapping[int, Mapping[str, Sequence[float]]]) -> pd.DataFrame:
    return pd.DataFrame(
        {"trial": trial, "network": network, "run": run, "power": power, "status": "ok"}
        for trial, of_network in powers.items()
        for network, of_run in of_network.items()
        for run, power in enumerate(of_run)
    )


def settings_of(*rows: tuple[str, str, bool, str]) -> pd.DataFrame:
    """Settings by controller, origin, best, constants."""
    table = pd.DataFrame(rows, columns=["controller", "origin", "best", "constants"])
    return table.assign(trial=range(len(rows)), study="s", table="t", row=3, study_power=33.0)


PAIR = settings_of(("aimd", "published", True, "{}"), ("aimd", "tuned", True, '{"alpha":2}'))
RELATIVE = held_out.relative_power(runs_of(POWERS), NETWORKS)


def test_relative_power_is_the_mean_over_the_bound() -> None:
    assert RELATIVE["relative"].tolist() == pytest.approx([0.2, 0.1, 0.4, 0.3, 0.04, 0.4])
    assert RELATIVE["runs"].tolist() == [2] * 6


def test_scores_are_geometric_means_over_the_held_out_networks() -> None:
    scored = held_out.scores(RELATIVE, NETWORKS)
    assert scored["training"].tolist() == pytest.approx([0.2, 0.3])
    assert scored["held_out"].tolist() == pytest.approx([math.sqrt(0.04), math.sqrt(0.016)])


@pytest.mark.parametrize(
    ("one", "other", "correlation"),
    [
        ([1, 2, 3], [10, 20, 90], 1),
        ([1, 2, 3], [3, 2, 1], -1),
        ([1, 2, 3, 4], [1, 3, 2, 4], 0.8),  # 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15)
        ([1, 2], [1, 2], math.nan),
        ([1, 1, 1], [1, 2, 3], math.nan),
    ],
)
def test_rank_correlation(one: list[float], other: list[float], correlation: float) -> None:
    found = held_out.rank_correlation(pd.Series(one), pd.Series(other))
    assert found == pytest.approx(correlation, nan_ok=True)


def test_distinct_settings_keep_the_best_of_equals_and_say_where_it_comes_from() -> None:
    table = held_out.distinct_settings(
        settings_of(
            ("window", "published", False, "12"),
            ("window", "published", True, "12"),
            ("window", "published", False, "20"),
            ("window", "tuned", True, "12"),
            ("aimd", "published", True, "12"),
            ("aimd", "tuned", True, "13"),
        )
    )
    assert table["trial"].tolist() == [1, 2, 4, 5]
    assert table["origin"].tolist() == ["both", "published", "published", "tuned"]


def test_gains_set_the_tuned_beside_the_best_published() -> None:
    (gain,) = held_out.gains(PAIR, RELATIVE, runs_of(POWERS), NETWORKS).to_dict("records")
    assert (gain["controller"], gain["published_trial"], gain["tuned_trial"]) == ("aimd", 0, 1)
    assert gain["training_gain"] == pytest.approx(0.5)
    assert gain["held_out_gain"] == pytest.approx(math.sqrt(0.016 / 0.04) - 1)
    assert (gain["better"], gain["worse"]) == (0, 1)  # equal on the fast one
    assert (gain["published_power"], gain["tuned_power"]) == (20, 30)
    # t with one degree of freedom: 12.706 * sqrt(2) / sqrt(2)
    assert gain["published_half_width"] == pytest.approx(12.7062, rel=1e-4)
    assert gain["tuned_half_width"] == 0
    # Pooled cv: sqrt((0.0707^2 + 0) / 2) = 0.05; t of 2 degrees 4.3027, times sqrt(1/2 + 1/2),
    # times the ratio of 1.5.
    assert gain["margin"] == pytest.approx(1.5 * 4.3027 * 0.05, rel=1e-4)
    assert gain["tuned_constants"] == '{"alpha":2}'


@pytest.mark.parametrize("origin", [0, 1], ids=["published", "tuned"])
def test_gains_over_a_setting_that_fails_everywhere_are_unknown_or_total(origin: int) -> None:
    runs = runs_of(POWERS)
    failed = runs["trial"] == origin
    runs.loc[failed, ["status", "power"]] = "failed", math.nan
    relative = held_out.relative_power(runs, NETWORKS)
    (gain,) = held_out.gains(PAIR, relative, runs, NETWORKS).to_dict("records")
    assert gain[f"{('published', 'tuned')[origin]}_power"] == 0
    if origin == 0:
        assert math.isnan(gain["training_gain"])
        assert math.isnan(gain["held_out_gain"])
    else:
        assert gain["training_gain"] == gain["held_out_gain"] == -1


# The stage ------------------------------------------------------------------------------------


def test_the_stage_orders_by_power_on_the_training_network() -> None:
    found = synthetic.analysed(synthetic.results(), "held_out")
    standings = held_out.standings(found)
    assert standings["label"].tolist() == [
        "Delay threshold, tuned",
        "Delay threshold, published",
        "AIMD RTT, tuned",
        "Fixed window, both",
    ]
    power = found["held_out_power"]
    first = power[power["trial"] == standings["trial"][0]]
    assert first["network"].tolist() == ["contest", "slow", "fast"]
    assert first["relative"].tolist() == pytest.approx([27 / 157.5, 0.12, 0.072], rel=1e-4)
    assert first["power"].tolist() == pytest.approx(
        (first["relative"] * found["held_out_networks"]["power"].to_numpy()).tolist()
    )
    assert first["power"].iloc[0] == pytest.approx(27, rel=1e-4)
    assert first["runs"].tolist() == [3, 3, 3] and (first["standard_deviation"] > 0).all()
    summary = held_out.summary(found).iloc[0]
    assert summary["training_title"] == "Verizon LTE, short"
    assert summary["settings"] == 5 and standings["repeats"].tolist() == [3] * 4
    assert summary["better"] + summary["worse"] <= summary["compared"] == 2
    nearest = found["held_out_networks"].set_index("network")["nearest_label"]
    assert nearest["contest"] == "Delay threshold, tuned"


def test_runs_of_settings_tell_how_much_chance_does_where_nothing_else_is_repeated() -> None:
    results = synthetic.results()
    studies, held = results.studies, results.hold_out
    # Trials 1 and 2 are the same runs: three of them, as of each of the others.
    found = Luck(studies, (), held).of("fixed_window", "contest")
    assert (found.degrees, round(found.cv, 5)) == (2, 0.004)
    found = Luck(studies, results.repeats, held).of("delay_threshold", "contest")
    assert (found.degrees, round(found.cv, 5)) == (4, 0.004)


def test_labels_name_the_study_where_several_tuned_a_controller() -> None:
    held = synthetic.hold_out()
    settings = held.settings.copy()
    settings["controller"] = settings["controller"].replace("aimd_rtt", "delay_threshold")
    renamed = dataclasses.replace(held, settings=settings)
    found = held_out.standings(held_out.compute(synthetic.results(hold_out=renamed), {}))
    assert found["label"].tolist()[::2] == [
        "Delay threshold, tuned by delay_tpe",
        "Delay threshold, tuned by aimd_grid",
    ]


def test_networks_that_a_grid_or_a_fit_searched_have_been_seen() -> None:
    studies = (
        synthetic.windows_study("grid", networks=("slow",), title="A grid"),
        synthetic.windows_study("replay", networks=("fast",), table="001-fixed-window"),
    )
    found = synthetic.analysed(synthetic.results(studies=studies), "held_out")
    seen = found["held_out_networks"].set_index("network")["searched_by"]
    assert [list(by) for by in seen] == [[], ["A grid"], []]
    assert held_out.summary(found)["unseen"].tolist() == [1]

"""Settings on held-out networks: statistics worked by hand, planes, and the whole stage."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
import pytest

from kneepoint.analysis.frames import Record, records, select
from kneepoint.analysis.luck import Luck
from kneepoint.common.study_record import BestTrial
from kneepoint.questions.held_out import tables as held_out
from kneepoint.questions.held_out.tables import planes
from tests.analysis import synthetic

NETWORKS = pd.DataFrame(
    {
        "network": ["here", "slow", "fast"],
        "is_training": [True, False, False],
        "power": [100.0, 10.0, 1000.0],
    }
)
POWERS = {  # of trial 0, published, and trial 1, tuned; two runs each
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
    """Settings by controller, origin, best, parameters."""
    table = pd.DataFrame(rows, columns=["controller", "origin", "best", "parameters"])
    return table.assign(trial=range(len(rows)), study="s", table="t", row=3, study_power=33.0)


PAIR = settings_of(("aimd", "published", True, "{}"), ("aimd", "tuned", True, '{"alpha":2}'))
RELATIVE = held_out.relative_power(runs_of(POWERS), NETWORKS)


def test_scores_are_geometric_means_of_power_over_the_bound() -> None:
    assert RELATIVE["relative"].tolist() == pytest.approx([0.2, 0.1, 0.4, 0.3, 0.04, 0.4])
    assert RELATIVE["runs"].tolist() == [2] * 6
    scored = held_out.scores(RELATIVE, NETWORKS)
    assert scored["training"].tolist() == pytest.approx([0.2, 0.3])
    assert scored["held_out"].tolist() == pytest.approx([math.sqrt(0.04), math.sqrt(0.016)])


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
    (gain,) = records(held_out.gains(PAIR, RELATIVE, NETWORKS))
    assert (gain["controller"], gain["published_trial"], gain["tuned_trial"]) == ("aimd", 0, 1)
    assert gain["training_gain"] == pytest.approx(0.5)
    assert gain["held_out_gain"] == pytest.approx(math.sqrt(0.016 / 0.04) - 1)
    assert (gain["better"], gain["worse"]) == (0, 1)  # equal on the fast network
    assert (gain["published_power"], gain["tuned_power"]) == (20, 30)
    # t with one degree of freedom: 12.706 * sqrt(2) / sqrt(2)
    assert gain["published_half_width"] == pytest.approx(12.7062, rel=1e-4)
    assert gain["tuned_half_width"] == 0
    # Pooled cv: sqrt((0.0707^2 + 0) / 2) = 0.05; t of 2 degrees 4.3027, times sqrt(1/2 + 1/2),
    # times the ratio of 1.5.
    assert gain["margin"] == pytest.approx(1.5 * 4.3027 * 0.05, rel=1e-4)
    assert gain["tuned_parameters"] == '{"alpha":2}'


def test_a_gain_is_made_of_the_powers_beside_it_and_the_search_states_one_of_them() -> None:
    fresh = {"power": 33.0, "low": 32.0, "high": 34.0, "runs": 30}
    best = BestTrial(7, 33.0, {}, {}, networks={"here": fresh, "slow": {**fresh, "power": 9.0}})
    made = synthetic.windows_study("s")
    studies = [replace(made, record=replace(made.record, best=best))]
    relative = held_out.with_fresh(RELATIVE, PAIR, NETWORKS, studies)
    (gain,) = records(held_out.gains(PAIR, relative, NETWORKS))
    assert (gain["published_power"], gain["tuned_power"]) == (20, 33)
    assert gain["training_gain"] == gain["tuned_power"] / gain["published_power"] - 1
    assert gain["tuned_half_width"] == pytest.approx(1)
    assert gain["held_out_gain"] == pytest.approx(math.sqrt(0.016 / 0.04) - 1)  # from pairs of runs
    stated = select(relative, trial=1, network="here")
    assert stated["relative"].tolist() == [0.33] and stated["runs"].tolist() == [30]
    same = PAIR.assign(parameters="{}")  # published, and also found by a search
    relative = held_out.with_fresh(RELATIVE, same, NETWORKS, studies)
    (gain,) = records(held_out.gains(same, relative, NETWORKS))
    assert (gain["published_power"], gain["training_gain"]) == (33, 0)


@pytest.mark.parametrize(("trial", "gained"), [(0, math.nan), (1, -1)])
def test_gains_over_a_setting_that_fails_everywhere_are_unknown_or_total(
    trial: int, gained: float
) -> None:
    runs = runs_of(POWERS)
    runs.loc[runs["trial"] == trial, ["status", "power"]] = "failed", math.nan
    relative = held_out.relative_power(runs, NETWORKS)
    (gain,) = records(held_out.gains(PAIR, relative, NETWORKS))
    assert gain[f"{('published', 'tuned')[trial]}_power"] == 0
    gains = (gain["training_gain"], gain["held_out_gain"])
    assert gains == pytest.approx((gained, gained), nan_ok=True)


# Planes ---------------------------------------------------------------------------------------


def test_planes_have_means_covariances_and_a_knee() -> None:
    points = {7: [(2.0, 100.0), (3.0, 120.0)], 8: [(1.0, 20.0)], 9: [(1.0, 30.0)]}
    runs = [
        synthetic.run_row("c", {}, *point, trial=trial)
        for trial, every in points.items()
        for point in every
    ]
    failed = {**synthetic.failed_row("c", {}, "no"), "trial": 7}
    found = planes(pd.DataFrame([*runs, failed]), [7, 8, 9]).set_index("trial")
    assert found["succeeded"].tolist() == [2, 1, 1]
    means = ["throughput_mbps", "signal_delay_p95_ms"]
    variances = ["throughput_variance", "covariance", "delay_variance"]
    assert found[[*means, *variances]].to_numpy()[0].tolist() == [2.5, 110, 0.5, 10, 200]
    assert found[variances].isna().all(axis=1).tolist() == [False, True, True]
    assert found["on_front"].tolist() == [True, True, False]
    assert found["knee"].tolist() == [False, True, False]
    none = planes(pd.DataFrame([failed]), [7])
    assert none.empty and {*found.columns, "trial"} == {*none.columns}


# The stage ------------------------------------------------------------------------------------


def test_the_stage_orders_by_power_on_the_training_network() -> None:
    results = synthetic.results()
    found = synthetic.analysed(results, "held_out")
    standings = held_out.standings(found)
    assert standings["label"].tolist() == [
        "Delay threshold, tuned",
        "Delay threshold, published",
        "AIMD RTT, tuned",
        "Fixed window, both",
    ]
    first = select(found["held_out_power"], trial=standings["trial"][0])
    networks = found["held_out_networks"]
    assert first["network"].tolist() == networks["network"].tolist() == ["contest", "slow", "fast"]
    (search,) = [each for each in results.studies if each.name == "delay_tpe"]
    assert search.record.best is not None
    stated = search.record.best.networks["contest"]
    assert first["relative"].tolist() == pytest.approx(
        [stated["power"] / 157.5, 0.12, 0.072], rel=1e-4
    )
    assert first["power"].tolist() == pytest.approx(
        (first["relative"] * networks["power"]).tolist()
    )
    assert (
        first["runs"].tolist() == [stated["runs"], 3, 3] and (first["standard_deviation"] > 0).all()
    )
    (summary,) = records(held_out.summary(found))
    assert summary["training_title"] == "Verizon LTE, short"
    assert summary["settings"] == 5 and standings["repeats"].tolist() == [3] * 4
    counts = ("compared", "better", "surely_better", "surely_worse", "worse")
    assert [summary[name] for name in counts] == [2, 0, 0, 0, 1]
    assert networks["nearest_label"][0] == "Delay threshold, tuned"


def test_runs_of_settings_tell_how_much_chance_does_where_nothing_else_is_repeated() -> None:
    results = synthetic.results()
    studies, held = results.studies, results.table("hold_out")
    # Trials 1 and 2 share their three runs; every other trial has three runs, too.
    found = Luck(studies, (), held).of("fixed_window", "contest")
    assert (found.degrees, round(found.cv, 5)) == (2, 0.004)
    found = Luck(studies, results.repeats, held).of("delay_threshold", "contest")
    assert (found.degrees, round(found.cv, 5)) == (4, 0.004)


def test_labels_name_the_study_where_several_tuned_a_controller() -> None:
    held = synthetic.hold_out()
    renamed = held.settings.replace({"controller": {"aimd_rtt": "delay_threshold"}})
    results = synthetic.results(hold_out=replace(held, settings=renamed))
    found = held_out.standings(held_out.compute(results, {}))
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
    assert [list(by) for by in found["held_out_networks"]["searched_by"]] == [[], ["A grid"], []]
    assert held_out.summary(found)["unseen"].tolist() == [1]


def test_the_price_of_generality_is_of_pairs_of_the_same_seed() -> None:
    assert synthetic.analysed(synthetic.results())["generality"].empty  # tuned on one network
    powers = {"contest": (20.0, 16.0), "slow": (2.0, 3.0), "fast": (100.0, 150.0)}
    runs = [
        synthetic.run_row(
            *("timely", {"beta": trial}, 3.0, 3000 / (of[trial] * (1 + 0.01 * run))),
            **{"trial": trial, "run": run, "network": network, "study": "hold_out"},
        )
        for trial in (0, 1)
        for network, of in powers.items()
        for run in range(3)
    ]
    held = synthetic.hold_out()
    tuned: Record = {"trial": (0, 1), "controller": "timely", "origin": "tuned", "best": True}
    tuned |= {"study": ["alone", "together"], "parameters": [r["parameters"] for r in runs[::9]]}
    settings = held.settings[3:5].assign(**tuned)
    studies = [
        synthetic.study(name, runs[:1], networks=networks)
        for name, networks in (("alone", ("contest",)), ("together", ("contest", "rural")))
    ]
    held = replace(held, settings=settings, runs=pd.DataFrame(runs))
    found = synthetic.MadeUp(studies=studies, hold_out=held)
    (line,) = records(held_out.compute(found, {})["generality"])
    assert (line["specialist"], line["generalist"]) == ("alone", "together")
    assert line["network_titles"] == ["Verizon LTE, short", "rural"]
    assert line["training_change"] == pytest.approx(16 / 20 - 1)
    assert line["held_out_change"] == pytest.approx(math.sqrt(1.5 * 1.5) - 1)
    assert math.isnan(line["held_out_low"])  # two networks

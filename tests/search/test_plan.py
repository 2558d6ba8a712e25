"""Plans: the runs of a trial, and the searched parameters."""

from dataclasses import replace

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

from kneepoint.runs.seeds import derive_seed
from kneepoint.search.plan import Opponent
from tests.experiments.fakes import network, plan, table
from tests.experiments.listing import CATALOGUE

WINDOWS = table("printed", [{"window": 3, "power": 1}, {"power": 2}, {"window": 9, "power": 3}])


def test_grid_varies_the_first_parameter_slowest() -> None:
    planned = plan(
        space={"window": {"values": [5, 1]}, "keepalive_ms": {"values": [80, 1000]}},
    )
    points = [(p["parameter_window"], p["parameter_keepalive_ms"]) for p in planned.points or ()]
    assert points == [(5, 80), (5, 1000), (1, 80), (1, 1000)]
    assert planned.space["parameter_window"] == IntDistribution(1, 5)


def test_table_makes_a_trial_of_each_row_that_has_its_parameters() -> None:
    planned = plan({"printed": WINDOWS}, table="printed", runs_per_trial=2)
    assert planned.points == [{"parameter_window": 3}, {"parameter_window": 9}]
    runs = planned.runs_of(1, {"parameter_window": 9})
    assert [(run.run, run.row, run.spec.parameters["window"]) for run in runs] == [
        (0, 2, 9),
        (1, 2, 9),
    ]


def test_a_row_with_its_own_network_runs_there_alone() -> None:
    printed = table("printed", [{"window": 3}, {"window": 5}, {"window": 9}])
    rows = zip(printed.rows, ("air", "wire", "air"), strict=True)
    placed = replace(printed, rows=[replace(row, network=name) for row, name in rows])
    networks = [network("wire"), network("air")]
    planned = plan({"printed": placed}, networks, table="printed", runs_per_trial=2)
    runs = [planned.runs_of(trial, point) for trial, point in enumerate(planned.points or ())]
    places = [[run.spec.network.name for run in of_trial] for of_trial in runs]
    assert places == [["air"] * 2, ["wire"] * 2, ["air"] * 2]
    assert planned.total == 6


def test_fit_runs_every_row_with_the_searched_host() -> None:
    planned = plan(
        {"printed": WINDOWS},
        host={"host_latency_us": {"low": 0, "high": 3000}, "wake_us": {"low": 0, "high": 90}},
        objective={"fit": "printed"},
        sampler={"kind": "tpe", "trials": 5},
    )
    assert planned.space == {
        "host_latency_us": IntDistribution(0, 3000),
        "host_wake_us": IntDistribution(0, 90),
    }
    runs = planned.runs_of(0, {"host_latency_us": 700, "host_wake_us": 20})
    assert [run.row for run in runs] == [0, 2]
    assert runs[0].spec.network.host_latency_us == 700
    assert runs[0].spec.network.host_model == "event-loop:wake_us=20"


def test_fit_on_several_networks_runs_each_table_where_it_ran() -> None:
    other = table("other", [{"window": 3}, {"window": 5}])
    planned = plan(
        {"printed": WINDOWS, "other": other},
        [network("wire"), network("air")],
        space={"keepalive_ms": {"values": [80, 1000]}},
        objective={"fit": ["printed", "other"], "on": {"printed": "air", "other": "wire"}},
        runs_per_trial=2,
    )
    runs = planned.runs_of(0, {"parameter_keepalive_ms": 80})
    assert [(run.row, run.spec.network.name) for run in runs] == [
        *((row, "air") for row in (0, 0, 2, 2)),
        *((row, "wire") for row in (3, 3, 4, 4)),
    ]
    assert planned.total == len(runs) * len(planned.points or ())


def test_space_takes_kind_and_scale_from_the_declaration() -> None:
    planned = plan(
        controller="delay_threshold",
        space={
            "alpha": {"low": 0.1, "high": 10},
            "rtt_threshold_ms": {"low": 50, "high": 200},
            "beta": {"values": [1, 2]},
        },
        sampler={"kind": "tpe", "trials": 5},
    )
    assert planned.space == {
        "parameter_alpha": FloatDistribution(0.1, 10, log=True),
        "parameter_rtt_threshold_ms": FloatDistribution(50, 200),
        "parameter_beta": CategoricalDistribution([1.0, 2.0]),
    }
    spec = planned.runs_of(0, {"parameter_alpha": 1.5})[0].spec
    assert spec.parameters == {"alpha": 1.5, "beta": 1.0, "rtt_threshold_ms": 1.0}


def test_seeds_differ_by_study_trial_and_run_and_stay_the_same() -> None:
    seeds = {
        derive_seed(study, trial, run) for study in (1, 2) for trial in (0, 1) for run in (0, 1)
    }
    assert len(seeds) == 8
    assert max(seeds) < 2**53
    assert derive_seed(1, 23) != derive_seed(12, 3)
    assert (
        derive_seed(2017, "windows-001") == 3108637089184316
    )  # so that no release changes every result


def test_opponent_runs_what_the_controller_under_study_runs() -> None:
    opponent = Opponent(CATALOGUE.controllers["fixed_window"], {"window": 99, "keepalive_ms": 1})
    alone = plan(space={"window": {"low": 1, "high": 9}}, sampler={"kind": "golden"})
    planned = replace(alone, opponent=opponent)
    runs = planned.runs_of(3, {"parameter_window": 5})
    (own,), (other,) = planned.own(runs), runs[1:]
    assert (own,) == alone.runs_of(3, {"parameter_window": 5})
    assert (other.trial, other.run, other.spec.parameters["window"]) == (3, 1, 99)
    assert (other.spec.seed, other.spec.network) == (own.spec.seed, own.spec.network)

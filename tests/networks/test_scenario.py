"""Scenarios of runs: networks with changed values, and traffic whose starts the seed draws."""

from kneepoint.networks.scenario import ALONE, Traffic, scenario_of
from tests.experiments.fakes import network

SUBJECT = {"controller": "reno", "controller_sha256": "c" * 64, "parameters": {"beta": 0.5}}
CUBIC = {"controller": "cubic", "controller_sha256": "d" * 64, "parameters": {}}
ROUTER = network("router", uplink={"rate_mbps": 1.5, "queue": "droptail:packets=100"})


def test_changes_of_the_delay_are_of_both_directions_and_in_the_scenario() -> None:
    changing = ROUTER.with_value("delay_step_ms", 30).with_value("delay_period_s", 1.5)
    scenario = scenario_of(changing, ALONE, SUBJECT, 1)
    for direction in ("uplink", "downlink"):
        assert scenario[direction]["delay_step_ms"] == 30
        assert scenario[direction]["delay_period_s"] == 1.5
    parameter = scenario_of(ROUTER, ALONE, SUBJECT, 1)
    assert not {"delay_step_ms", "delay_period_s"} & set(parameter["uplink"])


def test_scenario_has_each_flow_with_its_controller() -> None:
    traffic = Traffic(
        "pair",
        {"own": {"transport": "tcp"}, "other": {**CUBIC, "start_s": 3}},
        {"ping": {"start_s": 40, "count": 10}},
        {"measure_from_s": 30},
    )
    scenario = scenario_of(ROUTER, traffic, SUBJECT, 7)
    assert scenario["flows"] == [{**SUBJECT, "transport": "tcp"}, {**CUBIC, "start_s": 3}]
    assert scenario["probes"] == [{"start_s": 40, "count": 10}]
    assert (scenario["measure_from_s"], scenario["seed"], scenario["duration_s"]) == (30, 7, 10)
    assert scenario_of(ROUTER, ALONE, SUBJECT, 7)["flows"] == [SUBJECT]
    assert (traffic.measures_flows, ALONE.measures_flows) == (True, False)


def test_starts_are_drawn_from_the_seed_and_the_name() -> None:
    flow = {"start_s": 60, "start_spread_s": 10}
    traffic = Traffic("two", {"a": flow, "b": flow})

    def starts(seed: int) -> list[float]:
        scenario = scenario_of(ROUTER, traffic, SUBJECT, seed)
        assert all("start_spread_s" not in each for each in scenario["flows"])
        return [each["start_s"] for each in scenario["flows"]]

    drawn = [start for seed in range(100) for start in starts(seed)]
    assert starts(1) == starts(1)
    assert len(set(drawn)) == len(drawn)
    assert all(60 <= start < 70 for start in drawn)
    assert 64 < sum(drawn) / len(drawn) < 66

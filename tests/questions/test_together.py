"""What questions say of the same runs, where all of them are there."""

import pytest

from kneepoint.analysis.derived import with_derived
from kneepoint.analysis.frames import records, select
from kneepoint.runs.question import questions
from tests.analysis import synthetic


def with_all(*names: str) -> pytest.MarkDecorator:
    """Skips a test without one of these questions."""
    return pytest.mark.skipif(not {*names} <= {*questions()}, reason="a question is not there")


@with_all("sweeps", "searches")
def test_a_sweep_and_its_search_name_one_best_with_one_value() -> None:
    found = synthetic.analysed(synthetic.results(), "sweeps", "searches")
    (sweep,) = records(found["sweeps"])
    (search,) = records(select(found["searches"], search=sweep["best_study"]))
    (constant,) = records(select(found["search_constants"], search=sweep["best_study"]))
    (network,) = records(select(found["search_networks"], search=sweep["best_study"]))
    (point,) = records(select(found["sweep_points"], best=True))
    assert sweep["fresh"] and search["fresh_runs"] == 30 == sweep["best_runs"] == point["runs"]
    assert sweep["best_value"] == constant["best"] == point["value"]
    for metric in ("throughput_mbps", "signal_delay_p95_ms", "power"):
        assert sweep[metric] == search[metric] == network[metric] == point[metric]
    assert sweep["power"] == pytest.approx(search["best_value"])
    assert sweep["power"] < search["in_search"]
    half = (search["best_high"] - search["best_low"]) / 2
    assert network["half_width"] == pytest.approx(sweep["half_width"] * sweep["power"])
    assert half > 0


@with_all("sweeps", "audit")
def test_a_sweep_has_the_published_rows_beside_it() -> None:
    found = with_derived(synthetic.analysed(synthetic.results()))
    assert found["sweep_bests"].set_index("table")["rows"].to_dict() == {
        "001-fixed-window": 18,
        "004-fixed-window": 33,
    }

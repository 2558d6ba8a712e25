"""Agreement of questions on the same runs, if all are installed."""

import pytest

from kneepoint.analysis.derived import with_derived
from kneepoint.analysis.frames import records, select
from kneepoint.analysis.metrics import POWER
from kneepoint.runs.question import questions
from tests.analysis import synthetic
from tests.reports.told import told


def with_all(*names: str) -> pytest.MarkDecorator:
    """Skips a test without one of these questions."""
    return pytest.mark.skipif(not {*names} <= {*questions()}, reason="a question is not there")


@with_all("sweeps", "searches")
def test_a_sweep_and_its_search_name_one_best_with_one_value() -> None:
    found = synthetic.analysed(synthetic.results(), "sweeps", "searches")
    (sweep,) = records(found["sweeps"])
    (search,) = records(select(found["searches"], search=sweep["best_study"]))
    (parameter,) = records(select(found["search_parameters"], search=sweep["best_study"]))
    (network,) = records(select(found["search_networks"], search=sweep["best_study"]))
    (point,) = records(select(found["sweep_points"], best=True))
    assert sweep["fresh"] and search["fresh_runs"] == 30 == sweep["best_runs"] == point["runs"]
    assert sweep["best_value"] == parameter["best"] == point["value"]
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


@with_all("audit", "real")
def test_best_settings_know_what_was_published() -> None:
    every = with_derived(synthetic.analysed(synthetic.real_results()))["confirmed"]
    wrong = every[every["origin"] == "contradicted"]
    assert wrong[["printed_table", "printed_row"]].to_numpy().tolist() == [["001-fixed-window", 7]]
    rows = every.drop(wrong.index).reset_index(drop=True)
    assert rows["origin"].tolist() == ["published", "tuned", "published", "tuned", "tuned"]
    (row,) = records(select(synthetic.published_rows(), table="004-fixed-window", row=3))
    assert rows["published"].isna().tolist() == [False, *[True] * 4]
    assert rows["published"][0] == row[POWER]
    assert rows["from_published"][0] == rows["real_mean"][0] / row[POWER] - 1


OF_REAL_RUNS = {
    *("one-real-run", "agreement", "confirmation"),
    *("real-repeatability", "real-searches", "real"),
}


@with_all("audit", "over_time", "probe", "real", "repeatability", "searches", "sweeps")
def test_real_results_mix_with_no_other_section() -> None:
    emulated = told(synthetic.results())
    report = told(synthetic.real_results())
    assert {*report.names} - {*emulated.names} == OF_REAL_RUNS
    assert [name for name in report.names if name not in OF_REAL_RUNS] == emulated.names
    for section in ("repeatability", "one-parameter", "search-best_window"):
        assert report.text(section) == emulated.text(section)

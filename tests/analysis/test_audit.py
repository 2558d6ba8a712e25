import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis import audit, checks, nearness
from analysis.checks import Finding
from analysis.frames import STEP, records, select
from analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.neighbours import neighbours
from analysis.results import Searched
from analysis.schema import VERDICTS
from experiments.models.study import Fit
from tests.analysis import published, synthetic

WITH_BOTH = ("001-fixed-window", "004-fixed-window", "001-aimd", "004-bounded-aimd")


def judged(rows: pd.DataFrame, **described: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The audit of rows whose tables are described so."""
    source = synthetic.DESCRIPTION.model_copy(update=described)
    return audit.audit(rows, dict.fromkeys(rows["table"], source), {})


def verdicts(rows: pd.DataFrame) -> pd.DataFrame:
    return judged(rows)[0]


def against(rows: pd.DataFrame) -> list[Finding]:
    return [finding for check in audit.CHECKS for finding in check(rows)]


def of_table(rows: pd.DataFrame, *tables: str) -> pd.DataFrame:
    return rows[rows["table"].isin(tables)].reset_index(drop=True)


def beside(
    throughput: Sequence[float],
    delay: Sequence[float],
    power: Sequence[float] = (),
    ours: Sequence[tuple[float, float]] = (),
) -> pd.DataFrame:
    """A table of windows 1, 2, 4, ... as `statistics.beside` gives it; ours as published."""
    n = len(throughput)
    rows = pd.DataFrame(
        {
            "table": "001-windows",
            "report": "Report 001",
            "row": range(n),
            "controller": "fixed_window",
            "network": "contest",
            "replayable": True,
            "constant_window": [2.0**i for i in range(n)],
            "runs": 5,
            "settings": 1,
            "nearest": "",
            "failed": 0,
            "failure": "",
            "sure": 1.0,
        }
    )
    given = {THROUGHPUT: list(throughput), SIGNAL_DELAY: list(delay), POWER: list(power)}
    replay = list(ours) or list(zip(throughput, delay, strict=True))
    mine = {THROUGHPUT: [each[0] for each in replay], SIGNAL_DELAY: [each[1] for each in replay]}
    mine[POWER] = [1e3 * each[0] / each[1] for each in replay]
    for metric in METRICS:
        rows[f"published_{metric}"] = given.get(metric) or math.nan
        rows[f"ours_{metric}"] = mine.get(metric, math.nan)
        rows[f"deviation_{metric}"] = 0.002 * rows[f"ours_{metric}"]
        rows[f"low_{metric}"] = 0.99 * rows[f"ours_{metric}"]
        rows[f"high_{metric}"] = 1.01 * rows[f"ours_{metric}"]
        rows[[f"host_low_{metric}", f"host_high_{metric}"]] = math.nan
    for metric, step in ((THROUGHPUT, 0.01), (SIGNAL_DELAY, 1.0), (POWER, 0.01)):
        rows[STEP + metric] = step
    return published.compared(rows)


# What the audit finds -------------------------------------------------------------------------


def as_printed(ours: pd.DataFrame) -> pd.DataFrame:
    """What is really printed, beside honest runs of ours."""
    rows = ours.copy()
    there = published.printed().set_index(["table", "row"])
    for metric in (THROUGHPUT, SIGNAL_DELAY, POWER):
        keys = pd.MultiIndex.from_frame(rows[["table", "row"]])
        rows[f"published_{metric}"] = there[metric].reindex(keys).to_numpy()
    return published.compared(rows)


def test_the_rows_that_cannot_be_right_are_found_and_no_other() -> None:
    found, evidence = judged(as_printed(published.honest(1)))
    wrong = found[found["verdict"] == "contradicted"].set_index(["table", "row"])
    assert set(wrong.index) == set(published.RIGHT)
    checks_of = wrong["checks"].to_dict()
    assert checks_of["001-aimd", 6] == "neighbours, replay"
    assert checks_of["001-delay-threshold", 2] == "arithmetic"
    assert checks_of["001-delay-threshold", 4] == "neighbours, replay"
    assert checks_of["001-delay-threshold", 11] == "repetition, replay"
    (arithmetic,) = records(evidence[evidence["kind"] == "arithmetic"])
    assert (arithmetic["table"], arithmetic["row"]) == ("001-delay-threshold", 2)
    assert (arithmetic["low"], arithmetic["high"]) == pytest.approx((22.65, 22.82), abs=0.005)


MANY = int(os.environ.get("KNEEPOINT_AUDIT_SEEDS", "4"))
"""More of them take minutes: KNEEPOINT_AUDIT_SEEDS=300."""


def test_honest_tables_raise_no_alarm_in_many_seeds() -> None:
    alarms = [seed for seed in range(100, 100 + MANY) if against(published.honest(seed))]
    assert alarms == []


def test_honest_tables_that_replay_badly_raise_few_alarms() -> None:
    badly = [published.honest(seed, mismatch=0.05) for seed in range(4)]
    assert sum(len(against(rows)) for rows in badly) <= 0.005 * sum(len(rows) for rows in badly)


# Planting wrong numbers -----------------------------------------------------------------------


def sampled(rows: pd.DataFrame, n: int, seed: int) -> list[int]:
    return [int(i) for i in np.random.default_rng(seed).choice(rows.index, n, replace=False)]


def is_found(rows: pd.DataFrame, label: int) -> bool:
    return int(rows["row"][label]) in {finding.row for finding in against(rows)}


@pytest.mark.parametrize("factor", [0.1, 0.75, 1.33, 10.0])
@pytest.mark.parametrize("metric", [THROUGHPUT, SIGNAL_DELAY])
@pytest.mark.parametrize("table", WITH_BOTH)
def test_a_wrong_number_is_found_when_power_follows_from_it(
    table: str, metric: str, factor: float
) -> None:
    rows = of_table(published.honest(6), table)
    for label in sampled(rows, 1, seed=2):
        values = {each: rows[f"published_{each}"][label] for each in (THROUGHPUT, SIGNAL_DELAY)}
        values[metric] *= factor
        values[POWER] = 1e3 * values[THROUGHPUT] / values[SIGNAL_DELAY]
        assert is_found(published.planted(rows, label, **values), label), values


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_number_within_a_sweep_is_found_without_any_run(factor: float) -> None:
    rows = of_table(published.honest(8), "004-fixed-window")
    for metric in METRICS:
        rows[[f"ours_{metric}", f"deviation_{metric}"]] = math.nan
    for label in (3, 12, 29):
        for metric in (THROUGHPUT, SIGNAL_DELAY):
            value = factor * rows[f"published_{metric}"][label]
            found = list(neighbours(published.planted(rows, label, **{metric: value})))
            assert {each.row for each in found} == {label}


def test_a_row_copied_from_another_is_found() -> None:
    rows = of_table(published.honest(9), "001-fixed-window")
    numbers = {m: rows[f"published_{m}"][3] for m in (THROUGHPUT, SIGNAL_DELAY, POWER)}
    found = list(checks.repetitions(published.planted(rows, 12, **numbers)))
    assert [(each.row, each.check) for each in found] == [(12, "repetition")]
    assert found[0].metric == SIGNAL_DELAY
    assert found[0].more == {"other_row": 3, "other_ours": rows[f"ours_{SIGNAL_DELAY}"][3]}


# Each check -----------------------------------------------------------------------------------


def test_arithmetic_allows_what_rounding_hides() -> None:
    # 1.005 / 0.0995 and 0.995 / 0.1005 are as far as 1.00 and 100 can be off; plus half a digit.
    # 1.00 may also be 1.0099, cut off.
    rows = beside([1.0] * 4, [100] * 4, [10.09, 10.13, 10.18, 9.80])
    assert [each.row for each in checks.arithmetic(rows)] == [2, 3]
    assert [(each.row, each.metric) for each in checks.truncations(rows)] == [(1, THROUGHPUT)]


@pytest.mark.parametrize("factor", [0.7, 0.9, 1.1, 1.4])
@pytest.mark.parametrize("wrong", [THROUGHPUT, SIGNAL_DELAY, POWER])
def test_arithmetic_blames_the_number_that_is_wrong(wrong: str, factor: float) -> None:
    right = beside([4.0, 3.0], [200.0, 150.0], [20.0, 20.0], ours=[(4.01, 199), (2.99, 151)])
    value = factor * right[f"published_{wrong}"][0]
    (found,) = checks.arithmetic(published.planted(right, 0, **{wrong: value}))
    assert (found.row, found.metric, found.more["remark"]) == (0, wrong, None)
    assert found.more["low"] <= right[f"published_{wrong}"][0] <= found.more["high"]


def test_arithmetic_blames_nothing_where_ours_cannot_tell() -> None:
    rows = published.planted(beside([4.0], [200.0], [20.0], ours=[(2.0, 400)]), 0, power=25.0)
    unknown = rows.copy()
    unknown[[f"ours_{metric}" for metric in METRICS]] = math.nan
    little = published.planted(beside([4.0], [200.0], [20.0]), 0, power=20.6)
    for each in (rows, unknown, little):
        (found,) = checks.arithmetic(each)
        assert (found.metric, found.more["remark"]) == (POWER, checks.UNSURE)


@pytest.mark.parametrize(
    ("numbers", "cut_off"),
    [
        ((2.27, 175, 12.87), SIGNAL_DELAY),  # 2.265 / 0.1759
        ((2.26, 176, 12.93), THROUGHPUT),  # 2.269 / 0.1755
        ((2.33, 191, 12.12), POWER),  # 2.325 / 0.1915 = 12.14
    ],
)
def test_a_number_that_was_cut_off_is_no_evidence(
    numbers: tuple[float, float, float], cut_off: str
) -> None:
    rows = beside([numbers[0]], [numbers[1]], [numbers[2]])
    found, evidence = judged(rows)
    assert found["verdict"].tolist() == ["reproduced"]
    (piece,) = records(evidence[evidence["kind"] == "truncation"])
    assert piece["metric"] == cut_off


def test_arithmetic_allows_a_mean_of_ratios() -> None:
    rows = beside([4.12153], [98.86667], [41.68]).assign(
        step_throughput_mbps=1e-5, step_signal_delay_p95_ms=1e-5
    )
    assert list(checks.arithmetic(rows)) == []
    assert len(list(checks.arithmetic(published.planted(rows, 0, power=41.60)))) == 1


def test_a_dropped_zero_is_a_digit_but_a_shorter_great_number_is_none() -> None:
    rows = beside([4.99, 5, 5.01, 12], [900, 927, 972, 1200])
    rows[STEP + THROUGHPUT] = [0.01, 1.0, 0.01, 1.0]
    assert checks.resolution(rows, THROUGHPUT).tolist() == [0.01, 0.01, 0.01, 1.0]


def test_repetition_of_a_link_that_is_full_is_no_evidence() -> None:
    rows = beside([4.0, 5.0, 5.0], [100, 900, 900], ours=[(4.0, 100), (5.0, 898), (5.0, 905)])
    assert list(checks.repetitions(rows)) == []


def test_repetition_without_runs_accuses_both() -> None:
    rows = beside([4.0, 5.0, 5.0], [100, 900, 900])
    rows[[f"ours_{metric}" for metric in METRICS]] = math.nan
    assert [each.row for each in checks.repetitions(rows)] == [1, 2]


def test_two_tables_that_contradict_each_other() -> None:
    first = beside([2.25, 2.67], [175, 213], [12.84, 12.53])
    again = beside([math.nan] * 2, [math.nan] * 2, [11.79, 12.50]).assign(table="004-again")
    again["ours_power"] = first["ours_power"]
    found = list(checks.conflicts(pd.concat([first, again], ignore_index=True)))
    assert [(each.table, each.row, each.metric) for each in found] == [("004-again", 0, POWER)]
    other = {"other_table": "001-windows", "other_row": 0, "other_published": 12.84}
    assert found[0].more == other


def test_a_jump_that_ours_makes_too_is_the_links() -> None:
    delay = [100, 110, 120, 130, 400, 410, 420, 430, 440, 450]
    throughput = [1.0 + 0.1 * i for i in range(10)]
    delay[4] = 900
    ours = [(rate, 0.8 * late) for rate, late in zip(throughput, delay, strict=True)]
    assert list(neighbours(beside(throughput, delay, ours=ours))) == []
    ours[4] = (1.4, 0.8 * 250)
    assert {each.row for each in neighbours(beside(throughput, delay, ours=ours))} == {4}
    ours[4] = (9.9, 0.8 * 250)  # and has no neighbour of more throughput
    rows = beside(throughput, delay, ours=ours).drop(columns="constant_window")
    assert list(neighbours(rows)) == []


def replayed(off: Sequence[float]) -> pd.DataFrame:
    """A table whose delays are ours times these; no two of its rows are neighbours."""
    n = len(off)
    rates, delays = [1.0 + 0.1 * i for i in range(n)], [1000.0 + 100 * i for i in range(n)]
    printed = [delay * each for delay, each in zip(delays, off, strict=True)]
    ours = list(zip(rates, delays, strict=True))
    rows = beside(rates, printed, ours=ours).drop(columns="constant_window")
    return rows.assign(runs=audit.LEAST_RUNS)


def test_a_row_a_little_off_is_evidence_where_the_rest_of_its_table_is_near() -> None:
    near = [1 + 0.004 * (-1) ** i * i / 10 for i in range(10)]
    (found,) = checks.replays(replayed([*near[:6], 1.08, *near[6:]]))
    assert (found.row, found.metric) == (6, SIGNAL_DELAY)
    assert found.size == pytest.approx(math.log(1.08), abs=0.002)
    assert found.more["usual"] < 0.004
    assert 0 < found.more["p"] < checks.LEVEL
    assert list(checks.replays(replayed([*near[:6], 1.04, *near[6:]]))) == []  # close to ours
    far = [1 + 0.03 * (-1) ** i * i / 10 for i in range(10)]
    assert list(checks.replays(replayed([*far[:6], 1.08, *far[6:]]))) == []
    assert list(checks.replays(replayed([*near[:4], 1.08]))) == []  # four rows show too little


def test_a_number_that_another_host_explains_is_no_evidence() -> None:
    rows = replayed([*[1.0] * 10, 1.08])
    rows[f"host_low_{SIGNAL_DELAY}"] = rows[f"ours_{SIGNAL_DELAY}"]
    rows[f"host_high_{SIGNAL_DELAY}"] = 1.1 * rows[f"ours_{SIGNAL_DELAY}"]
    assert list(checks.replays(rows)) == []
    assert len(list(checks.replays(rows.assign(host_high_signal_delay_p95_ms=math.nan)))) == 1


def test_a_row_nearer_to_ours_than_its_table_is_no_evidence() -> None:
    others = [1 / 0.57, 1 / 0.56, 1 / 0.565, 1 / 0.57, 1 / 0.56, 1 / 0.565]  # ours is 43 % less
    rows = replayed([*others, 1 / 0.78, 1 / 0.75])
    assert list(checks.replays(rows)) == []
    found = {each.row: each.more["usual"] for each in checks.replays(replayed([*others, 6.0]))}
    assert found == {6: pytest.approx(0.435, abs=0.001)}  # of published, not a logarithm


def test_a_throughput_above_its_links_capacity_is_evidence() -> None:
    rows = beside([4.9, 5.2, 5.4], [100, 200, 300])
    assert list(checks.capacities(rows)) == []
    found = list(checks.capacities(rows.assign(capacity_mbps=[5.0, 5.0, 5.0])))
    assert [(each.row, each.metric, each.more["high"]) for each in found] == [(2, THROUGHPUT, 5.0)]
    judgement, evidence = judged(rows.assign(capacity_mbps=5.0))
    assert judgement["verdict"].tolist()[2] == "contradicted"
    assert "capacity" in set(evidence["kind"]) and "capacity_mbps" not in judgement


# Verdicts -------------------------------------------------------------------------------------


def test_verdicts_and_their_evidence() -> None:
    rows = beside(
        [1.0, 2.0, 3.0, 4.0],
        [100, 200, 300, 400],
        ours=[(1.005, 100.5), (2.0, 208), (3.0, 330), (math.nan, math.nan)],
    )
    rows.loc[3, "runs"] = 0
    unstated = dict.fromkeys(["keepalive_ms", "initial_window"], "")
    found, evidence = judged(rows, unstated=unstated, remark="its logs differ")
    assert found["verdict"].tolist() == ["reproduced", "close", "unexplained", "not comparable"]
    differences = [("difference", THROUGHPUT), ("difference", SIGNAL_DELAY)]
    pieces = list(zip(evidence["row"], evidence["kind"], evidence["metric"], strict=True))
    assert [piece for row, *piece in pieces if row == 0] == [list(each) for each in differences]
    assert [kind for row, kind, _ in pieces if row == 2][2:] == ["unstated", "remark"]
    assert [kind for row, kind, _ in pieces if row == 3] == ["no run"]
    by_kind = evidence.set_index("kind")
    assert by_kind["constants"]["unstated"] == ("keepalive_ms", "initial_window")
    assert by_kind["remark"]["remark"] == "its logs differ"
    fitted, evidence = judged(rows, fitted=("host_latency_us",))
    assert fitted["verdict"].tolist() == ["fitted"] * 3 + ["not comparable"]
    assert evidence.set_index("kind")["constants"]["fitted"].tolist() == [("host_latency_us",)] * 3


def test_a_row_between_our_own_runs_is_not_unexplained() -> None:
    rows = beside([1.0, 2.0], [100, 200], ours=[(1.0, 110), (2.0, 230)])
    rows["low_signal_delay_p95_ms"] = [98, 205]
    assert verdicts(rows)["verdict"].tolist() == ["within our spread", "unexplained"]
    _, evidence = judged(rows)
    (piece,) = records(evidence[evidence["kind"] == "spread"])
    assert (piece["row"], piece["metric"], piece["low"]) == (0, SIGNAL_DELAY, 98)
    rows["low_signal_delay_p95_ms"] = [101.2, math.nan]  # 100 may be 100.9, cut off
    assert verdicts(rows)["verdict"].tolist() == ["unexplained"] * 2
    rows["low_signal_delay_p95_ms"] = [100.9, math.nan]
    assert verdicts(rows)["verdict"].tolist() == ["within our spread", "unexplained"]


def test_a_host_that_fits_as_well_explains_a_row() -> None:
    rows = beside([1.0, 2.0], [100, 200], ours=[(1.0, 110), (2.0, 230)])
    for metric, low, high in ((THROUGHPUT, [0.9, 1.9], [1.1, 2.1]), (SIGNAL_DELAY, 95, 240)):
        rows[f"host_low_{metric}"], rows[f"host_high_{metric}"] = low, high
    rows.loc[1, f"host_low_{SIGNAL_DELAY}"] = 210
    found, evidence = judged(rows)
    assert found["verdict"].tolist() == ["within our spread", "unexplained"]
    (piece,) = records(evidence[evidence["kind"] == "host"])
    assert (piece["row"], piece["metric"], piece["low"], piece["high"]) == (
        0,
        SIGNAL_DELAY,
        95,
        240,
    )


def test_a_verdict_is_clear_if_further_runs_would_not_change_it() -> None:
    rows = beside([1.0] * 4, [100, 100, 100, 130], ours=[(1.0, 100)] * 4)
    rows["sure"] = [1.0, 0.9, math.nan, 0.5]
    assert verdicts(rows)["clear"].tolist() == [True, False, False, False]
    fitted, _ = judged(rows, fitted=("alpha",))
    assert fitted["clear"].all()


def test_a_contradiction_by_few_runs_alone_is_not_clear() -> None:
    n = 12
    rows = beside([1.0 + 0.1 * i for i in range(n)], [100 + 10 * i for i in range(n)])
    rows = rows.drop(columns="constant_window")
    rows = published.compared(rows.assign(published_signal_delay_p95_ms=[50, *range(110, 220, 10)]))
    for runs in (audit.LEAST_RUNS - 1, audit.LEAST_RUNS):
        found = verdicts(rows.assign(runs=runs))
        assert found["checks"][0] == "replay"
        assert bool(found["clear"][0]) == (runs == audit.LEAST_RUNS)


def test_rows_that_were_selected_say_so() -> None:
    rows = beside([1.0, 2.0], [100, 200], ours=[(1.0, 120), (2.0, 200)])
    _, evidence = judged(rows, selected="best", selected_of=(3, 9))
    told = evidence[evidence["kind"] == "selected"]
    assert told["remark"].tolist() == ["best", "best"]
    assert set(zip(told["low"], told["high"], strict=True)) == {(3, 9)}


def test_a_fitted_row_can_be_contradicted() -> None:
    rows = published.planted(beside([1.0, 2.0], [100, 200], [10.0, 10.0]), 1, power=11.0)
    found, _ = judged(rows, fitted=("host_latency_us",))
    assert found["verdict"].tolist() == ["fitted", "contradicted"]


def test_what_the_report_does_not_say_is_not_comparable() -> None:
    rows = beside([math.nan, math.nan], [math.nan, math.nan], [math.nan, 42.64])
    rows.loc[1, "replayable"] = False
    rows.loc[1, [f"ours_{metric}" for metric in METRICS]] = math.nan
    _, evidence = judged(published.compared(rows))
    assert evidence["kind"].tolist() == ["no number", "no constants"]


def test_three_milliseconds_are_close_enough() -> None:
    rows = beside([1.0, 1.0], [40, 40], ours=[(1.0, 42.9), (1.0, 43.1)])
    assert nearness.agreements(rows).tolist() == ["reproduced", "off"]


def test_digits_that_are_not_printed_count_for_a_row() -> None:
    ours = [(1.0149, 1), (1.0201, 1), (0.9849, 1)]  # 1.00 can stand for 0.995 to 1.01
    rows = beside([1.00] * 3, [100.0] * 3, ours=[(rate, 100) for rate, _ in ours])
    assert nearness.agreements(rows).tolist() == ["reproduced", "close", "close"]
    assert nearness.agreements(rows.assign(step_throughput_mbps=math.nan))[0] == "close"


def test_errors_keep_rows_with_power_only_apart() -> None:
    both = beside([1.0, 2.0, 3.0, 4.0], [100, 200, 300, 400], ours=[(1.1, 104)] * 4)
    alone = beside([math.nan], [math.nan], [10.0]).assign(table="000-power", ours_power=12.0)
    rows = published.compared(pd.concat([both, alone], ignore_index=True))
    tables = {"audit": verdicts(rows).assign(comparison="reports")}
    found = audit.errors(tables).set_index(["metric", "group"])
    assert found["rows"][THROUGHPUT, "all"] == 4
    assert found["rows"][POWER, "all"] == 1
    assert found["median"][POWER, "all"] == pytest.approx(0.2)
    assert found["near"][SIGNAL_DELAY, "all"] == 0.25


# The stage -----------------------------------------------------------------------------------


def test_what_fits_of_the_host_used_is_fitted() -> None:
    host = (Searched("host_latency_us", 0, 1000),)
    objective = Fit(fit=("004-fixed-window",))
    fit = synthetic.windows_study("fit", objective=objective, searched=host)
    latencies = [100.0 * trial for trial in range(len(fit.trials))]
    best = 3
    trials = fit.trials.assign(constant_host_latency_us=latencies, value=1.0)
    trials.loc[best, "value"] = 0.1
    fit = replace(fit, trials=trials)
    results = synthetic.results()
    results = results.but(studies=(*results.studies, fit))

    def verdicts(**host: float) -> "pd.Series[str]":
        replayed = results.but(hosts={synthetic.NETWORK: host})
        return synthetic.analysed(replayed, "audit")["audit"].set_index("table")["verdict"]

    fitted = verdicts(host_latency_us=300.0, host_wake_us=50.0)
    assert set(fitted["004-fixed-window"]) == {"fitted"}
    assert set(fitted["001-fixed-window"]) == {"reproduced", "contradicted"}
    other = verdicts(host_latency_us=600.0, host_wake_us=50.0)
    assert "fitted" not in set(other)


def test_a_replay_on_another_network_is_named_and_gives_no_verdict() -> None:
    tables = ("001-fixed-window",)
    runs = [
        synthetic.run_row("fixed_window", {"window": w}, *synthetic.fixed_window(w), network="lab")
        for w in range(5, 95, 5)
    ]
    there = synthetic.study("there", runs, compare=tables, networks=("lab",))
    results = synthetic.results()
    both = synthetic.analysed(results.but(studies=(*results.studies, there)), "audit")
    here = synthetic.analysed(results, "audit")
    assert both["audit"]["verdict"].tolist() == here["audit"]["verdict"].tolist()
    (replay,) = records(select(both["audit_tables"], own=False))
    assert (replay["table"], replay["network"], replay["compared"]) == (*tables, "lab", 18)
    assert not any(replay[verdict] for verdict in VERDICTS)
    pd.testing.assert_frame_equal(select(both["audit_tables"], own=True), here["audit_tables"])
    alone = synthetic.analysed(results.but(studies=(there,)), "audit")
    assert set(alone["audit"]["verdict"]) == {"not comparable", "contradicted"}
    evidence = alone["audit_evidence"].set_index("kind")
    assert set(evidence.index) == {"elsewhere", "neighbours"}
    assert set(evidence["remark"]["elsewhere"]) == {"lab"}


def test_each_row_of_a_table_is_judged_on_its_own_network() -> None:
    (table,) = tables = ("001-fixed-window",)
    published = synthetic.published_rows().query("table == @table").drop(index=7)  # made wrong
    there = np.arange(len(published)) % 2 == 1
    published["network"] = np.where(there, "lab", synthetic.NETWORK)
    runs = []
    for window in range(5, 95, 5):
        rate, delay = synthetic.fixed_window(window)
        for n in range(8):
            for name, ours in ((synthetic.NETWORK, delay * (1 + n / 1000)), ("lab", 3 * delay)):
                run = synthetic.run_row(
                    "fixed_window", {"window": window}, rate, ours, network=name
                )
                runs.append(run)
    networks = (synthetic.NETWORK, "lab")
    study = synthetic.study(table, runs, table=table, compare=tables, networks=networks)
    found = synthetic.analysed(synthetic.MadeUp(published=published, studies=[study]), "audit")
    rows = found["audit"].sort_values("row")
    assert rows["network"].tolist() == published["network"].tolist()
    assert set(rows["runs"]) == {8} and set(rows["sure"]) == {1.0}
    assert set(rows["agreement"][~there]) == {"reproduced"}
    assert set(rows["agreement"][there]) == {"off"}
    (line,) = records(found["audit_tables"])
    assert (line["rows"], line["network"], line["own"]) == (len(rows), synthetic.NETWORK, True)
    assert line["network_title"].endswith(" and lab")


def test_a_row_whose_runs_failed_is_told_with_the_reason() -> None:
    failed = synthetic.failed_row("fixed_window", {"window": 5}, "the window is not a number")
    study = synthetic.study("windows", [failed] * 3, compare=("001-fixed-window",))
    tables = synthetic.analysed(synthetic.results(studies=(study,)), "audit")
    first = records(tables["audit"])[0]
    assert (first["runs"], first["failed"]) == (0, 3)
    pieces = tables["audit_evidence"].set_index("row")
    assert pieces["kind"][0] == "failed"
    assert pieces["remark"][0] == "the window is not a number"
    assert pieces["kind"][1] == "no run"

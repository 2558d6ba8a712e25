"""The audit: findings in printed and made-up tables, and numbers that are no evidence."""

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis.frames import STEP, Record, records, select
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT, resolution
from kneepoint.analysis.results import Searched
from kneepoint.config.study import Fit
from kneepoint.questions.audit import checks
from kneepoint.questions.audit.beside import KINDS, LIMITS
from kneepoint.questions.audit.checks import Finding, neighbours
from kneepoint.questions.audit.section import worst
from kneepoint.questions.audit.tables import CHECKS, MIN_RUNS, VERDICTS, audit
from kneepoint.stats.outliers import LEVEL
from tests.analysis import synthetic
from tests.questions.audit import planted, published, strangers

OURS = [f"ours_{metric}" for metric in METRICS]


def judged(rows: pd.DataFrame, **described: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Returns the audit of rows, given descriptions of their tables."""
    source = synthetic.DESCRIPTION.model_copy(update=described)
    return audit(rows, dict.fromkeys(rows["table"], source), {})


def verdicts(rows: pd.DataFrame, **described: Any) -> list[str]:
    return list(judged(rows, **described)[0]["verdict"])


def against(rows: pd.DataFrame) -> list[Finding]:
    return [finding for check in CHECKS for finding in check(rows)]


def of_table(rows: pd.DataFrame, table: str) -> pd.DataFrame:
    return select(rows, table=table)


def beside(
    throughput: Sequence[float],
    delay: Sequence[float],
    power: Sequence[float] = (),
    ours: Sequence[tuple[float, float]] = (),
) -> pd.DataFrame:
    """A table of windows 1, 2, 4, ... in the form of `beside`; by default ours equals published."""
    windows = [2.0**i for i in range(len(throughput))]
    rows = pd.DataFrame({"parameter_window": windows, "row": range(len(windows))}).assign(
        table="001-windows",
        report="Report 001",
        controller="fixed_window",
        network="contest",
        replayable=True,
        **published.RAN,
    )
    printed = {THROUGHPUT: throughput, SIGNAL_DELAY: delay, POWER: power}
    rates, delays = zip(*(ours or zip(throughput, delay, strict=True)), strict=True)
    mine = {THROUGHPUT: rates, SIGNAL_DELAY: delays, POWER: 1e3 * np.divide(rates, delays)}
    for metric in METRICS:
        rows[f"published_{metric}"] = list(printed.get(metric, ())) or math.nan
        rows[f"ours_{metric}"] = mine.get(metric, math.nan)
        for name, factor in (("deviation", 0.002), ("low", 0.99), ("high", 1.01)):
            rows[f"{name}_{metric}"] = factor * rows[f"ours_{metric}"]
        rows[[f"host_low_{metric}", f"host_high_{metric}"]] = math.nan
    steps = {STEP + THROUGHPUT: 0.01, STEP + SIGNAL_DELAY: 1.0, STEP + POWER: 0.01}
    return published.compared(rows.assign(**steps))


def without_runs(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(**dict.fromkeys(OURS, math.nan))


# Findings of the audit -------------------------------------------------------------------------


def as_printed(ours: pd.DataFrame) -> pd.DataFrame:
    """Returns the printed rows beside honest runs of ours."""
    rows = ours.copy()
    there = published.printed().set_index(["table", "row"])
    for metric in (THROUGHPUT, SIGNAL_DELAY, POWER):
        keys = pd.MultiIndex.from_frame(rows[["table", "row"]])
        rows[f"published_{metric}"] = there[metric].reindex(keys).to_numpy()
    return published.compared(rows)


def test_the_rows_that_cannot_be_right_are_found_and_no_other() -> None:
    found, evidence = judged(as_printed(published.honest(1)))
    wrong = found[found["verdict"] == "contradicted"].set_index(["table", "row"])
    assert wrong["checks"].to_dict() == {
        ("001-aimd", 6): "neighbours, replay",
        ("001-delay-threshold", 2): "arithmetic",
        ("001-delay-threshold", 4): "neighbours, replay",
        ("001-delay-threshold", 11): "repetition, replay",
    }
    (arithmetic,) = records(select(evidence, kind="arithmetic"))
    assert (arithmetic["table"], arithmetic["row"]) == ("001-delay-threshold", 2)
    assert (arithmetic["low"], arithmetic["high"]) == pytest.approx((22.65, 22.82), abs=0.005)


MANY = int(os.environ.get("KNEEPOINT_AUDIT_SEEDS", "4"))
"""The number of seeds; KNEEPOINT_AUDIT_SEEDS=300 takes minutes."""


@pytest.mark.slow
def test_honest_tables_raise_no_alarm_in_many_seeds_and_few_where_they_replay_badly() -> None:
    assert [n for n in range(100, 100 + MANY) if against(published.honest(n))] == []
    badly = [published.honest(seed, mismatch=0.05) for seed in range(4)]
    assert sum(len(against(rows)) for rows in badly) <= 0.005 * sum(len(rows) for rows in badly)


# Planting wrong numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.75, 1.33])
@pytest.mark.parametrize("metric", [THROUGHPUT, SIGNAL_DELAY])
@pytest.mark.parametrize(
    "table", ["001-fixed-window", "004-fixed-window", "001-aimd", "004-bounded-aimd"]
)
def test_a_wrong_number_is_found_when_power_follows_from_it(
    table: str, metric: str, factor: float
) -> None:
    rows = of_table(published.honest(6), table)
    label = int(np.random.default_rng(2).choice(rows.index))
    values = {each: rows[f"published_{each}"][label] for each in (THROUGHPUT, SIGNAL_DELAY)}
    values[metric] *= factor
    values[POWER] = 1e3 * values[THROUGHPUT] / values[SIGNAL_DELAY]
    found = against(published.planted(rows, label, **values))
    assert rows["row"][label] in {each.row for each in found}


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_wrong_number_within_a_sweep_is_found_without_any_run(factor: float) -> None:
    rows = without_runs(of_table(published.honest(8), "004-fixed-window"))
    for label in (3, 12, 29):
        for metric in (THROUGHPUT, SIGNAL_DELAY):
            value = factor * rows[f"published_{metric}"][label]
            found = list(neighbours(published.planted(rows, label, **{metric: value})))
            assert {each.row for each in found} == {label}


def test_a_row_copied_from_another_is_found() -> None:
    rows = of_table(published.honest(9), "001-fixed-window")
    numbers = {m: rows[f"published_{m}"][3] for m in (THROUGHPUT, SIGNAL_DELAY, POWER)}
    (found,) = checks.repetitions(published.planted(rows, 12, **numbers))
    assert (found.row, found.check, found.metric) == (12, "repetition", SIGNAL_DELAY)
    assert found.more == {"other_row": 3, "other_ours": rows[f"ours_{SIGNAL_DELAY}"][3]}


# Each check -----------------------------------------------------------------------------------


def test_arithmetic_allows_what_rounding_hides() -> None:
    # 1.005 / 0.0995 and 0.995 / 0.1005 are the extremes for 1.00 and 100, plus half a digit. 1.00
    # may also be a truncated 1.0099.
    rows = beside([1.0] * 4, [100] * 4, [10.09, 10.13, 10.18, 9.80])
    assert [each.row for each in checks.arithmetic(rows)] == [2, 3]
    assert [(each.row, each.metric) for each in checks.truncations(rows)] == [(1, THROUGHPUT)]
    exact = dict.fromkeys((STEP + THROUGHPUT, STEP + SIGNAL_DELAY), 1e-5)
    mean = beside([4.12153], [98.86667], [41.68]).assign(**exact)  # a mean of ratios
    assert list(checks.arithmetic(mean)) == []
    assert len(list(checks.arithmetic(published.planted(mean, 0, power=41.60)))) == 1


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
    little = published.planted(beside([4.0], [200.0], [20.0]), 0, power=20.6)
    for each in (rows, without_runs(rows), little):
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
    throughput, delay, power = numbers
    found, evidence = judged(beside([throughput], [delay], [power]))
    assert found["verdict"].tolist() == ["reproduced"]
    assert list(select(evidence, kind="truncation")["metric"]) == [cut_off]


def test_a_dropped_zero_is_a_digit_but_a_shorter_great_number_is_none() -> None:
    rows = beside([4.99, 5, 5.01, 12], [900, 927, 972, 1200])
    rows[STEP + THROUGHPUT] = [0.01, 1.0, 0.01, 1.0]
    assert resolution(rows, THROUGHPUT).tolist() == [0.01, 0.01, 0.01, 1.0]


def test_a_repetition_is_no_evidence_of_a_full_link_and_without_runs_accuses_both() -> None:
    rows = beside([4.0, 5.0, 5.0], [100, 900, 900], ours=[(4.0, 100), (5.0, 898), (5.0, 905)])
    assert list(checks.repetitions(rows)) == []
    assert [each.row for each in checks.repetitions(without_runs(rows))] == [1, 2]


def test_two_tables_that_contradict_each_other() -> None:
    first = beside([2.25, 2.67], [175, 213], [12.84, 12.53])
    again = beside([math.nan] * 2, [math.nan] * 2, [11.79, 12.50]).assign(table="004-again")
    again["ours_power"] = first["ours_power"]
    (found,) = checks.conflicts(pd.concat([first, again], ignore_index=True))
    assert (found.table, found.row, found.metric) == ("004-again", 0, POWER)
    other = {"other_table": "001-windows", "other_row": 0, "other_published": 12.84}
    assert found.more == other


def test_a_jump_that_ours_makes_too_is_the_links() -> None:
    delay = [100, 110, 120, 130, 900, 410, 420, 430, 440, 450]
    throughput = [1.0 + 0.1 * i for i in range(10)]
    ours = [(rate, 0.8 * late) for rate, late in zip(throughput, delay, strict=True)]
    assert list(neighbours(beside(throughput, delay, ours=ours))) == []
    ours[4] = (1.4, 0.8 * 250)
    assert {each.row for each in neighbours(beside(throughput, delay, ours=ours))} == {4}
    ours[4] = (9.9, 0.8 * 250)  # without a neighbour of more throughput
    rows = beside(throughput, delay, ours=ours).drop(columns="parameter_window")
    assert list(neighbours(rows)) == []


def replayed(off: Sequence[float]) -> pd.DataFrame:
    """A table whose delays are ours times these factors; no two of its rows are neighbours."""
    rates, delays = 1.0 + 0.1 * np.arange(len(off)), 1000.0 + 100 * np.arange(len(off))
    rows = beside(list(rates), list(delays * off), ours=list(zip(rates, delays, strict=True)))
    return rows.drop(columns="parameter_window").assign(runs=MIN_RUNS)


def test_a_row_a_little_off_is_evidence_where_the_rest_of_its_table_is_near() -> None:
    def table(scatter: float, off: float, others: int = 10) -> pd.DataFrame:
        rest = [1 + scatter * (-1) ** i * i / 10 for i in range(others)]
        return replayed([*rest[:6], off, *rest[6:]])

    (found,) = checks.replays(table(0.004, 1.08))
    assert (found.row, found.metric) == (6, SIGNAL_DELAY)
    assert found.size == pytest.approx(math.log(1.08), abs=0.002)
    assert found.more["usual"] < 0.004
    assert 0 < found.more["p"] < LEVEL
    assert list(checks.replays(table(0.004, 1.04))) == []  # close to ours
    assert list(checks.replays(table(0.03, 1.08))) == []
    assert list(checks.replays(table(0.004, 1.08, others=4))) == []  # too few others


def test_a_number_that_another_host_explains_is_no_evidence() -> None:
    rows = replayed([*[1.0] * 10, 1.08])
    assert len(list(checks.replays(rows))) == 1
    for end, factor in (("low", 1.0), ("high", 1.1)):
        rows[f"host_{end}_{SIGNAL_DELAY}"] = factor * rows[f"ours_{SIGNAL_DELAY}"]
    assert list(checks.replays(rows)) == []


def test_a_row_nearer_to_ours_than_its_table_is_no_evidence() -> None:
    others = [
        1 / 0.57,
        1 / 0.56,
        1 / 0.565,
        1 / 0.57,
        1 / 0.56,
        1 / 0.565,
    ]  # our delay is 43 % less
    assert list(checks.replays(replayed([*others, 1 / 0.78, 1 / 0.75]))) == []
    found = {each.row: each.more["usual"] for each in checks.replays(replayed([*others, 6.0]))}
    assert found == {6: pytest.approx(0.435, abs=0.001)}  # relative to published, not a logarithm


def test_a_throughput_above_its_links_capacity_is_evidence() -> None:
    rows = beside([4.9, 5.2, 5.4], [100, 200, 300])
    assert list(checks.capacities(rows)) == []
    judgement, evidence = judged(rows.assign(capacity_mbps=5.0))
    (found,) = records(select(evidence, kind="capacity"))
    assert (found["row"], found["metric"], found["high"]) == (2, THROUGHPUT, 5.0)
    assert judgement["verdict"].tolist()[2] == "contradicted"
    assert "capacity_mbps" not in judgement


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
    kinds = evidence.groupby("row")["kind"].agg(list).tolist()
    both = ["difference"] * 2
    assert kinds == [both, both, [*both, "unstated", "remark"], ["no run"]]
    assert select(evidence, row=0)["metric"].tolist() == [THROUGHPUT, SIGNAL_DELAY]
    by_kind = evidence.set_index("kind")
    assert by_kind["parameters"]["unstated"] == ("keepalive_ms", "initial_window")
    assert by_kind["remark"]["remark"] == "its logs differ"
    fitted, evidence = judged(rows, fitted=("host_latency_us",))
    assert fitted["verdict"].tolist() == ["fitted"] * 3 + ["not comparable"]
    assert evidence.set_index("kind")["parameters"]["fitted"].tolist() == [("host_latency_us",)] * 3
    wrong = published.planted(beside([1.0, 2.0], [100, 200], [10.0, 10.0]), 1, power=11.0)
    assert verdicts(wrong, fitted=("host_latency_us",)) == ["fitted", "contradicted"]


@pytest.mark.parametrize(
    ("kind", "low", "explained"),
    [
        ("spread", [98, 205], True),
        ("spread", [101.2, math.nan], False),
        ("spread", [100.9, math.nan], True),  # 100 may be a truncated 100.9
        ("host", [95, 210], True),
    ],
)
def test_a_row_between_our_own_runs_or_on_a_host_that_fits_is_not_unexplained(
    kind: str, low: list[float], explained: bool
) -> None:
    rows = beside([1.0, 2.0], [100, 200], ours=[(1.0, 110), (2.0, 230)])
    prefix = "host_" if kind == "host" else ""
    for metric in (THROUGHPUT, SIGNAL_DELAY):
        for end in ("low", "high"):
            rows[f"{prefix}{end}_{metric}"] = rows[f"{end}_{metric}"]
    rows[f"{prefix}low_{SIGNAL_DELAY}"] = low
    said, evidence = judged(rows)
    first = "within our spread" if explained else "unexplained"
    assert said["verdict"].tolist() == [first, "unexplained"]
    pieces = records(select(evidence, kind=kind))
    found = [(each["row"], each["metric"], each["low"]) for each in pieces]
    assert found == [(0, SIGNAL_DELAY, low[0])] * explained


def test_a_verdict_is_clear_if_further_runs_would_not_change_it() -> None:
    rows = beside([1.0] * 4, [100, 100, 100, 130], ours=[(1.0, 100)] * 4)
    rows["sure"] = [1.0, 0.9, math.nan, 0.5]
    assert judged(rows)[0]["clear"].tolist() == [True, False, False, False]
    assert judged(rows, fitted=("alpha",))[0]["clear"].all()
    few = replayed([0.5, *[1.0] * 11])
    for runs in (MIN_RUNS - 1, MIN_RUNS):
        found, _ = judged(few.assign(runs=runs))
        assert found["checks"][0] == "replay"
        assert bool(found["clear"][0]) == (runs == MIN_RUNS)


def test_rows_that_were_selected_or_that_the_report_leaves_open_say_so() -> None:
    rows = beside([math.nan, math.nan], [math.nan, math.nan], [math.nan, 42.64])
    rows.loc[1, "replayable"] = False
    rows.loc[1, OURS] = math.nan
    _, evidence = judged(published.compared(rows), selected="best", selected_of=(3, 9))
    kinds = evidence.groupby("row")["kind"].agg(list).tolist()
    assert kinds == [["no number", "selected"], ["no parameters", "selected"]]
    told = select(evidence, kind="selected")[["remark", "low", "high"]]
    assert told.to_numpy().tolist() == [["best", 3, 9]] * 2


# Runs that are no evidence ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "row"), [*((name, 0) for name in LIMITS), ("loss", 5)])
def test_a_row_has_no_evidence_where_our_runs_flood_or_are_at_their_bound_or_stand_still(
    name: str, row: int
) -> None:
    rows = of_table(published.honest(6), "004-fixed-window")
    for beyond in (False, True):
        share = LIMITS[name] + (0.01 if beyond else -0.01)
        there = rows.assign(**{name: np.where(rows["row"] == row, share, 0.0)})
        found, evidence = judged(there, fitted=("host_latency_us",))
        assert set(found["verdict"].drop(index=row)) == {"fitted"}
        assert found["verdict"][row] == ("no evidence" if beyond else "fitted")
        assert found["clear"].all()
        pieces = records(select(evidence, row=row))
        assert not beyond or [(each["kind"], each["share"]) for each in pieces] == [
            (KINDS[name], share)
        ]


def test_runs_that_are_no_evidence_contradict_no_row_and_arithmetic_still_does() -> None:
    rows = replayed([1.0, 3.0, *[1.0] * 9])
    assert verdicts(rows)[1] == "contradicted"
    flooded = rows.assign(loss=np.where(rows["row"] == 1, 0.93, 0.0))
    assert verdicts(flooded) == ["reproduced", "no evidence", *["reproduced"] * 9]
    wrong = beside([4.0] * 2, [200.0] * 2, [20.0, 25.0]).assign(loss=0.93)
    found, evidence = judged(wrong)
    assert found["verdict"].tolist() == ["no evidence", "contradicted"]
    (arithmetic,) = records(select(evidence, kind="arithmetic"))
    assert arithmetic["remark"] == checks.UNSURE  # our runs do not determine the wrong number


def test_no_run_is_added_to_a_flood_and_it_moves_no_median() -> None:
    rows, pool = of_table(strangers.rows(), "903-windows"), strangers.pool()
    (first, *others) = [planted.setting_of(row) for row in records(rows)]
    assert first not in others
    for lost, verdict in ((0, "reproduced"), (9300, "no evidence")):
        of = planted.with_all(pool, first, packets_sent=10_000, packets_dropped=lost)
        found = planted.verdicts(rows, of, seed=3, wrong=False)
        assert found["verdict"][0] == verdict
        assert "no evidence" not in set(found["verdict"][1:])
        assert found["loss"].tolist() == pytest.approx([lost / 10_000, *[0.0] * len(others)])
    assert found["runs"][0] == planted.STUDIED


# The stage -----------------------------------------------------------------------------------


def test_what_fits_of_the_host_used_is_fitted() -> None:
    host = (Searched("host_latency_us", 0, 1000),)
    objective = Fit(fit=("004-fixed-window",))
    fit = synthetic.windows_study("fit", objective=objective, searched=host)
    trials = fit.trials.assign(parameter_host_latency_us=100.0 * fit.trials.index, value=1.0)
    trials.loc[3, "value"] = 0.1
    results = synthetic.results()
    results = results.but(studies=(*results.studies, replace(fit, trials=trials)))

    def verdicts(**host: float) -> "pd.Series[str]":
        replayed = results.but(hosts={synthetic.NETWORK: {**host, "host_wake_us": 50.0}})
        return synthetic.analysed(replayed, "audit")["audit"].set_index("table")["verdict"]

    fitted = verdicts(host_latency_us=300.0)
    assert set(fitted["004-fixed-window"]) == {"fitted"}
    assert set(fitted["001-fixed-window"]) == {"reproduced", "contradicted"}
    assert "fitted" not in set(verdicts(host_latency_us=600.0))


def test_a_replay_on_another_network_is_named_and_gives_no_verdict() -> None:
    tables = ("001-fixed-window",)
    there = synthetic.windows_study("there", range(5, 95, 5), compare=tables, networks=("lab",))
    there = replace(there, runs=there.runs.assign(network="lab"))
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
    rows = select(synthetic.published_rows(), table=table).drop(index=7)  # a planted error
    there = np.arange(len(rows)) % 2 == 1
    networks = (synthetic.NETWORK, "lab")
    rows["network"] = np.where(there, networks[1], networks[0])
    runs = [
        synthetic.run_row("fixed_window", {"window": w}, rate, ours, network=network)
        for w in range(5, 95, 5)
        for rate, delay in [synthetic.fixed_window(w)]
        for n in range(8)
        for network, ours in zip(networks, (delay * (1 + n / 1000), 3 * delay), strict=True)
    ]
    study = synthetic.study(table, runs, table=table, compare=tables, networks=networks)
    found = synthetic.analysed(synthetic.MadeUp(published=rows, studies=[study]), "audit")
    audited = found["audit"].sort_values("row")
    assert audited["network"].tolist() == rows["network"].tolist()
    assert set(audited["runs"]) == {8} and set(audited["sure"]) == {1.0}
    assert set(audited["agreement"][~there]) == {"reproduced"}
    assert set(audited["agreement"][there]) == {"off"}
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
    assert (pieces["kind"][0], pieces["remark"][0]) == ("failed", failed["reason"])
    assert pieces["kind"][1] == "no run"


def of_audit(
    numbers: dict[str, tuple[float, float]], wrong: str = "", verdict: str = "contradicted"
) -> Record:
    """A row of the table audit: published and our numbers, by metric."""
    found: Record = {"wrong": wrong, "verdict": verdict}
    for metric in METRICS:
        published, ours = numbers.get(metric, (float("nan"), float("nan")))
        found |= {f"published_{metric}": published, f"ours_{metric}": ours}
    return found


def test_the_worst_row_is_the_farthest_by_its_wrong_number() -> None:
    near = of_audit({POWER: (10, 11), SIGNAL_DELAY: (100, 900)}, POWER)
    far = of_audit({POWER: (10, 10), SIGNAL_DELAY: (820, 237)}, SIGNAL_DELAY)
    above = of_audit({THROUGHPUT: (1, 100)}, THROUGHPUT, "unexplained")
    found = worst([near, far, above])
    assert found is not None and found["metric"] == SIGNAL_DELAY and found["wrong"] == SIGNAL_DELAY
    unclear = worst([near, of_audit({POWER: (10, 10.1), THROUGHPUT: (1, 5)})])
    assert unclear is not None and unclear["metric"] == THROUGHPUT
    assert worst([above]) is None

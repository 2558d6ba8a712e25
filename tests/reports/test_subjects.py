import dataclasses
import math

import pytest

from reports import discover
from reports.collect import Results, Study
from tests.reports import synthetic


def test_sweeps_join_the_studies_of_one_constant() -> None:
    (sweep,) = discover.sweeps(synthetic.results())
    assert (sweep.controller, sweep.constant, sweep.unit) == ("fixed_window", "window", "packets")
    assert len(sweep.studies) == 3
    assert sweep.reports == ["001-fixed-window", "004-fixed-window"]
    assert len(sweep.published) == 18 + 33
    assert sweep.best_value == 16
    assert sweep.best.value == sweep.curve["power"].max()
    assert sweep.best_value not in sweep.tied_values
    assert set(sweep.tied_values) <= set(sweep.curve["value"])


def test_sweeps_keep_apart_what_was_held_at_other_values() -> None:
    def study(name: str, keepalive_ms: int) -> Study:
        runs = [
            synthetic.run_row("c", {"window": w, "keepalive_ms": keepalive_ms}, w, 100.0)
            for w in range(1, 9)
        ]
        return synthetic.study(name, runs)

    results = Results(studies=(study("a", 80), study("b", 1000)))
    assert [len(sweep.curve) for sweep in discover.sweeps(results)] == [8, 8]
    assert len({sweep.key for sweep in discover.sweeps(results)}) == 2


def test_sweeps_leave_fits_and_searches_of_several_constants_out() -> None:
    fit = synthetic.windows_study(fit=("001-fixed-window",))
    assert list(discover.sweeps(Results(studies=(fit, synthetic.tpe_study())))) == []


def test_without_repeats_nothing_is_known_of_ties() -> None:
    results = dataclasses.replace(synthetic.results(), repeats=(), hold_out=None)
    (sweep,) = discover.sweeps(results)
    assert math.isnan(sweep.best.margin)
    assert sweep.tied_values == []


def test_grids_average_over_what_the_table_leaves_unsaid() -> None:
    (grid,) = discover.grids(synthetic.results())
    assert (grid.x, grid.y) == ("additive_increase", "decrease_factor")
    assert list(grid.others) == ["initial_window"]
    assert grid.others["initial_window"]["value"].unique().tolist() == [2, 10]
    assert grid.ours.shape == (4, 5)
    assert grid.published is not None
    assert grid.relative is not None
    assert grid.published.to_numpy()[0, 0] == 18.6
    assert grid.relative.to_numpy()[0, 0] == pytest.approx(grid.ours.to_numpy()[0, 0] / 18.6 - 1)


def test_grids_without_a_table_show_ours_alone() -> None:
    rows = [
        synthetic.run_row("c", {"a": a, "b": b}, a + b, 100.0) for a in (1, 2) for b in (1, 2, 3)
    ]
    (grid,) = discover.grids(Results(studies=(synthetic.study("pairs", rows),)))
    assert grid.published is None
    assert grid.relative is None
    assert (grid.y, grid.x) == ("a", "b")


def test_grids_need_every_pair() -> None:
    rows = [synthetic.run_row("c", {"a": a, "b": a}, a, 100.0) for a in (1, 2, 3)]
    assert list(discover.grids(Results(studies=(synthetic.study("line", rows),)))) == []


def test_searches_are_studies_that_learn() -> None:
    found = {search.key: search for search in discover.searches(synthetic.results())}
    assert set(found) == {"best_window", "delay_tpe"}
    assert found["best_window"].best_constants == {"window": 16}
    assert found["delay_tpe"].history["value"].isna().sum() == 2


def test_brackets_begin_with_the_range_searched() -> None:
    search = next(iter(discover.searches(synthetic.results())))
    first, last = search.brackets.iloc[0], search.brackets.iloc[-1]
    assert (first["low"], first["high"]) == (search.searched[0].low, search.searched[0].high)
    assert first["low"] < last["low"] < 16 < last["high"] < first["high"]


def test_a_fit_has_its_best_at_the_least() -> None:
    fit = synthetic.ternary_study(fit=("001-fixed-window",))
    (search,) = discover.searches(Results(studies=(fit,)))
    assert search.best_trial["value"] == fit.trials["value"].min()


def test_comparison_has_every_published_row_of_compared_tables_once() -> None:
    compared = discover.reports_compared(synthetic.results())
    assert compared is not None
    assert len(compared.rows) == 18 + 33 + 20
    assert compared.rows["runs"].min() >= 1
    off = compared.rows[compared.rows["table"] == "001-fixed-window"]["within"] == False  # noqa: E712
    assert off.sum() == 1  # the one whose delay was made wrong
    assert compared.rows[compared.rows["table"] == "001-fixed-window"].loc[off, "row"].tolist() == [
        7
    ]


def test_nothing_gives_nothing() -> None:
    empty = Results()
    assert discover.sweeps(empty) == ()
    assert discover.grids(empty) == ()
    assert discover.searches(empty) == ()
    assert discover.repetition(empty) is None
    assert discover.one_run(empty) is None
    assert discover.comparisons(empty) == ()

"""Statistics of settings on held-out networks, worked by hand; their sections and figures."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from reports import discover, hold_out, sections
from reports.collect import Results
from reports.content import Paragraph, Section, Table
from reports.figures import held_out_gain, held_out_map, held_out_ranks, plan, style
from reports.labels import DASH
from reports.metrics import METRICS
from reports.subjects import HeldOut
from tests.reports import synthetic
from tests.reports.test_render import PROVENANCE

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
RELATIVE = hold_out.relative_power(runs_of(POWERS), NETWORKS)


def test_relative_power_is_the_mean_over_the_bound() -> None:
    assert RELATIVE["relative"].tolist() == pytest.approx([0.2, 0.1, 0.4, 0.3, 0.04, 0.4])
    assert RELATIVE["runs"].tolist() == [2] * 6


def test_relative_power_of_a_failed_run_is_none() -> None:
    runs = runs_of({0: {"here": (20.0, 40.0), "slow": (1.0,), "fast": (1.0,)}})
    runs.loc[0, "status"], runs.loc[0, "power"] = "failed", math.nan
    assert hold_out.relative_power(runs, NETWORKS)["relative"][0] == pytest.approx(0.2)


def test_scores_are_geometric_means_over_the_held_out_networks() -> None:
    scored = hold_out.scores(RELATIVE, NETWORKS)
    assert scored["training"].tolist() == pytest.approx([0.2, 0.3])
    assert scored["held_out"].tolist() == pytest.approx([math.sqrt(0.04), math.sqrt(0.016)])


def test_scores_are_zero_where_a_network_defeats_a_setting() -> None:
    powers = {0: {"here": (20.0,), "slow": (0.0,), "fast": (500.0,)}}
    relative = hold_out.relative_power(runs_of(powers), NETWORKS)
    assert hold_out.scores(relative, NETWORKS)["held_out"].tolist() == [0]


def test_standings_rank_both_ways_and_count_the_places_lost() -> None:
    settings = settings_of(*[("c", "tuned", True, str(i)) for i in range(4)])
    scored = pd.DataFrame(
        {
            "trial": [0, 1, 2, 3],
            "training": [0.1, 0.4, 0.3, 0.2],
            "held_out": [0.2, 0.05, 0.1, 0.1],
        }
    )
    table = hold_out.standings(settings, scored)
    assert table["trial"].tolist() == [1, 2, 3, 0]
    assert table["training_rank"].tolist() == [1, 2, 3, 4]
    assert table["held_out_rank"].tolist() == [4, 2, 2, 1]
    assert table["gap"].tolist() == [3, 0, -1, -3]


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
    found = hold_out.rank_correlation(pd.Series(one), pd.Series(other))
    assert found == pytest.approx(correlation, nan_ok=True)


def test_distinct_settings_keep_the_best_of_equals_and_say_where_it_comes_from() -> None:
    table = hold_out.distinct_settings(
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
    (gain,) = hold_out.gains(PAIR, RELATIVE, runs_of(POWERS), NETWORKS).to_dict("records")
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
    relative = hold_out.relative_power(runs, NETWORKS)
    (gain,) = hold_out.gains(PAIR, relative, runs, NETWORKS).to_dict("records")
    assert gain[f"{('published', 'tuned')[origin]}_power"] == 0
    if origin == 0:
        assert math.isnan(gain["training_gain"])
        assert math.isnan(gain["held_out_gain"])
    else:
        assert gain["training_gain"] == gain["held_out_gain"] == -1


def test_gains_of_a_controller_without_a_published_row_are_missing() -> None:
    table = hold_out.gains(PAIR[1:], RELATIVE, runs_of(POWERS), NETWORKS)
    assert table["tuned_power"].tolist() == [30]
    for column in ("training_gain", "margin", "held_out_gain", "published_power", "better"):
        assert table[column].isna().tolist() == [True]
    assert hold_out.gains(PAIR[:1], RELATIVE, runs_of(POWERS), NETWORKS).empty


def test_best_printed_takes_the_reports_at_their_word() -> None:
    published = pd.DataFrame(
        {
            "controller": ["a", "a", "a", "b", "a", "c"],
            "network": ["here"] * 4 + ["there", "here"],
            "table": ["one", "one", "two", "two", "three", "four"],
            "row": [0, 1, 0, 1, 0, 0],
            "power": [3.0, 9.0, 9.0, 4.0, 99.0, math.nan],
        }
    )
    best = hold_out.best_printed(published, "here")
    assert best.index.tolist() == ["a", "b"]
    assert best[["table", "row", "power"]].to_numpy().tolist() == [["one", 1, 9.0], ["two", 1, 4.0]]
    assert hold_out.best_printed(pd.DataFrame({"table": []}), "here").empty


# What the report makes of it -------------------------------------------------------------------


@pytest.fixture(scope="module")
def held() -> HeldOut:
    found = discover.held_out(synthetic.results())
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def _house() -> "object":
    with style.house():
        yield


def drawn_texts(figure: Figure, axes: int) -> list[str]:
    return [text.get_text() for text in figure.axes[axes].texts]


def test_held_out_orders_by_power_on_the_training_network(held: HeldOut) -> None:
    assert held.standings["label"].tolist() == [
        "Delay threshold, tuned",
        "Delay threshold, published",
        "AIMD RTT, tuned",
        "Fixed window, both",
    ]
    assert held.relative.columns.tolist() == ["contest", "slow", "fast"]
    assert held.relative.iloc[0].tolist() == pytest.approx([27 / 157.5, 0.12, 0.072], rel=1e-4)
    assert (held.training, held.repeats, held.runs) == ("Verizon LTE, short", 3, 5 * 9 + 3)
    assert len(held.settings) == 5


def test_runs_of_settings_tell_how_much_chance_does_where_nothing_else_is_repeated() -> None:
    results = synthetic.results()
    # Trials 1 and 2 are the same runs: three of them, as of each of the others.
    found = discover.luck(dataclasses.replace(results, repeats=()), "fixed_window", "contest")
    assert (found.degrees, round(found.cv, 5)) == (2, 0.004)
    found = discover.luck(results, "delay_threshold", "contest")
    assert (found.degrees, round(found.cv, 5)) == (4, 0.004)


def test_labels_name_the_study_where_several_tuned_a_controller() -> None:
    results = synthetic.results()
    assert results.hold_out is not None
    settings = results.hold_out.settings.copy()
    settings["controller"] = settings["controller"].replace("aimd_rtt", "delay_threshold")
    changed = dataclasses.replace(results.hold_out, settings=settings)
    found = discover.held_out(dataclasses.replace(results, hold_out=changed))
    assert found is not None
    assert found.standings["label"].tolist()[::2] == [
        "Delay threshold, tuned by delay_tpe",
        "Delay threshold, tuned by aimd_grid",
    ]


def test_map_prints_every_cell_and_the_mean(held: HeldOut) -> None:
    figure = held_out_map.draw(held)
    assert [len(drawn_texts(figure, axes)) for axes in range(3)] == [4, 8, 4]
    assert drawn_texts(figure, 0)[0] == "17"
    assert drawn_texts(figure, 1)[:2] == ["12", "7.2"]
    assert drawn_texts(figure, 2)[0] == "9.3"  # sqrt(12 * 7.2)
    columns = [text.get_text() for text in figure.axes[1].get_xticklabels()]
    assert columns == ["A slow link", "A fast link"]
    colours = np.asarray(figure.axes[1].collections[0].get_array()).reshape(4, 2)
    assert colours.max(axis=0).tolist() == [1, 1]


def test_gain_draws_an_arrow_for_each_controller_with_both(held: HeldOut) -> None:
    figure = held_out_gain.draw(held)
    published, tuned = figure.axes[0].lines
    assert len(np.asarray(published.get_xdata())) == 2
    assert len(np.asarray(tuned.get_xdata())) == 3
    arrows = [text for text in figure.axes[0].texts if not text.get_text()]
    assert len(arrows) == 1
    names = [text.get_text() for text in figure.axes[0].texts if text.get_text()]
    assert names == ["Delay threshold", "AIMD RTT", "Fixed window"]


def test_ranks_join_both_places_of_every_setting(held: HeldOut) -> None:
    figure = held_out_ranks.draw(held)
    ends = [list(np.asarray(line.get_ydata())) for line in figure.axes[0].lines]
    assert ends == [[0, 3], [1, 0], [2, 2], [3, 1]]
    assert "Delay threshold, tuned  1" in drawn_texts(figure, 0)
    assert "4  Delay threshold, tuned" in drawn_texts(figure, 0)


def test_two_settings_have_no_figure_of_ranks(held: HeldOut, tmp_path: Path) -> None:
    few = dataclasses.replace(held, standings=held.standings[:2])
    assert [drawing.kind.name for drawing in plan(few, tmp_path)] == [
        "held-out-map",
        "held-out-gain",
    ]


def composed(results: Results, folder: Path) -> dict[str, Section]:
    context = sections.Context(results, PROVENANCE, folder)
    return {section.name: section for section in sections.compose(context)}


def text_of(section: Section) -> str:
    return " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))


def table_of(section: Section, name: str) -> Table:
    return next(b for b in section.blocks if isinstance(b, Table) and b.name == name)


def test_sections_say_what_was_gained_and_what_holds(tmp_path: Path) -> None:
    report = composed(synthetic.results(), tmp_path)
    tuning, held = report["tuning"], report["held-out"]
    assert "**Tuning raised the power of 1 of 2 beyond chance**, by 22.7" in text_of(tuning)
    assert "2.0\N{NO-BREAK SPACE}% more power than they have again" in text_of(tuning)
    powers = table_of(tuning, "tuning-powers").rows
    assert [row[0] for row in powers] == ["Fixed window", "Delay threshold", "AIMD RTT"]
    assert powers[0][-1].startswith("0.0 ± ")
    assert powers[1][-1].startswith("+22.7 ± ")
    assert powers[2][3:5] == (DASH, DASH)
    assert powers[2][-1] == DASH
    constants = table_of(tuning, "tuning-constants").rows
    assert constants[1][1] == "alpha 1, beta 10, RTT threshold 100 ms"
    assert "of 2 tuned settings, 0 do better" in text_of(held)
    assert "1 worse (delay threshold)" in text_of(held)
    assert "Delay threshold, tuned, first on the training network, is 4th of 4" in text_of(held)
    assert len(table_of(held, "held-out-networks").rows) == 3
    assert table_of(held, "held-out-standings").rows[0][-2] == "+3"


def test_sections_do_without_published_rows(tmp_path: Path) -> None:
    results = synthetic.results()
    assert results.hold_out is not None
    tuned = results.hold_out.settings[results.hold_out.settings["origin"] == "tuned"]
    runs = results.hold_out.runs[results.hold_out.runs["trial"].isin(tuned["trial"])]
    alone = dataclasses.replace(results.hold_out, settings=tuned, runs=runs)
    report = composed(dataclasses.replace(results, hold_out=alone), tmp_path)
    assert "No published row of these controllers was replayed." in text_of(report["tuning"])
    assert "In the median" not in text_of(report["held-out"])


def test_without_hold_out_there_are_no_such_sections(tmp_path: Path) -> None:
    report = composed(dataclasses.replace(synthetic.results(), hold_out=None), tmp_path)
    assert {"tuning", "held-out"}.isdisjoint(report)


@pytest.mark.parametrize("origin", ["published", "tuned"])
def test_settings_that_fail_everywhere_are_in_the_report(origin: str, tmp_path: Path) -> None:
    results = synthetic.results()
    assert results.hold_out is not None
    chosen = results.hold_out.settings.query("best and origin == @origin")["trial"]
    runs = results.hold_out.runs.copy()
    failed = runs["trial"].isin(chosen)
    runs.loc[failed, "status"], runs.loc[failed, "reason"] = "failed", "the window is nan"
    runs.loc[failed, list(METRICS)] = math.nan
    results = dataclasses.replace(
        results, hold_out=dataclasses.replace(results.hold_out, runs=runs)
    )
    report = composed(results, tmp_path)
    powers = table_of(report["tuning"], "tuning-powers").rows
    told = {row[3 if origin == "published" else 5] for row in powers}
    assert "0.00" in told
    assert told <= {"0.00", "0.00 ± 0.00", DASH}
    assert "failed" in text_of(report["exclusions"])

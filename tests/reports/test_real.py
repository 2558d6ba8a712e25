import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reports import discover, discover_real, labels, render, tables
from reports.collect import Real, Results
from reports.content import Paragraph, Picture, Report, Table
from reports.figures import agreement, probe, style, waits
from reports.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from tests.reports import synthetic, synthetic_real
from tests.reports.test_render import Page, text_of, whole

RESULTS = synthetic_real.results()
REAL = [
    "real",
    "agreement",
    "confirmation",
    "real-repeatability",
    "real-searches",
    "one-real-run",
]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("figures")
    return whole(RESULTS, folder), folder


def names(report: Report) -> list[str]:
    return [section.name for section in report.sections]


def table_of(report: Report, name: str) -> Table:
    found = (block for section in report.sections for block in section.blocks)
    return next(block for block in found if isinstance(block, Table) and block.name == name)


# What is found --------------------------------------------------------------------------------


def test_real_results_mix_with_no_other_section() -> None:
    emulated = synthetic.results()
    assert len(discover.searches(RESULTS)) == len(discover.searches(emulated))
    assert len(discover.sweeps(RESULTS)) == len(discover.sweeps(emulated))
    repeated, real = discover.repetition(RESULTS), discover_real.real_repetition(RESULTS)
    assert repeated is not None
    assert real is not None
    assert (repeated.key, repeated.is_real) == ("all", False)
    assert (real.key, real.is_real) == ("real", True)
    assert not set(real.runs["engine"]) & set(repeated.runs["engine"])


def test_agreement_names_settings_by_what_differs() -> None:
    found = discover_real.agreement(RESULTS)
    assert found is not None
    assert found.settings["label"].tolist() == [
        "fixed window 5",
        "fixed window 12",
        "fixed window 40",
        "delay threshold 10",
        "delay threshold 7",
        "delay threshold tuned",
        "rocinante tuned",
    ]
    assert found.varied["delay_threshold"] == ("beta",)
    assert found.accuracy.settings == 5
    assert found.accuracy.controllers == 3


def test_agreement_tells_two_tuned_settings_apart() -> None:
    confirmation = synthetic_real.confirmation()
    origins = pd.Series([("listed",)] * 4 + [("tuned",)] * 3)
    settings = confirmation.settings.assign(origins=origins)
    real = synthetic_real.real(confirmation=replace(confirmation, settings=settings))
    found = discover_real.agreement(Results(real=real))
    assert found is not None
    assert found.settings["name"][4:6].tolist() == ["1/7/100", "1/6.432/100"]


def test_agreement_lists_what_lies_outside() -> None:
    emulated = synthetic_real.runs(30, seed=4)
    emulated.loc[emulated["trial"] == 3, THROUGHPUT] *= 1.05
    found = discover_real.agreement(synthetic_real.results(emulated=emulated))
    assert found is not None
    outside = found.outside
    assert (outside["label"] == "delay threshold 10").any()
    assert (outside.loc[outside["metric"] == THROUGHPUT, "label"] == "delay threshold 10").all()
    assert set(outside.loc[outside["metric"] == THROUGHPUT, "why"]) == {"unexplained"}


def test_contradicted_rows_are_confirmed_by_real_runs() -> None:
    rows = discover_real.contradicted_rows(RESULTS)
    assert rows["row"].tolist() == ["001 fixed window 40"]
    assert rows["metric"].tolist() == [SIGNAL_DELAY]
    assert rows["verdict"].tolist() == ["yes"]


def test_best_settings_know_what_was_published() -> None:
    rows = discover_real.best_settings(RESULTS)
    assert rows["origin"].tolist() == ["published", "tuned", "published", "tuned", "tuned"]
    published = synthetic.published_rows()
    row = published[(published["table"] == "004-fixed-window") & (published["row"] == 3)].iloc[0]
    assert rows["published"][0] == row[POWER]
    assert rows["published"][1:].isna().all()


def test_emulated_spread_matches_by_constants() -> None:
    real = discover_real.real_repetition(RESULTS)
    assert real is not None
    emulated = pd.DataFrame(
        [
            synthetic.run_row("fixed_window", {"window": w}, 2.3, 177 + run, run=run)
            for w in (12, 15)
            for run in range(4)
        ]
    )
    with_emulated = synthetic_real.results(emulated=emulated)
    spread = discover_real.emulated_spread(with_emulated, real)
    assert set(spread["setting"]) == {"windows:0"}
    assert set(spread["n"]) == {4}
    assert discover_real.emulated_spread(synthetic_real.results(emulated=None), real).empty


# What is shown --------------------------------------------------------------------------------


def test_report_has_the_real_sections(drawn: tuple[Report, Path]) -> None:
    report, folder = drawn
    assert [name for name in names(report) if name in REAL] == REAL
    html = render.to_html(render.document(report, "v"), folder)
    assert {r[1:] for r in Page(html).references if r.startswith("#")} <= set(Page(html).ids)
    assert render.to_pdf(render.document(report, "v"), folder).startswith(b"%PDF")


def test_report_says_what_was_run_for_real(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    told = text_of(report, "real")
    assert "7 settings of 3 controllers ran 3 times each: 2 for calibration" in told
    assert "1 run had to be repeated because the host was too busy" in told
    assert "1 run failed ({failed-runs})" in told
    assert "8 real runs at once" in told
    assert "with 16 at once throughput_mbps is 3.5" in told.replace("\ue000", "")
    assert "2 fixed windows, and to nothing else: host latency 0 µs, host wake mean 50 µs" in told
    assert "differs by 0.52\xa0% between runs" in told
    assert "A deviation of its logarithm of 0.3 comes nearest, with 0.49\xa0%" in told
    table = table_of(report, "wake-spread")
    assert table.strong == {1}
    assert [row[1:] for row in table.rows] == [("0.10", "0.52"), ("0.49", "0.52"), ("0.81", "0.52")]


def test_windows_that_ran_once_tell_nothing_of_differences(tmp_path: Path) -> None:
    alone = synthetic_real.spread().head(1).assign(real_deviation=math.nan, is_best=True)
    report = whole(Results(real=synthetic_real.real(spread=alone)), tmp_path)
    assert "Each window ran only once" in text_of(report, "real")
    assert table_of(report, "wake-spread").rows == (("0", "0.10", labels.DASH),)


def test_report_judges_agreement_by_what_was_not_fitted(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    told = text_of(report, "agreement")
    assert "Over the 5 settings of 3 controllers that the host was not fitted to" in told
    assert "is reached" in told
    table = table_of(report, "agreement-throughput")
    assert [row[0] for row in table.rows[:4]] == [
        "**Fixed\N{NO-BREAK SPACE}window**",
        "5",
        "12",
        "40",
    ]
    assert table.rows[1][1] == "calibration"
    assert table.muted >= {1}
    assert any("7 settings also ran in real mahimahi" in text for text in report.abstract)


def test_report_lists_failed_real_runs(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    rows = table_of(report, "failed-runs").rows
    assert ("confirm", "rocinante") in {row[:2] for row in rows}


def test_report_sets_real_repeats_beside_published_and_emulated(
    drawn: tuple[Report, Path],
) -> None:
    report, _ = drawn
    table = table_of(report, "real-repeatability-table")
    powers = [row for row in table.rows if row[1] == "Power, Mbit/s/s" or not row[1]]
    assert [row[2] for row in table.rows[-2:]] == ["Report 000, Table 1", "real mahimahi"]
    assert powers[0][3:6] == ("10", "12.868", "0.0460")


def test_real_figures_say_that_they_are_real(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    pictures = {
        block.name: block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Picture)
    }
    for name in (
        "rate-over-time-real-fixed_window",
        "delay-over-time-real-fixed_window",
        "repeatability-real",
        "search-bracket-real-best-window",
    ):
        assert pictures[name].title.endswith("in real mahimahi")
        emulated = pictures[
            name.replace("real-", "").replace("-real", "-all").replace("t-w", "t_w")
        ]
        assert "real" not in emulated.title + emulated.caption


@pytest.mark.parametrize(
    ("left_out", "sections"),
    [
        (("probe", "calibration", "spread"), REAL),
        (("emulated", "calibration", "spread"), REAL),
        (("confirmation", "emulated", "calibration", "spread"), [REAL[0], *REAL[3:]]),
    ],
)
def test_report_takes_in_what_is_there(
    left_out: tuple[str, ...], sections: list[str], tmp_path: Path
) -> None:
    real = synthetic_real.real(**dict.fromkeys(left_out))
    results = Results(published=synthetic.published_rows(), real=real)
    report = whole(results, tmp_path)
    assert [name for name in names(report) if name in REAL] == sections
    document = render.document(report, "v")
    assert render.to_html(document, tmp_path)
    assert render.to_pdf(document, tmp_path)
    tables.write_tables(results, tmp_path / "tables")


def test_report_without_real_runs_says_how_to_make_them(tmp_path: Path) -> None:
    missing = Real(Results(engine="mahimahi"), missing=("real-best-window", "confirm"))
    report = whole(Results(real=missing), tmp_path)
    assert names(report) == ["exclusions", "provenance"]
    told = text_of(report, "exclusions")
    assert "Those of `real-best-window` and `confirm` were not made; `make confirm` makes" in told


def test_report_without_real_runs_says_nothing_where_none_are_asked_for(tmp_path: Path) -> None:
    report = whole(Results(), tmp_path)
    assert "mahimahi" not in text_of(report, "exclusions")


def test_report_lists_and_explains_what_lies_outside(tmp_path: Path) -> None:
    emulated = synthetic_real.runs(30, seed=4)
    emulated.loc[emulated["trial"] == 3, [THROUGHPUT, POWER]] *= 1.05
    emulated.loc[emulated["trial"] == 5, [THROUGHPUT, POWER]] *= 1.007
    confirmation = synthetic_real.confirmation()
    confirmation.runs.loc[confirmation.runs["trial"] == 3, "scheduling_delay_p99_us"] = 900.0
    real = synthetic_real.real(emulated=emulated, confirmation=confirmation)
    report = whole(Results(real=real), tmp_path)
    table = table_of(report, "agreement-outside")
    rows = {(row[0].replace("\xa0", " "), row[1]): row for row in table.rows}
    busier = rows["delay threshold 10", "Throughput"]
    assert busier[4:] == ("+5.0\xa0%", "0.90", labels.DASH, "a busier host")
    assert rows["delay threshold tuned", "Throughput"][7] == "within the goal"
    assert "real means, of four metrics each, lie outside" in text_of(report, "agreement")


@pytest.mark.parametrize(("factor", "why"), [(1.05, "not seen again"), (1.0, labels.DASH)])
def test_further_runs_tell_chance_from_what_lasts(tmp_path: Path, factor: float, why: str) -> None:
    """The emulator is off by 5 %; three further runs of the setting are as it says, or are not."""
    emulated = synthetic_real.runs(30, seed=4)
    emulated.loc[emulated["trial"] == 3, [THROUGHPUT, POWER]] *= 1.05
    again = synthetic_real.runs(3, seed=5, factor=factor)
    again = again[again["trial"] == 3]
    report = whole(Results(real=synthetic_real.real(emulated=emulated, again=again)), tmp_path)
    rows = {
        (row[0].replace("\xa0", " "), row[1]): row
        for row in table_of(report, "agreement-outside").rows
    }
    *_, mean, reason = rows["delay threshold 10", "Throughput"]
    assert reason == why
    assert float(mean) == pytest.approx(3.85 * factor, rel=0.01)
    assert "1 setting that nothing else explains ran again" in text_of(report, "agreement")


def test_agreement_without_the_emulator_says_so(tmp_path: Path) -> None:
    real = synthetic_real.real(emulated=None, calibration=None)
    report = whole(Results(real=real), tmp_path)
    assert "has not been calibrated" in text_of(report, "agreement")
    section = next(section for section in report.sections if section.name == "agreement")
    assert not any(isinstance(block, Picture) for block in section.blocks)


def test_what_was_only_fitted_is_not_judged(tmp_path: Path) -> None:
    confirmation = synthetic_real.confirmation()
    fitted = confirmation.settings.head(1)
    real = synthetic_real.real(confirmation=replace(confirmation, settings=fitted))
    report = whole(Results(real=real), tmp_path)
    paragraphs = text_of(report, "agreement")
    assert "none is left to judge agreement by" in paragraphs


# The figures ----------------------------------------------------------------------------------


def test_agreement_figure_has_a_line_a_setting_and_a_heading_a_controller() -> None:
    found = discover_real.agreement(RESULTS)
    assert found is not None
    with style.house():
        figure = agreement.draw(found)
    throughput, delay = figure.axes
    texts = [text.get_text() for text in throughput.get_yticklabels()]
    controllers = ["Fixed window", "Delay threshold", "Rocinante"]
    assert sorted(texts) == sorted([*controllers, "5", "12", "40", "10", "7", "tuned", "tuned"])
    real = [line for line in throughput.lines if line.get_label() == "real mahimahi"]
    assert len(real) == len(found.settings)
    assert {tuple(map(float, np.ravel(line.get_xdata()))) for line in real} == {(0.0,)}
    assert throughput.get_ylim() == delay.get_ylim()


def test_agreement_figure_colours_what_lies_outside() -> None:
    emulated = synthetic_real.runs(30, seed=4, factor=1.05)
    found = discover_real.agreement(synthetic_real.results(emulated=emulated))
    assert found is not None
    with style.house():
        throughput, _ = agreement.draw(found).axes
    labels = [bar.get_label() for bar in throughput.collections]
    assert labels.count("emulator, outside") == len(found.settings)


def test_agreement_figure_keeps_one_wide_bar_from_hiding_the_others() -> None:
    emulated = synthetic_real.runs(30, seed=4)
    emulated.loc[(emulated["trial"] == 6) & (emulated["run"] % 2 == 0), THROUGHPUT] *= 2
    found = discover_real.agreement(synthetic_real.results(emulated=emulated))
    assert found is not None
    with style.house():
        throughput, _ = agreement.draw(found).axes
    assert throughput.get_xlim()[1] < 10


def test_probe_figure_marks_the_slots() -> None:
    found = discover_real.probing(RESULTS)
    assert found is not None
    with style.house():
        figure = probe.draw(found)
    assert len(figure.axes) == 3
    for axes in figure.axes:
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["1", "2", "4", "8", "16"]
        assert any(np.array_equal(line.get_xdata(), [8, 8]) for line in axes.lines)
    caption = probe.FIGURE.caption(found)
    assert "above 5 ms" in caption
    assert "8 slots" in caption


def test_probe_figure_does_without_scheduling_delays() -> None:
    whole_probe = synthetic_real.probe()
    runs = whole_probe.runs.assign(scheduling_delay_p99_us=None)
    found = discover_real.probing(synthetic_real.results(probe=replace(whole_probe, runs=runs)))
    assert found is not None
    with style.house():
        assert probe.draw(found).axes


def test_waits_are_told_and_drawn_from_the_commonest_to_the_rarest() -> None:
    found = discover_real.waiting(RESULTS)
    assert found is not None
    assert found.runs == 8
    assert found.exceeded_us(2) == pytest.approx(19)
    assert math.isnan(found.exceeded_us(8192))
    with style.house():
        (axes,) = waits.draw(found).axes
    line = axes.lines[0]
    assert np.allclose(line.get_xdata(), [0.01 * 1.9**k for k in range(11)])
    assert np.allclose(line.get_ydata(), [1 / 2**k for k in range(11)])
    low, high = axes.get_xlim()
    assert low < 0.8 * 0.01
    assert high > 1.5 * 0.01 * 1.9**10


def test_section_says_how_rare_the_long_waits_are(drawn: tuple[Report, Path]) -> None:
    (said,) = said_of_waits(drawn[0])
    assert "every second datagram waited 19 µs or longer" in said
    assert "one in 128 at least 0.89 ms and one in 1024 at least 6.1 ms (" in said
    assert "nan" not in said


@pytest.mark.parametrize("nothing", [None, synthetic_real.delays().head(0)])
def test_without_waits_the_report_does_without_them(
    tmp_path: Path, nothing: pd.DataFrame | None
) -> None:
    assert said_of_waits(whole(synthetic_real.results(delays=nothing), tmp_path)) == []


def said_of_waits(report: Report) -> list[str]:
    return [
        block.text
        for section in report.sections
        for block in section.blocks
        if isinstance(block, Paragraph) and "waits for the processor" in block.text
    ]


def test_text_of_sections_has_no_number_that_is_none(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Paragraph | Picture):
                words = block.text if isinstance(block, Paragraph) else block.caption
                assert "nan" not in words.split()
            if isinstance(block, Table):
                assert not any("nan" in cell.split() for row in block.rows for cell in row)

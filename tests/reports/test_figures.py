import dataclasses
import math
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from reports import discover, figures, labels
from reports.collect import Results
from reports.figures import (
    delay_over_time,
    heat_map,
    identity,
    other_constant,
    power_curve,
    rate_over_time,
    repeatability,
    search_bracket,
    search_contours,
    search_curve,
    search_history,
    search_slices,
    style,
    throughput_delay,
)
from reports.subjects import Comparison, Grid, OneRun, Repetition, Search, Sweep
from tests.reports import synthetic

RESULTS = synthetic.results()


@pytest.fixture(autouse=True)
def _house() -> "object":
    with style.house():
        yield


@pytest.fixture(scope="module")
def sweep() -> Sweep:
    return next(iter(discover.sweeps(RESULTS)))


@pytest.fixture(scope="module")
def grid() -> Grid:
    return next(iter(discover.grids(RESULTS)))


@pytest.fixture(scope="module")
def search() -> dict[str, Search]:
    return {search.key: search for search in discover.searches(RESULTS)}


@pytest.fixture(scope="module")
def repeated() -> Repetition:
    found = discover.repetition(RESULTS)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def run() -> OneRun:
    found = discover.one_run(RESULTS)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def compared() -> Comparison:
    found = discover.reports_compared(RESULTS)
    assert found is not None
    return found


def line(figure: Figure, label: str, axes: int = 0) -> Line2D:
    return next(each for each in figure.axes[axes].lines if each.get_label() == label)


def x_of(drawn: Line2D) -> list[float]:
    return [float(x) for x in np.atleast_1d(np.asarray(drawn.get_xdata()))]


def texts(figure: Figure, axes: int = 0) -> list[str]:
    return [text.get_text() for text in figure.axes[axes].texts]


def test_throughput_delay_inverts_its_axis_and_shows_all_points(sweep: Sweep) -> None:
    figure = throughput_delay.draw(sweep)
    left, right = figure.axes[0].get_xlim()
    assert left > right
    ours = line(figure, "Kneepoint")
    curve = sweep.curve.sort_values("value")
    assert np.array_equal(ours.get_xdata(), curve["signal_delay_p95_ms"])
    assert np.array_equal(ours.get_ydata(), curve["throughput_mbps"])
    assert len(x_of(line(figure, "Report 001"))) == 18
    assert len(x_of(line(figure, "Report 004"))) == 33
    assert "16" in texts(figure)
    assert "ms" in figure.axes[0].get_xlabel()


def test_power_curve_marks_the_best_and_what_ties(sweep: Sweep) -> None:
    figure = power_curve.draw(sweep)
    assert f"16: {sweep.best.value:.2f}" in texts(figure, axes=1)
    (band,) = figure.axes[1].patches
    low, high = band.get_extents().ymin, band.get_extents().ymax
    place = figure.axes[1].transData.inverted().transform
    assert place((0, high))[1] == pytest.approx(sweep.best.value)
    assert place((0, low))[1] == pytest.approx(sweep.best.value * (1 - sweep.best.margin))


def test_heat_map_prints_every_cell(grid: Grid) -> None:
    figure = heat_map.draw(grid)
    assert [len(axes.texts) for axes in figure.axes] == [20, 20, 20]
    assert texts(figure, axes=1)[0] == "18.60"
    assert grid.relative is not None
    assert texts(figure, axes=2)[0] == f"{100 * grid.relative.to_numpy()[0, 0]:+.1f}"
    assert figure.axes[0].get_ylabel() == "Decrease factor"


def test_other_constant_has_a_line_a_cell_and_their_mean(grid: Grid) -> None:
    lines = other_constant.draw(grid).axes[0].lines
    assert len(lines) == 20 + 1
    assert x_of(lines[-1]) == [2, 10]


def test_search_bracket_has_a_bar_a_step(search: dict[str, Search]) -> None:
    figure = search_bracket.draw(search["best_window"])
    assert len(figure.axes[1].collections) == 10
    assert figure.axes[1].yaxis_inverted()


def test_search_curve_is_in_the_order_of_the_constant() -> None:
    fit = synthetic.ternary_study(fit=("001-fixed-window",), sampler="grid")
    (found,) = discover.searches(Results(studies=(fit,)))
    curve, _ = search_curve.draw(found).axes[0].lines
    assert x_of(curve) == sorted(x_of(curve))
    assert [kind.name for kind in figures.kinds() if kind.draws(found)] == ["search-curve"]


def test_search_history_shows_trials_best_and_failures(search: dict[str, Search]) -> None:
    figure = search_history.draw(search["delay_tpe"])
    trials, best, _, failed = figure.axes[0].lines
    assert len(x_of(trials)) == 118
    assert np.all(np.diff(np.asarray(best.get_ydata())) >= 0)
    assert x_of(failed) == [3, 17]


def test_search_slices_have_a_panel_a_constant(search: dict[str, Search]) -> None:
    figure = search_slices.draw(search["delay_tpe"])
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_xlabel() for axes in shown] == ["Alpha", "Beta", "RTT threshold (ms)"]
    assert [axes.get_xscale() for axes in shown] == ["log", "log", "linear"]


def test_search_slices_say_what_lies_below_the_axis_only_where_it_does(
    search: dict[str, Search],
) -> None:
    cut = "The worst 2 % of trials lie below the axis."
    assert search_slices.FIGURE.caption(search["delay_tpe"]).endswith(cut)
    fit = dataclasses.replace(search["delay_tpe"], fit=("001-delay-threshold",))
    assert cut not in search_slices.FIGURE.caption(fit)


def test_search_contours_fill_the_plane_of_what_matters_most() -> None:
    random = np.random.default_rng(2)
    runs = []
    for _ in range(200):
        alpha, beta = random.uniform(size=2)
        constants = {"alpha": 10**alpha, "beta": 10 * beta, "rtt_threshold_ms": 90 + beta}
        power = 30 * math.exp(-4 * ((alpha - 0.5) ** 2 + (beta - 0.5) ** 2))
        runs.append(synthetic.run_row("delay_threshold", constants, 3.5, 3500 / power))
    study = synthetic.study("hill", runs, sampler="tpe", logarithmic=("alpha",))
    study = dataclasses.replace(study, searched=study.searched[:2])
    (found,) = discover.searches(Results(studies=(study,)))
    assert search_contours.FIGURE.draws(found)
    axes, bar = search_contours.draw(found).axes
    names = {axes.get_xlabel(), axes.get_ylabel()}
    assert names == {"Alpha", "Beta"}
    dots, ring = axes.lines
    assert len(x_of(dots)) == 200
    best = {labels.sentence(name): value for name, value in found.best_constants.items()}
    assert x_of(ring) == [best[axes.get_xlabel()]]
    assert bar.get_ylabel() == "Power (Mbit/s/s)"
    assert "Only the dots were run" in search_contours.FIGURE.caption(found)
    worse = dataclasses.replace(study, fit=("001-delay-threshold",))
    (fit,) = discover.searches(Results(studies=(worse,)))
    assert not search_contours.FIGURE.draws(fit)


def test_identity_names_the_row_that_is_contradicted(compared: Comparison) -> None:
    figure = identity.draw(compared)
    assert [texts(figure, axes) for axes in range(6)] == [[], ["a"], [], [], ["a"], []]
    names = figure.legends[-1].get_texts()
    assert [text.get_text() for text in names] == ["a  001 fixed window 40"]
    assert figure.axes[0].get_title(loc="left") == "Throughput (Mbit/s)"


def test_repeatability_has_a_dot_a_run_and_no_bar_for_a_single_one(repeated: Repetition) -> None:
    figure = repeatability.draw(repeated)
    dots = [each for each in figure.axes[0].lines if len(x_of(each)) > 2]
    assert [len(x_of(each)) for each in dots] == [10, 25]
    assert len(figure.axes[0].collections) == 2
    assert "published 12.87" in texts(figure)
    alone = repeated.spread.assign(low=math.nan, high=math.nan)
    single = Repetition("all", repeated.settings, repeated.runs, alone, repeated.published)
    assert len(repeatability.draw(single).axes[0].collections) == 0


def test_rate_over_time_has_bins_of_half_a_second(run: OneRun) -> None:
    figure = rate_over_time.draw(run)
    ingress = line(figure, "ingress")
    assert np.array_equal(x_of(ingress)[:3], [0.0, 0.5, 1.0])
    assert len(figure.axes[0].collections) == 1


def test_delay_over_time_shows_every_packet_and_millisecond(run: OneRun) -> None:
    signal, packets, *_ = delay_over_time.draw(run).axes[0].lines
    assert len(x_of(signal)) == len(run.signal)
    assert len(x_of(packets)) == len(run.packets)


def test_every_file_of_figures_declares_one() -> None:
    files = {path.stem for path in Path(figures.__path__[0]).glob("*.py")} - {"__init__", "style"}
    assert len(figures.kinds()) == len(files)
    assert len({kind.name for kind in figures.kinds()}) == len(files)


def test_draw_writes_both_formats_the_same_each_time(sweep: Sweep, tmp_path: Path) -> None:
    for folder, processes in (("a", 1), ("b", 2)):
        drawings = figures.plan(sweep, tmp_path / folder)
        with figures.drawing(processes) as draw:
            for drawing in drawings:
                draw(drawing)
    pictures = [drawing.picture for drawing in drawings]
    assert [picture.name.split("-fixed")[0] for picture in pictures] == [
        "throughput-delay",
        "power-curve",
    ]
    for picture in pictures:
        for ending in (".svg", ".png"):
            name = picture.stem.name + ending
            first = (tmp_path / "a" / name).read_bytes()
            assert first == (tmp_path / "b" / name).read_bytes()


def test_the_house_style_ignores_the_users_own() -> None:
    import matplotlib as mpl

    before = mpl.rcParams["font.size"]
    mpl.rcParams["font.size"] = 31
    with style.house():
        assert mpl.rcParams["font.size"] == 9
    assert mpl.rcParams["font.size"] == 31
    mpl.rcParams["font.size"] = before


def test_decades_are_round_numbers_within_the_range() -> None:
    assert style.decades(3, 120) == [5, 10, 20, 50, 100]
    assert style.decades(0.1, 10, (1,)) == [0.1, 1, 10]

"""Figures of the audit: every row, and those that are contradicted."""

import numpy as np
import pytest

from kneepoint.analysis.metrics import SHOWN
from tests.analysis import synthetic
from tests.reports.panels import Tables, drawn, require_points, texts


@pytest.fixture(scope="module")
def tables() -> Tables:
    return synthetic.analysed(synthetic.results())


def test_panels_have_every_point_of_their_rows(tables: Tables) -> None:
    of_reports = tables["audit"].query("comparison == 'reports'")
    ratios = {m: of_reports[f"ours_{m}"] / of_reports[f"published_{m}"] for m in SHOWN}
    off = {f"off_{m}": 100 * (ratio - 1) for m, ratio in ratios.items()}
    panels = [(f"published_{m}", f"off_{m}") for m in SHOWN]
    figure = drawn(tables, "published-against-ours-reports")
    require_points(figure, of_reports.assign(**off), panels)


def test_the_row_that_is_contradicted_is_named(tables: Tables) -> None:
    figure = drawn(tables, "published-against-ours-reports")
    assert [texts(figure, axes) for axes in range(3)] == [[], ["a"], []]
    names = figure.legends[-1].get_texts()
    assert [text.get_text() for text in names] == ["a  001 fixed window 40"]


def test_so_many_contradicted_rows_that_letters_run_out_have_none(tables: Tables) -> None:
    rows = tables["audit"]
    many = rows.assign(wrong="power", verdict="contradicted").loc[rows.index.repeat(30)]
    figure = drawn({**tables, "audit": many}, "published-against-ours-reports")
    assert [texts(figure, axes) for axes in range(3)] == [[], [], []]
    assert len(figure.legends) == 1
    crosses = np.asarray(figure.axes[2].collections[-1].get_offsets())
    assert many["published_power"].notna().sum() == len(crosses)

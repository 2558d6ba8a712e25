"""What the report says of comparisons and of swept networks."""

from pathlib import Path

import pytest

from analysis.derived import with_derived
from common.errors import KneepointError
from reports import draw, words
from tests.analysis import synthetic
from tests.analysis.test_comparisons import pages, printed
from tests.reports.test_figures import Tables, drawn, joined, places
from tests.reports.told import PROVENANCE, Told, told_by

PUBLISHED = [
    printed(3.1),
    printed(9, place="item 9"),
    printed(260, "ping.rtt_mean_ms", place="the text"),
    printed(260, "ping.rtt_min_ms", place="the console"),
    printed(300, "ping.rtt_mean_ms", place="the console"),
]


@pytest.fixture(scope="module")
def tables() -> Tables:
    both = (pages(2, 3, 4, published=PUBLISHED), pages(2.5, 3.5, engine="kernel"))
    return synthetic.analysed(synthetic.MadeUp(comparisons=both))


@pytest.fixture(scope="module")
def report(tables: Tables) -> Told:
    return told_by(tables)


def test_published_numbers_and_engines_stand_side_by_side(report: Told) -> None:
    rows = report.rows("comparison-published-buffers")
    assert [row[-2] for row in rows] == ["inside", "outside", "contradicted", "inside", "inside"]
    assert rows[0][-1] == "item 9" and rows[2][-1] == "the console"
    (page,) = [row for row in report.rows("comparison-engines") if row[4].startswith("page, ")]
    assert page[-3:] == ("3.00 (2.00 to 4.00)", "3.00 (2.50 to 3.50)", "0.0\N{NO-BREAK SPACE}%")


def test_figure_has_means_ranges_and_what_was_published(tables: Tables) -> None:
    page, ping = drawn(tables, "comparison-figures-buffers").axes
    ends = {x for bar in joined(page) for x, _ in bar}
    assert {2.0, 4.0, 2.5, 3.5} <= ends
    assert {3.0, 3.1, 9.0} <= {x for x, _ in places(page)}
    assert {260.0, 300.0} <= {x for x, _ in places(ping)}


def test_configuration_has_words_of_its_own(tmp_path: Path) -> None:
    tables = synthetic.analysed(synthetic.MadeUp(comparisons=(pages(2, 4),)))
    (tmp_path / "comparisons").mkdir()
    template = tmp_path / "comparisons" / "buffers.md.jinja"

    def compose(text: str) -> str:
        template.write_text(text)
        report = words.compose(with_derived(tables), PROVENANCE, draw.available(tables), tmp_path)
        return Told(report).text("comparison-buffers")

    assert "Ours are **2**." in compose("Ours are **{{ 1 + 1 }}**.")
    assert told_by(tables).text("comparison-buffers"), "and need none"
    for text, problem in (
        ("{{ nothing.at_all }}", "'nothing' is undefined"),
        ("{% if %}", "Expected an expression"),
    ):
        with pytest.raises(KneepointError, match=problem) as caught:
            compose(text)
        assert str(caught.value).startswith(str(template))

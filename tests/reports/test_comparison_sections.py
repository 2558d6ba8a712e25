"""What the report says of comparisons and of swept networks."""

from pathlib import Path

import pytest

from common.errors import KneepointError
from reports import draw, words
from tests.analysis import synthetic
from tests.analysis.test_comparisons import compared, pages, printed, run_of
from tests.reports.told import PROVENANCE, Told, told, told_by

PUBLISHED = [
    printed(3.1),
    printed(9, place="item 9"),
    printed(260, "ping.rtt_mean_ms", place="the text"),
    printed(260, "ping.rtt_min_ms", place="the console"),
    printed(300, "ping.rtt_mean_ms", place="the console"),
]


@pytest.fixture(scope="module")
def report() -> Told:
    both = (pages(2, 3, 4, published=PUBLISHED), pages(2.5, 3.5, engine="kernel"))
    return told(synthetic.MadeUp(comparisons=both))


def test_published_numbers_are_inside_outside_or_contradicted(report: Told) -> None:
    said = report.text("comparison-buffers")
    assert "Of 5 numbers with a counterpart in our runs, 3 lie within their range" in said
    assert "The text gives 260 ms as the mean RTT of ping (Reno, A router)" in said
    assert "the console of the same source prints it as the minimum of the same pings" in said
    assert "the source prints 3.1 s (item 3.1) and 9 s (item 9)" in said
    assert "range from 2.0 to 4.0 s, the kernel's from 2.5 to 3.5" in said
    assert "chance explains item 3.1, but not item 9" in said
    verdicts = [row[-1] for row in report.rows("comparison-published-buffers")]
    assert verdicts == ["inside", "outside", "contradicted", "inside", "inside"]


def test_engines_stand_side_by_side(report: Told) -> None:
    rows = report.rows("comparison-engines-buffers")
    (page,) = [row for row in rows if row[3].startswith("page, ")]
    assert page[-3:] == ("3.00 (2.00 to 4.00)", "3.00 (2.50 to 3.50)", "0.0\N{NO-BREAK SPACE}%")
    assert "on the kernel's own TCP 2 times" in report.text("comparison-buffers")


def test_a_kernel_that_has_not_run_is_said() -> None:
    said = told(synthetic.MadeUp(comparisons=(pages(2, 4),))).text("comparison-buffers")
    assert "The kernel's own TCP has not run yet: `make confirm` runs it." in said


def test_first_page_counts_a_sources_numbers(report: Told) -> None:
    said = report.abstract
    assert "Of 5 numbers that Report 003 prints, 3 lie within the range of our runs or 5 %" in said
    assert "1 is contradicted by its own source" in said


def test_comparison_without_probes_or_prints_has_neither() -> None:
    lone = compared([run_of({"long": {"throughput_mbps": 1.4}})])
    report = told(synthetic.MadeUp(comparisons=(lone,)))
    assert report.names == ["comparison-buffers", "exclusions", "references", "provenance"]
    assert not [name for name in report.figures() if name.startswith("comparison-")]


def test_configuration_has_words_of_its_own(tmp_path: Path) -> None:
    tables = synthetic.analysed(synthetic.MadeUp(comparisons=(pages(2, 4),)))
    (tmp_path / "comparisons").mkdir()
    template = tmp_path / "comparisons" / "buffers.xml.jinja"

    def compose(text: str) -> str:
        template.write_text(text)
        return words.compose(tables, PROVENANCE, draw.available(tables), tmp_path)

    assert "<p>Ours are 2.</p>" in compose("<p>Ours are {{ 1 + 1 }}.</p>")
    assert told_by(tables).text("comparison-buffers"), "and need none"
    for text, problem in (
        ("{{ nothing.at_all }}", "'nothing' is undefined"),
        ("{% if %}", "Expected an expression"),
    ):
        with pytest.raises(KneepointError, match=problem) as caught:
            compose(text)
        assert str(caught.value).startswith(str(template))

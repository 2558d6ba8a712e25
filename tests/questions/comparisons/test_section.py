"""The report's section on comparisons and swept networks."""

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from jinja2 import FileSystemLoader

from kneepoint.analysis.derived import with_derived
from kneepoint.common.errors import KneepointError
from kneepoint.reports import compose, draw
from tests.analysis import synthetic
from tests.questions.comparisons.test_tables import pages, printed
from tests.reports.panels import Tables, drawn, joined, places
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

    def composed(text: str) -> str:
        template.write_text(text)
        figures = draw.available(tables)
        report = compose.compose(with_derived(tables), PROVENANCE, figures, tmp_path)
        return Told(report).text("comparison-buffers")

    assert "Ours are **2**." in composed("Ours are **{{ 1 + 1 }}**.")
    assert told_by(tables).text("comparison-buffers"), "and need none"
    for text, problem in (
        ("{{ nothing.at_all }}", "'nothing' is undefined"),
        ("{% if %}", "Expected an expression"),
    ):
        with pytest.raises(KneepointError, match=problem) as caught:
            composed(text)
        assert str(caught.value).startswith(str(template))


TEMPLATES = Path("config/comparisons")


def said_of(comparison: str, shares: Sequence[tuple[str, float]]) -> str:
    """Returns the text of a configuration's template for these labels and shares beside CUBIC."""
    lines = [
        {
            **{"comparison": comparison, "engine": "emulator", "flow": "first", "label": label},
            **{"traffic": "beside-cubic", "network_title": "A link", "mean": mean},
            **{"jains_index": mean, "utilization": mean, "queueing_delay_p95_ms": 100 * mean},
        }
        for label, mean in shares
    ]
    templates = compose.environment().overlay(loader=FileSystemLoader(TEMPLATES))
    text = templates.get_template(f"{comparison}.md.jinja").render(rows=lambda _: lines)
    return " ".join(text.split())


def test_who_starves_whom_follows_from_the_shares() -> None:
    starves = said_of("friendliness", [("TIMELY", 0.97), ("TANGRA", 0.5)])
    starved = said_of("friendliness", [("TIMELY", 0.03), ("TANGRA", 0.5)])
    fair = said_of("friendliness", [("TIMELY", 0.5), ("TANGRA", 0.5)])
    assert starves.count("TIMELY") == starved.count("TIMELY") == 1 and "TIMELY" not in fair
    assert "no controller gets" in starves and "no controller leaves" in starved
    assert "TANGRA" not in starves + starved + fair


@pytest.mark.parametrize(
    ("comparison", "shares"),
    [
        ("friendliness", ([0.01, 0.01], [0.99, 0.99], [0.5, 0.5])),
        ("several-tangra", ([0.05, 0.9], [1, 1], [0.5, 0.5])),
    ],
)
def test_templates_state_nothing_that_other_numbers_would_deny(
    comparison: str, shares: Sequence[Sequence[float]]
) -> None:
    labels = ("TANGRA", "Fixed window")
    said = [said_of(comparison, list(zip(labels, each, strict=True))) for each in shares]
    fixed = set.intersection(*({*re.split(r"(?<=[.:;,]) ", each)} for each in said))
    results = r"\b(evenly|unfair|lose|loses|starve|always|never|however|better|worse|agree)\b"
    assert not [each for each in fixed if re.search(results, each)]
    assert len(set(said)) == len(said)

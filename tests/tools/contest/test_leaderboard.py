"""The leaderboard in a real browser: accessible, and a name opens its run over time."""

from pathlib import Path
from typing import Any

import pytest

from kneepoint.entries.entries import EntryBuilder
from kneepoint.tools.contest.figures import draw_figures
from kneepoint.tools.contest.page import write_page
from kneepoint.tools.contest.run import PAGE, ContestRun
from tests.browser import chromium
from tests.browser.devtools import ask
from tests.browser.test_report_page import DARK, PHONE, VIOLATIONS, WIDE
from tests.entries.trees import crashing, kit
from tests.tools.contest.conftest import make_contest_run

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def scored(
    builder: EntryBuilder, tmp_path_factory: pytest.TempPathFactory
) -> tuple[ContestRun, dict[str, Any]]:
    """Two ranked entries, a baseline, and an entry that is not ranked."""
    chromium.program()
    folder = tmp_path_factory.mktemp("contest")
    contest_run = make_contest_run(folder, builder)
    entries = folder / "entries"
    for window in (5, 12):
        kit(entries / f"window-{window}", window)
    crashing(entries / "crashes")
    return contest_run, contest_run.score(entries, print)


@pytest.fixture(scope="module")
def page(scored: tuple[ContestRun, dict[str, Any]]) -> str:
    return (scored[0].folder / PAGE).read_text()


@pytest.fixture(scope="module")
def long_page(
    scored: tuple[ContestRun, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> str:
    """A page of forty entries, which are copies of one entry and its rows."""
    _, found = scored
    row = found["ranking"][0]
    ranking = [row | {"name": f"entry {k}", "rank": k} for k in range(1, 41)]
    found = found | {"ranking": ranking}
    return write_page(found, {}, draw_figures(found, tmp_path_factory.mktemp("figures")), "test")


def test_a_long_table_begins_with_the_top_ten(long_page: str, tmp_path: Path) -> None:
    script = """
const table = document.querySelector("#table-ranking table");
const rows = () => [...table.tBodies[0].rows].filter((row) => !row.hidden);
const shown = () => rows().map((row) => row.cells[0].textContent);
const begun = shown();
document.querySelector("#table-ranking .more").click();
const all = shown().length;
document.querySelector("#table-ranking .more").click();
const search = document.getElementById("search");
search.value = "ENTRY 37";
search.dispatchEvent(new Event("input"));
const found = shown();
search.value = "";
search.dispatchEvent(new Event("input"));
const fits = document.documentElement.scrollWidth <= document.documentElement.clientWidth;
return { begun, all, found, again: shown().length, fits };
"""
    for options in (WIDE, PHONE):
        found = ask(long_page, script, tmp_path, **options)
        ranks = [rank for rank in found["begun"] if rank]
        assert ranks == [str(rank) for rank in range(1, 11)]
        assert found["all"] == 41 and found["found"] == ["37"]
        assert found["again"] == len(found["begun"]) and found["fits"]


def test_page_violates_no_rule_of_axe(page: str, tmp_path: Path) -> None:
    unfolded = page.replace("<details>", "<details open>")
    assert unfolded != page
    with_axe = unfolded.replace("</body>", f"<script>{chromium.axe()}</script></body>")
    for options in (WIDE, PHONE, DARK):
        assert ask(with_axe, VIOLATIONS, tmp_path, **options) == []


def test_a_name_opens_its_run(page: str, tmp_path: Path) -> None:
    script = """
const link = document.querySelector("td a.run");
const fold = document.getElementById(link.getAttribute("href").slice(1)).closest("details");
const open = [...document.querySelectorAll("main details")].map((each) => each.open);
link.click();
await new Promise((done) => setTimeout(done, 100));
const height = fold.querySelector("svg").getBoundingClientRect().height;
return { open, opened: fold.open, height,
  name: [link.textContent, fold.querySelector("summary").textContent.trim()],
  fits: document.documentElement.scrollWidth <= document.documentElement.clientWidth };
"""
    for options in (WIDE, PHONE):
        found = ask(page, script, tmp_path, **options)
        assert found["open"] == [False, False, False]
        assert found["opened"] and found["height"] > 50
        assert found["name"][0] == found["name"][1]
        assert found["fits"]

"""The leaderboard in a real browser: accessible, and a name opens its run over time."""

from pathlib import Path

import pytest

from contest.contenders import Workshop
from contest.office import PAGE
from tests.browser import chromium
from tests.browser.test_report_page import DARK, PHONE, VIOLATIONS, WIDE
from tests.contest.conftest import make_office, workshop
from tests.contest.trees import bad, kit

__all__ = ["workshop"]  # a fixture

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(workshop: Workshop, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two entries that are ranked, a yardstick, and an entry that is not."""
    chromium.program()
    folder = tmp_path_factory.mktemp("contest")
    office = make_office(folder, workshop)
    entries = folder / "entries"
    for window in (5, 12):
        kit(entries / f"window-{window}", window)
    bad(entries / "crashes", "crashes-on-first-ack")
    office.score(entries, print)
    return (office.folder / PAGE).read_text()


def test_page_violates_no_rule_of_axe(page: str, tmp_path: Path) -> None:
    unfolded = page.replace('<details class="fold"', '<details open class="fold"')
    assert unfolded != page
    for whole in (page, unfolded):
        with_axe = whole.replace("</body>", f"<script>{chromium.axe()}</script></body>")
        for options in (WIDE, PHONE, (*WIDE, *DARK)):
            assert chromium.ask(with_axe, VIOLATIONS, tmp_path, *options) == []


def test_a_name_opens_its_run(page: str, tmp_path: Path) -> None:
    script = """
const link = document.querySelector("td a.run");
const fold = document.getElementById(link.getAttribute("href").slice(1)).closest("details");
const open = [...document.querySelectorAll("details.fold")].map((each) => each.open);
link.click();
await new Promise((done) => setTimeout(done, 100));
const height = fold.querySelector("svg").getBoundingClientRect().height;
return { open, opened: fold.open, height,
  name: [link.textContent, fold.querySelector("summary").textContent.trim()],
  fits: document.documentElement.scrollWidth <= window.innerWidth };
"""
    for options in (WIDE, PHONE):
        found = chromium.ask(page, script, tmp_path, *options)
        assert found["open"] == [False, False, False]
        assert found["opened"] and found["height"] > 50
        assert found["name"][0] == found["name"][1]
        assert found["fits"]

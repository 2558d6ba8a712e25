"""The report's page in a real browser: accessible, and its tables and figures answer."""

from pathlib import Path
from typing import Any

import pytest

from kneepoint.reports import draw, render
from tests.analysis import synthetic
from tests.browser import chromium
from tests.browser.devtools import ask
from tests.reports.told import told_by

pytestmark = pytest.mark.slow

WIDE: dict[str, Any] = {"width": 1400}
PHONE: dict[str, Any] = {"width": 390}
DARK = WIDE | {"is_dark": True}

VIOLATIONS = """
const found = await axe.run(document, { resultTypes: ["violations"] });
return found.violations.map((each) => [each.id, each.nodes.map((node) => node.html.slice(0, 200))]);
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report of made-up results."""
    chromium.program()
    folder = tmp_path_factory.mktemp("figures")
    tables = synthetic.analysed(synthetic.results())
    for name, drawing in draw.available(tables).items():
        draw.save(drawing, folder / f"{name}.svg")
    figures = {path.stem: path for path in folder.glob("*.svg")}
    return render.to_html(told_by(tables).document, figures)


@pytest.mark.parametrize("options", [WIDE, PHONE, DARK], ids=["wide", "phone", "dark"])
def test_page_violates_no_rule_of_axe(page: str, tmp_path: Path, options: dict[str, Any]) -> None:
    with_axe = page.replace("</body>", f"<script>{chromium.axe()}</script></body>")
    assert ask(with_axe, VIOLATIONS, tmp_path, **options) == []


def test_axe_would_find_a_fault(tmp_path: Path) -> None:
    faulty = f"<html><body><p>A page.</p><script>{chromium.axe()}</script></body></html>"
    found = ask(faulty, VIOLATIONS, tmp_path, **WIDE)
    assert "html-has-lang" in [name for name, _ in found]


def test_tables_sort_and_filter_and_figures_tell_values(page: str, tmp_path: Path) -> None:
    script = """
const table = document.querySelector("#best-trials-delay_tpe table");
const column = () => [...table.tBodies[0].rows].filter((row) => !row.hidden)
  .map((row) => parseInt(row.cells[0].textContent));
const head = table.tHead.rows[table.tHead.rows.length - 1].cells[0];
head.click();
const rising = column();
head.click();
const falling = column();
const filter = document.querySelector("#best-trials-delay_tpe input[type=search]");
filter.value = String(rising[0]);
filter.dispatchEvent(new Event("input"));
const filtered = column();
const point = document.querySelector(".values circle");
point.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
const value = document.getElementById("value");
const shown = [value.hidden, value.textContent];
document.body.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
const run = document.querySelector("td a.run").getAttribute("href").slice(1);
return { rising, falling, filtered, shown, hidden: value.hidden, told: point.dataset.value,
  run: document.getElementById(run).tagName,
  titles: document.querySelectorAll("svg title").length };
"""
    found = ask(page, script, tmp_path, **WIDE)
    assert found["rising"] == sorted(found["rising"]) != found["falling"]
    assert found["falling"] == found["rising"][::-1]
    assert found["rising"][0] in found["filtered"]
    assert found["shown"] == [False, found["told"]] and found["told"]
    assert found["hidden"] and found["run"] == "TR" and found["titles"] == 0


def test_a_card_on_a_phone_has_no_line_without_a_value(page: str, tmp_path: Path) -> None:
    script = """
for (const fold of document.querySelectorAll("details")) fold.open = true;
const cells = [...document.querySelectorAll("tbody td")]
  .filter((each) => each.textContent.trim() === "\u2013");
return [cells.length, cells.filter((each) => each.clientHeight).length];
"""
    count, seen = ask(page, script, tmp_path, **PHONE)
    assert count and not seen
    assert ask(page, script, tmp_path, **WIDE)[1]


def test_on_a_phone_contents_are_closed_and_figures_scroll_in_their_frames(
    page: str, tmp_path: Path
) -> None:
    script = """
const nav = document.querySelector("nav details");
const frames = [...document.querySelectorAll("figure:not(.table) .scroll")]
  .filter((each) => each.clientWidth);
return [nav.open, document.documentElement.scrollWidth <= document.documentElement.clientWidth,
  frames.filter((each) => each.scrollWidth > each.clientWidth).length / frames.length,
  Math.min(...frames.map((each) => each.querySelector("svg").clientWidth))];
"""
    assert ask(page, script, tmp_path, **WIDE)[:3] == [True, True, 0]
    *others, narrowest_px = ask(page, script, tmp_path, **PHONE)
    assert others == [False, True, 1] and narrowest_px >= 600

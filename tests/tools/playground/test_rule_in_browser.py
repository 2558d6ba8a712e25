"""The editor of a rule in a real browser: typing, sliders, addresses and copies."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from kneepoint.common.places import SHIPPED
from kneepoint.config.workflow import Workflow
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.runs.load import load_workflow
from kneepoint.tools.playground.rules import EXAMPLES
from tests.browser import chromium
from tests.browser.devtools import Page
from tests.browser.test_report_page import VIOLATIONS
from tests.conftest import ROOT
from tests.tools.playground.conftest import TASK, page_of
from tests.tools.playground.page_steps import POWER, SLIDER, SWEPT, WRONG, settle, show, slide
from tests.wasm.test_rules import PACED

pytestmark = pytest.mark.slow

SHORT = "w = w + 0.1 if rtt < 40 else w - 0.5"
FOUND = EXAMPLES["Found by a search"]
AREA = "document.querySelector('textarea')"
MISTAKE = "document.querySelector('.mistake').textContent"
STUCK = """(() => { // a worker that has begun a run hears nothing further
  const { postMessage } = Worker.prototype;
  let busy;
  Worker.prototype.postMessage = function (job) {
    if (job.kind === "run") busy ??= this;
    if (busy !== this) postMessage.call(this, job);
  };
})()"""
COPIED = "document.querySelector('pre[role=region]:not([hidden])')?.textContent"


def address(text: str, more: str = "") -> str:
    """Returns the address of a rule on a short link, and with further keys."""
    return f"#controller=rule&rule={quote(text)}&link=constant&rate_mbps=5&duration_s=9{more}"


def type_(page: Page, text: str) -> None:
    """Types a text in place of the editor's."""
    page.evaluate(f"{AREA}.focus(); {AREA}.select()")
    page.send("Input.insertText", text=text)


def type_good(page: Page, text: str) -> None:
    """Types a rule, and waits for its picture."""
    before = page.evaluate("location.hash")
    type_(page, text)
    page.wait_for(f"location.hash !== {json.dumps(before)}")
    settle(page)


def press(page: Page, *names: str) -> None:
    """Presses buttons of the editor."""
    buttons = "[...document.querySelectorAll('.rule button')]"
    page.evaluate(
        f"for (const name of {json.dumps(names)})"
        f" {buttons}.find((each) => each.textContent === name).click()"
    )


def text_of(page: Page) -> Any:
    return page.evaluate(f"{AREA}.value")


@pytest.mark.parametrize("text", [SHORT, FOUND, PACED])
def test_digits_are_the_digits_of_the_command(
    opened: Page, url: str, tmp_path: Path, text: str
) -> None:
    show(opened, f"{url}#controller=rule&link=synthetic-medium&seed=3")
    type_good(opened, f"{text} # changed")
    rows = opened.evaluate("[...document.querySelectorAll('#numbers td')].map((td) => td.title)")
    words = ("run", "rule", "--set", f"rule={text}", "--network", "synthetic-medium")
    command = [sys.executable, "-m", "kneepoint", *words, "--seed", "3", "--json"]
    environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
    found = json.loads(said.stdout)
    metrics = ("power", "throughput_mbps", "signal_delay_p95_ms")
    assert list(map(float, rows[:3])) == [found[name] for name in metrics]


def test_a_typed_rule_runs_and_its_address_shows_it_again(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT))
    first = opened.evaluate(POWER)
    text = (
        "target = 60 # ms: 100 % & <b>more</b> é\nw = w + 3 * w ** -1 if rtt < target else 0.9 * w"
    )
    type_good(opened, text)
    second = opened.evaluate(POWER)
    assert second != first and opened.problems == []
    hash_ = opened.evaluate("location.hash")
    opened.open("about:blank")
    show(opened, url + hash_)
    assert (text_of(opened), opened.evaluate(POWER)) == (text, second)


@pytest.mark.parametrize(
    ("text", "marked", "told"),
    [
        ("w = w + 1 if rtt < lenght else w", "lenght", "lenght"),
        ("q = owd\nw = q + w", "q + w", "line 2"),
        ("w = (w + 1", "", "line 1"),
        ("w = w + " + "1 + " * 10**6 + "1", "", "4000"),
        ("w = 1 # \u2028\nx = 1" + "\nx = x + 1" * 40, "", "the rule has"),
        ("w = w\u200b + 1", "\u200b", "ASCII"),
        ("", "", "neither w nor window"),
    ],
)
def test_a_mistake_is_marked_and_the_last_picture_stays(
    opened: Page, url: str, text: str, marked: str, told: str
) -> None:
    show(opened, url + address(SHORT))
    before = [opened.evaluate(POWER), opened.evaluate("location.hash")]
    type_(opened, text) if text else opened.evaluate(
        f"{AREA}.value = ''; {AREA}.dispatchEvent(new Event('input'))"
    )
    line = opened.wait_for(MISTAKE)
    assert told in line and "\n" not in line
    assert (
        opened.evaluate("document.querySelector('.rule mark')?.textContent.trim() ?? ''") == marked
    )
    assert opened.evaluate(f"{AREA}.ariaInvalid") == "true"
    described = f"document.getElementById({AREA}.getAttribute('aria-describedby')).textContent"
    assert opened.evaluate(described) == line
    slide(opened, "delay_ms", 0.1)  # the page goes on with the last rule
    slide(opened, "delay_ms", 0.1)
    assert opened.evaluate(f"{AREA}.value.length") == len(text)
    opened.evaluate(f"location.hash = {json.dumps(before[1])}")
    opened.wait_for(f"{POWER} === '{before[0]}'")
    type_good(opened, "w = w + 1 if rtt < 30 else w - 2")
    assert opened.evaluate(MISTAKE) == "" and opened.evaluate(POWER) != before[0]


def test_keys_alone_reach_the_editor_and_its_copies(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT))
    for _ in range(9):
        opened.press("Tab")
        if opened.evaluate("document.activeElement.tagName") == "TEXTAREA":
            break
    before = opened.evaluate(POWER)
    opened.send("Input.insertText", text="\nwindow = 9\n")  # wherever the caret is
    opened.wait_for(f"{POWER} !== '{before}'")
    for _ in range(20):
        opened.press("Tab")
        if "C++" in str(opened.evaluate("document.activeElement.textContent")):
            break
    opened.evaluate("document.activeElement.click()")
    assert "window = 9" in opened.wait_for(COPIED)


def test_sliders_write_numbers_into_the_text(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT))
    opened.wait_for("document.querySelector('[data-name=number_1]')")
    for share in (0.2, 0.9, 1, 0.5):  # each while the answer to the last is on its way
        opened.evaluate(
            f"(() => {{ const slider = {SLIDER.format('number_1')}; slider.value = {1000 * share};"
            "slider.dispatchEvent(new Event('input')); })()"
        )
    slide(opened, "number_0", 1)
    opened.wait_for("location.hash.includes('160')")
    assert text_of(opened) == "w = w + 0.1 if rtt < 160 else w - 0.5"
    assert opened.evaluate("document.querySelectorAll('.rule .slider').length") == 3


@pytest.mark.parametrize(
    ("text", "value", "written"),
    [
        ("w = w + 0.1", "40.12345", "w = w + 40.12345"),
        ("w = 30 - 5 ** 2", "-5", "w = 30 - (-5) ** 2"),
        ("w = w ** -0.5", "2", "w = w ** 2"),
    ],
)
def test_an_exact_number_is_written_as_it_is(
    opened: Page, url: str, text: str, value: str, written: str
) -> None:
    show(opened, url + address(text))
    which = 1 if "30" in text else 0
    number = f"document.querySelectorAll('.rule input[type=number]')[{which}]"
    opened.wait_for(number)
    opened.evaluate(f"{number}.value = '{value}'; {number}.onchange()")
    opened.wait_for(f"{AREA}.value === '{written}'")
    settle(opened)
    assert opened.evaluate(MISTAKE) == "" and not opened.evaluate(WRONG)


def test_the_key_back_returns_from_an_example_to_the_own_rule(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT))
    type_good(opened, "w = 7 # mine")
    power = opened.evaluate(POWER)
    press(opened, "Found by a search")
    opened.wait_for(f"{POWER} !== '{power}'")
    assert text_of(opened) == FOUND
    press(opened, "Two steps", "a study")  # at once
    opened.wait_for(f"{COPIED}.includes('number_2')")
    press(opened, "Found by a search")
    type_(opened, "w = lenght")
    opened.wait_for(MISTAKE)
    press(opened, "Found by a search")
    opened.wait_for(f"!{MISTAKE}")
    assert text_of(opened) == FOUND
    opened.evaluate("history.go(-4)")
    opened.wait_for(f"{POWER} === '{power}'")
    assert text_of(opened) == "w = 7 # mine"


def test_a_mistake_is_told_during_a_long_run_and_a_change_ends_the_run(
    opened: Page, url: str
) -> None:
    show(opened, url + address(SHORT))
    power = opened.evaluate(POWER)
    opened.evaluate(STUCK)
    slide(opened, "delay_ms", 0.5, settles=False)
    type_(opened, "w = lenght")
    assert "lenght" in opened.wait_for(MISTAKE)
    opened.evaluate("performance.now = () => 1e9; null")
    type_good(opened, "w = 9")
    assert opened.evaluate(POWER) != power and not opened.evaluate(WRONG)


def test_a_rule_runs_beside_itself(opened: Page, url: str) -> None:
    powers = set()
    for more in ("", "&beside=rule", '&further={"flows":[{},{}]}'):
        show(opened, url + address("w = 9", more))
        powers.add(opened.evaluate(POWER))
    assert len(powers) == 2


def test_a_text_that_is_no_unicode_has_an_address(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT))
    opened.evaluate(
        f"{AREA}.value = 'w = 9 # \\ud800'; {AREA}.dispatchEvent(new Event('input')); null"
    )
    opened.wait_for("location.hash.includes('9')")
    settle(opened)
    assert opened.problems == []


def test_a_number_is_swept_and_a_point_writes_its_value(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT, "&sweep=number_0"))
    knee = opened.wait_for(f"document.querySelector('#swept').value === 'number_0' && {SWEPT}")
    assert "knee" in knee
    value = opened.evaluate("document.querySelector('#sweep circle[data-value]').dataset.value")
    opened.evaluate(
        "document.querySelector('#sweep circle[data-value]')"
        ".dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )
    opened.wait_for(f"location.hash.includes('{value}')")
    assert text_of(opened) == f"w = w + 0.1 if rtt < {value} else w - 0.5"


def test_two_rules_stand_side_by_side(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT, f"&b=rule&b.rule={quote(FOUND)}"))
    powers = "[...document.querySelectorAll('#numbers td:nth-child(2)')].map((td) => td.title)"
    one, two = opened.evaluate(powers)
    assert one != two
    assert opened.evaluate("[...document.querySelectorAll('textarea')].map((a) => a.value)") == [
        SHORT,
        FOUND,
    ]
    opened.evaluate("document.querySelector('.side-b select').value = 'timely'")
    opened.evaluate("document.querySelector('.side-b select').onchange()")
    opened.wait_for("!location.hash.includes('b.rule')")
    assert opened.evaluate("document.querySelectorAll('textarea').length") == 1


def test_a_rule_that_another_controller_replaces_is_forgotten(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT))
    opened.evaluate(
        f"{AREA}.value = 'w = 9'; {AREA}.dispatchEvent(new Event('input'));"
        "document.querySelector('select').value = 'timely';"
        "document.querySelector('select').onchange()"
    )
    settle(opened)
    slide(opened, "delay_ms", 0.5)
    opened.wait_for("location.hash.includes('delay_ms')")
    assert "rule" not in opened.evaluate("location.hash")


def test_the_newest_of_several_addresses_counts(opened: Page, url: str) -> None:
    show(opened, url)  # without a rule
    one, other = (json.dumps(address(f"window = {packets}")) for packets in (9, 30))
    opened.evaluate(f"location.hash = {one}; setTimeout(() => (location.hash = {other})); null")
    opened.wait_for(f"{AREA}?.value === 'window = 30'")
    settle(opened)
    slide(opened, "delay_ms", 0.1)
    assert text_of(opened) == "window = 30"


def test_a_program_in_parameters_runs_without_a_text(opened: Page, url: str) -> None:
    show(opened, url + address(SHORT))
    power = opened.evaluate(POWER)
    opened.open("about:blank")
    link = "link=constant&rate_mbps=5&duration_s=9"
    code = "&set.code_0=4887691432129&set.code_1=99593"
    numbers = "&set.number_0=40&set.number_1=0.1&set.number_2=0.5"
    show(opened, f"{url}#controller=rule&{link}{code}{numbers}")
    assert opened.evaluate(POWER) == power
    assert opened.evaluate("document.querySelectorAll('textarea').length") == 0


def study_in(folder: Path, text: str) -> Workflow:
    """Loads a project with this study, and checks it against the emulator's controllers."""
    network = "networks/synthetic-medium.yaml"
    for path, content in {
        "config.yaml": "seed: 1\ncache: null\nstudies: [my-rule]\n",
        "studies/my-rule.yaml": text,
        network: (SHIPPED / network).read_text(encoding="utf-8"),
    }.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(content)
    workflow = load_workflow(folder / "config.yaml")
    workflow.check_against(load_catalogue(EMULATE))
    return workflow


def test_a_copied_study_is_valid_and_searches_the_numbers(
    opened: Page, url: str, tmp_path: Path
) -> None:
    text = "x = 0 - 1e-7 # \u2028title: another\nw = w + (-0.2 if x > 1e20 else 0.1)"
    show(opened, url + "#controller=rule&link=synthetic-medium&set.initial_window=7")
    type_good(opened, text)
    press(opened, "a study")
    study = study_in(tmp_path, opened.wait_for(COPIED)).studies["my-rule"]
    assert study.networks == ("synthetic-medium",) and study.parameters["initial_window"] == 7
    values = {f"number_{k}": value for k, value in enumerate((0, 1e-7, 1e20, -0.2, 0.1))}
    assert study.space.keys() == values.keys() and study.parameters["code_0"] > 0
    assert all(study.space[name].contains(value) for name, value in values.items())
    slide(opened, "delay_ms", 0.9)  # the link, but not the path, of a shipped network
    press(opened, "a study")
    opened.wait_for(f"{COPIED}.includes('your-network')")


@pytest.mark.parametrize(("width", "is_dark"), [(1400, False), (390, False), (1400, True)])
def test_the_editor_violates_no_rule_of_axe_and_fits_its_width(
    opened: Page, url: str, width: int, is_dark: bool
) -> None:
    show(opened, url + address(FOUND, "&b=rule"), width, is_dark=is_dark)
    press(opened, "a study")
    opened.wait_for(COPIED)
    opened.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    for text in (FOUND, "w = lenght"):
        type_(opened, text)
        settle(opened)
        opened.evaluate(f"{chromium.axe()}; null")
        assert opened.evaluate(f"(async () => {{ {VIOLATIONS} }})()") == []
        assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_an_exercise_begins_with_its_rule(opened: Page, tmp_path: Path) -> None:
    rule = {"controllers": ["rule"], "parameters": ["number_0"]}
    start = {"controller": "rule", "rule": SHORT, "link": "constant"}
    path = tmp_path / "exercise.html"
    path.write_text(page_of({**TASK, **rule, "start": start}), encoding="utf-8")
    show(opened, path.as_uri())
    assert text_of(opened) == SHORT
    opened.wait_for("document.querySelector('.rule .slider')")
    assert opened.evaluate("document.querySelectorAll('.slider').length") == 1

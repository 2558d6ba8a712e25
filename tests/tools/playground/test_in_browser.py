"""The page in a real browser: readers' actions."""

from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from kneepoint.common.files import sha256_of
from kneepoint.networks.traces import format_trace, trace_of_rates
from tests.browser import chromium
from tests.browser.devtools import Page
from tests.browser.test_report_page import VIOLATIONS
from tests.tools.playground.conftest import TASK, exercise_page, page_of
from tests.tools.playground.page_steps import (
    CHOSEN,
    POWER,
    SLIDER,
    SPREAD,
    SWEPT,
    WRONG,
    settle,
    show,
    slide,
)

pytestmark = pytest.mark.slow


def test_opens_with_the_knee_and_intervals(opened: Page, url: str) -> None:
    show(opened, url)
    assert "knee" in opened.wait_for(SWEPT)
    assert opened.wait_for(SPREAD)
    assert opened.evaluate("document.querySelectorAll('#series canvas').length") == 4
    assert float(opened.evaluate(POWER)) > 0 and opened.problems == []


def test_a_slider_changes_the_run_the_address_and_leaves_a_fading_point(
    opened: Page, url: str
) -> None:
    show(opened, url)
    first = opened.evaluate(POWER)
    slide(opened, "window", 0.2)
    opened.wait_for(f"{POWER} !== '{first}'")
    second = opened.evaluate(POWER)
    address = opened.wait_for("location.hash.includes('set.window=') && location.hash")
    assert opened.evaluate("document.querySelectorAll('#plane circle[opacity]').length") == 1
    show(opened, url + address)
    assert opened.evaluate(POWER) == second


def test_keys_move_a_slider_by_one_packet(opened: Page, url: str) -> None:
    show(opened, url + "#set.window=20")
    first = opened.evaluate(POWER)
    opened.evaluate(f"{SLIDER.format('window')}.focus()")
    opened.press("ArrowRight", 2)
    opened.wait_for(f"{POWER} !== '{first}'")
    opened.wait_for("location.hash.endsWith('set.window=22')")


def test_a_long_drag_writes_few_addresses(opened: Page, url: str) -> None:
    show(opened, url)
    opened.evaluate(
        "(() => { let count = 0; const { replaceState } = history; history.replaceState = (...all) "
        "=> { if (++count > 20) throw new Error('too often'); replaceState.apply(history, all); };"
        "})()"
    )
    for step in range(100):
        slide(opened, "window", step / 1000, settles=False)
    slide(opened, "window", 0.2)
    opened.wait_for("location.hash.includes('set.window=')")
    assert opened.problems == []


def test_a_choice_by_keys_keeps_the_focus(opened: Page, url: str) -> None:
    show(opened, url)
    opened.evaluate("document.querySelector('#conditions select').focus()")
    for link in ("constant", "port"):
        opened.press("ArrowDown")
        opened.wait_for(f"location.hash.includes('link={link}')")
        assert opened.evaluate("document.activeElement.value") == link


def test_everything_is_reached_by_the_tabulator(opened: Page, url: str) -> None:
    show(opened, url)
    controls = "select, input, button, summary"
    wanted = opened.evaluate(f"document.querySelectorAll('{controls}').length")
    reached = set()
    for _ in range(wanted + 5):
        opened.press("Tab")
        reached.add(
            opened.evaluate(
                f"[...document.querySelectorAll('{controls}')].indexOf(document.activeElement)"
            )
        )
    assert set(range(wanted)) <= reached


def test_two_settings_and_a_second_flow_stand_side_by_side(opened: Page, url: str) -> None:
    show(opened, url + "#controller=timely&b=delay_threshold&b.set.alpha=2&beside=reno")
    rows = "[...document.querySelectorAll('#numbers tbody th')].map((each) => each.textContent)"
    assert opened.evaluate(rows) == ["A timely and reno", "B delay_threshold and reno"]
    shares = opened.evaluate("document.getElementById('beside').textContent")
    assert shares.count("Jain") == 2 and "reno" in shares
    dots = "[...document.querySelectorAll('#plane .now')].map((dot) => dot.classList[0])"
    assert opened.evaluate(dots) == ["a", "b"]


def test_a_point_of_the_sweep_leads_to_its_value(opened: Page, url: str) -> None:
    show(opened, url)
    knee = opened.wait_for(SWEPT).rpartition(" ")[2]
    opened.evaluate(
        f"document.querySelector('#sweep [data-value=\"{knee}\"]')"
        ".dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )
    opened.wait_for(f"location.hash.includes('set.window={knee}')")


def test_a_trace_and_rates_of_the_reader_run(opened: Page, url: str, tmp_path: Path) -> None:
    show(opened, url + "#set.window=10")
    # A trace may have any name, even a name that the page uses.
    trace, rates = tmp_path / "log", tmp_path / "rates.csv"
    trace.write_text("".join(f"{k}\n" for k in range(2, 5001, 2)))  # 6.016 Mbit/s
    rates.write_text("time_s,mbps\r\n0,6.016\r\n5,12.032\r\n")
    capacity = []
    for path in (trace, rates):
        opened.choose_files("input[type=file]", path)
        opened.wait_for(f"decodeURIComponent(location.hash).includes('uplink={path.name}')")
        slide(opened, "window", 0.1)
        assert not opened.evaluate(WRONG)
        capacity.append(opened.evaluate(POWER))
    assert capacity[0] != capacity[1]


@pytest.mark.parametrize("seed", range(4))
def test_rates_give_the_trace_that_the_networks_have(
    opened: Page, url: str, tmp_path: Path, seed: int
) -> None:
    random = Random(seed)
    steps = [(1000 * random.randint(1, 9), round(random.uniform(0.1, 40), 3)) for _ in range(5)]
    steps.append((steps[-1][0], 3.0))  # the last rate lasts as long as the rate before
    starts = [sum(lasts_ms for lasts_ms, _ in steps[:k]) / 1000 for k in range(len(steps))]
    rows = [f"{start:g},{mbps!r}" for start, (_, mbps) in zip(starts, steps, strict=True)]
    path = tmp_path / f"rates-{seed}.csv"
    path.write_text("\n".join(rows) + "\n")
    show(opened, url)
    opened.choose_files("input[type=file]", path)
    opened.wait_for(f"decodeURIComponent(location.hash).includes('{path.name}')")
    times = trace_of_rates((Fraction(ms), Fraction(repr(mbps))) for ms, mbps in steps)
    end_ms = sum(lasts_ms for lasts_ms, _ in steps)
    wanted = format_trace(times if times[-1] == end_ms else [*times, end_ms])
    assert sha256_of(wanted) in opened.evaluate("location.hash")


def test_a_decimal_comma_is_read_where_it_separates_no_cells(
    opened: Page, url: str, tmp_path: Path
) -> None:
    digests = set()
    for name, text in {
        "comma.csv": "0,6.25\n2.5,12\n",
        "semicolon.csv": "Zeit;Rate\n0;6,25\n2,5;12\n",
        "tab.csv": "0\t6,25\r\n2,5\t12\r\n",
    }.items():
        path = tmp_path / name
        path.write_text(text)
        show(opened, url)
        opened.choose_files("input[type=file]", path)
        digests.add(opened.wait_for(f"location.hash.match(/{name}:(\\w+)/)?.[1]"))
    assert len(digests) == 1


def test_hosts_have_the_latency_and_the_parameters_of_the_address(opened: Page, url: str) -> None:
    powers = set()
    for hosts in ("ideal", "event-loop", "event-loop:wake_us=2000"):
        for latency_us in (0, 20000):
            show(opened, f"{url}#set.window=9&host_model={hosts}&host_latency_us={latency_us}")
            powers.add(opened.evaluate(POWER))
            assert hosts in opened.evaluate(CHOSEN)
    assert len(powers) == 6


def test_seeds_are_said_to_be_equal_only_if_they_are(opened: Page, url: str) -> None:
    for path, is_equal in (("host_model=ideal", True), ("host_model=ideal&loss=0.01", False)):
        show(opened, f"{url}#{path}")
        assert ("equal" in opened.wait_for(SPREAD)) == is_equal


@pytest.mark.parametrize(("width", "is_dark"), [(1400, False), (390, False), (1400, True)])
def test_page_violates_no_rule_of_axe_and_fits_its_width(
    opened: Page, url: str, width: int, is_dark: bool
) -> None:
    show(opened, url + "#b=timely&beside=reno", width, is_dark=is_dark)
    assert opened.wait_for(SWEPT) and opened.wait_for(SPREAD)
    opened.evaluate(f"{chromium.axe()}; null")
    assert opened.evaluate(f"(async () => {{ {VIOLATIONS} }})()") == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_pictures_have_other_colours(opened: Page, url: str) -> None:
    colours = []
    for is_dark in (False, True):
        show(opened, url, is_dark=is_dark)
        dot = "getComputedStyle(document.querySelector('#plane .now')).fill"
        colours.append(
            [
                opened.evaluate(dot),
                opened.evaluate("getComputedStyle(document.body).backgroundColor"),
            ]
        )
    assert colours[0][0] != colours[1][0] and colours[0][1] != colours[1][1]


def test_memory_does_not_grow_over_many_runs(opened: Page, url: str) -> None:
    show(opened, url)

    def run(times: int) -> int:
        for k in range(times):
            slide(opened, "window", (k * 37) % 100 / 100)
        return opened.heap_bytes()

    run(100)
    early = run(20)
    late = run(300)
    assert late < early + 3_000_000


def test_a_student_names_the_best_window_in_few_steps(opened: Page, tmp_path: Path) -> None:
    path = tmp_path / "exercise.html"
    path.write_text(exercise_page("fixed-window"), encoding="utf-8")
    show(opened, path.as_uri())
    assert opened.evaluate("document.getElementById('sweep').hidden")
    reached = "document.querySelectorAll('#exercise li.reached').length"
    assert opened.wait_for("document.querySelector('#exercise li').textContent.includes('now')")
    assert opened.evaluate(reached) == 0
    # A trial takes a second: ten coarse positions of the slider, then single packets by keys.
    looks, best = 0, (0.0, 0.0)
    for share in (k / 10 for k in range(11)):
        slide(opened, "window", share)
        best, looks = max(best, (float(opened.evaluate(POWER)), share)), looks + 1
    slide(opened, "window", best[1])
    opened.evaluate(f"{SLIDER.format('window')}.focus()")
    for key, most in (("ArrowLeft", 6), ("ArrowRight", 12)):
        for _ in range(most):
            if opened.evaluate(reached):
                break
            opened.press(key)
            settle(opened)
            looks += 1
    assert opened.evaluate(reached) == 1 and looks < 120


def test_an_exercise_hides_what_it_does_not_need_and_tries_a_hidden_link(
    opened: Page, tmp_path: Path
) -> None:
    path = tmp_path / "exercise.html"
    path.write_text(exercise_page("delay-bound"), encoding="utf-8")
    show(opened, path.as_uri() + "#set.rtt_threshold_ms=90&set.alpha=1&set.beta=10")
    opened.wait_for("document.querySelectorAll('#exercise li.reached').length === 2")
    assert opened.evaluate("document.querySelectorAll('.slider').length") == 3
    assert opened.evaluate("document.getElementById('conditions').children.length") == 0
    opened.evaluate("document.querySelector('#exercise button').click()")
    told = opened.wait_for("document.querySelector('#exercise [role=status]').textContent")
    assert told.count("Reached there") == 2


def test_dalida_is_beaten_by_another_controller(opened: Page, tmp_path: Path) -> None:
    path = tmp_path / "exercise.html"
    path.write_text(exercise_page("beat-dalida"), encoding="utf-8")
    show(opened, path.as_uri())
    goal = "document.querySelector('#exercise li').textContent"
    assert "43.9" in opened.wait_for(f"{goal}.includes('above') && {goal}")
    assert opened.evaluate("document.querySelectorAll('#exercise li.reached').length") == 0


def test_parameters_of_the_start_belong_to_its_controller(opened: Page, tmp_path: Path) -> None:
    path = tmp_path / "exercise.html"
    path.write_text(page_of(TASK), encoding="utf-8")
    show(opened, path.as_uri())
    first = opened.evaluate(POWER)
    for name, value in (("timely", None), ("fixed_window", "60")):
        opened.evaluate(
            "(() => { const chosen = document.querySelector('#setting select');"
            f"chosen.value = '{name}'; chosen.dispatchEvent(new Event('change')); }})()"
        )
        settle(opened)
        assert not opened.evaluate(WRONG)
        assert (opened.evaluate("location.hash.match(/set.window=(.*)/)?.[1]")) == value
    assert opened.evaluate(POWER) == first
    show(opened, f"{path.as_uri()}#controller=timely")
    assert not opened.evaluate(WRONG) and "timely" in opened.evaluate(CHOSEN)


def test_any_title_and_text_leave_the_page_whole(opened: Page, tmp_path: Path) -> None:
    title = "<!-- <script> {{ module }} {{ data }} </script> &amp; \\1"
    path = tmp_path / "exercise.html"
    path.write_text(page_of({**TASK, "title": title, "text": f"{title}</script>"}))
    show(opened, path.as_uri())
    assert opened.evaluate("[document.title, document.querySelector('h1').textContent]") == [
        title,
        title,
    ]
    assert title[:20] in opened.evaluate("document.getElementById('exercise').textContent")

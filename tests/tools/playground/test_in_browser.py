"""The page in a real browser: what readers do with it, and what goes wrong."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

from kneepoint.common.files import sha256_of
from kneepoint.networks.traces import format_trace, trace_of_rates
from tests.browser import chromium
from tests.browser.devtools import Page, browser
from tests.browser.test_report_page import VIOLATIONS
from tests.tools.playground.conftest import exercise_page

pytestmark = pytest.mark.slow

POWER = "document.querySelector('#numbers td').title"
STATUS = "document.getElementById('status')"
WRONG = f"{STATUS}.classList.contains('wrong') && {STATUS}.textContent"
DRAWN = "document.querySelector('#plane circle.now') && document.querySelector('#series canvas')"
SWEPT = "document.querySelector('#sweep .named')?.textContent"
SLIDER = "document.querySelector('[data-name={}] input[type=range]')"
SPREAD = "document.querySelector('#numbers td small').textContent"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    chromium.program()
    with browser(tmp_path_factory.mktemp("browser")) as page:
        yield page


@pytest.fixture
def url(playground: str, tmp_path: Path) -> str:
    path = tmp_path / "playground.html"
    path.write_text(playground, encoding="utf-8")
    return path.as_uri()


def show(page: Page, url: str, width: int = 1400, *, is_dark: bool = False) -> None:
    page.problems.clear()
    page.resize(width, 900, is_dark=is_dark)
    page.open(url)
    page.wait_for(DRAWN)
    settle(page)


def settle(page: Page) -> None:
    """Waits until the newest run is drawn."""
    page.wait_for("document.getElementById('pictures').ariaBusy === 'false'")


def slide(page: Page, name: str, share: float) -> None:
    page.evaluate(
        f"(() => {{ const slider = {SLIDER.format(name)}; slider.value = {1000 * share};"
        "slider.dispatchEvent(new Event('input')); })()"
    )
    settle(page)


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
    address = opened.evaluate("location.hash")
    assert "set.window=" in address
    assert opened.evaluate("document.querySelectorAll('#plane circle[opacity]').length") == 1
    opened.open("about:blank")
    show(opened, url + address)
    assert opened.evaluate(POWER) == second


def test_keys_move_a_slider_by_one_packet(opened: Page, url: str) -> None:
    show(opened, url + "#set.window=20")
    first = opened.evaluate(POWER)
    opened.evaluate(f"{SLIDER.format('window')}.focus()")
    opened.press("ArrowRight", 2)
    opened.wait_for(f"{POWER} !== '{first}'")
    assert opened.evaluate("location.hash").endswith("set.window=22")


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
    trace, rates = tmp_path / "two.trace", tmp_path / "rates.csv"
    trace.write_text("".join(f"{k}\n" for k in range(2, 5001, 2)))  # 6.016 Mbit/s
    rates.write_text("time_s,mbps\r\n0,6.016\r\n5,12.032\r\n")
    capacity = []
    for path in (trace, rates):
        opened.choose_files("input[type=file]", path)
        opened.wait_for(f"decodeURIComponent(location.hash).includes('uplink={path.name}')")
        settle(opened)
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


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("letters.trace", b"1\n2\nabc\n", "line 3"),
        ("empty.trace", b"", "empty"),
        ("windows.trace", b"1\r\n2\r\n", "line 1"),
        ("large.trace", b"1\n" * 50_000_000, "100 MB"),
        ("letters.csv", b"time,rate\n0,1\nx,2\n", "x"),
    ],
)
def test_a_broken_file_gives_a_line_and_the_last_picture_stays(
    opened: Page, url: str, tmp_path: Path, name: str, content: bytes, told: str
) -> None:
    show(opened, url + "#set.window=10")
    before = [opened.evaluate(POWER), opened.evaluate("location.hash")]
    path = tmp_path / name
    path.write_bytes(content)
    opened.choose_files("input[type=file]", path)
    line = opened.wait_for(WRONG)
    assert told in line and "\n" not in line
    assert [opened.evaluate(POWER), opened.evaluate("location.hash")] == before


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("#nonsense", "nonsense"),
        ("#set.window=wide", "wide"),
        ("#lnk=constant", "lnk"),
        ("#controller=%E0%A4%A", "%"),
        ("#controller=renoo", "renoo"),
    ],
)
def test_a_broken_address_gives_a_line_and_the_default(
    opened: Page, url: str, address: str, told: str
) -> None:
    show(opened, url)
    default = opened.evaluate(POWER)
    opened.open("about:blank")
    show(opened, url + address)
    assert told in opened.wait_for(WRONG)
    assert opened.evaluate(POWER) == default


def test_a_parameter_out_of_range_and_a_missing_file_keep_the_picture(
    opened: Page, url: str
) -> None:
    show(opened, url + "#set.window=10")
    power = opened.evaluate(POWER)
    for hash_, told in (
        ("#set.window=-5", "window"),
        ("#set.windo=5", "windo"),
        ("#link=moon", "moon"),
        ("#queue=droptail:packets=none", "packets"),
        ("#link=file&uplink=lte.trace:" + "a" * 64, "lte.trace"),
    ):
        opened.evaluate(f"location.hash = '{hash_}'")
        line = opened.wait_for(f"({WRONG}) && {STATUS}.textContent.includes('{told}') && {WRONG}")
        assert "\n" not in line and opened.evaluate(POWER) == power


def test_without_webassembly_the_page_says_so(
    opened: Page, playground: str, tmp_path: Path
) -> None:
    path = tmp_path / "old.html"
    path.write_text(
        playground.replace("<body>", "<body><script>delete WebAssembly.compile</script>")
    )
    opened.open(path.as_uri())
    assert opened.wait_for(WRONG)


@pytest.mark.parametrize(("width", "is_dark"), [(1400, False), (390, False), (1400, True)])
def test_page_violates_no_rule_of_axe_and_fits_its_width(
    opened: Page, url: str, width: int, is_dark: bool
) -> None:
    show(opened, url + "#b=timely&beside=reno", width, is_dark=is_dark)
    opened.wait_for(SWEPT)
    opened.evaluate(f"{chromium.axe()}; null")
    assert opened.evaluate(f"(async () => {{ {VIOLATIONS} }})()") == []
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_dark_pictures_have_other_colours(opened: Page, url: str) -> None:
    colours = []
    for is_dark in (False, True):
        opened.open("about:blank")
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
    # A look takes a second: ten coarse places of the slider, then single packets by keys.
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

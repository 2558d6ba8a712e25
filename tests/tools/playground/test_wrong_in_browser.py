"""The page in a real browser: wrong addresses and files, which change no setting."""

from pathlib import Path

import pytest

from tests.browser.devtools import Page
from tests.tools.playground.conftest import TASK, page_of
from tests.tools.playground.page_steps import CHOSEN, POWER, SPREAD, SWEPT, WRONG, show

pytestmark = pytest.mark.slow

COUNT_RUNS = """(() => {
  window.runs = 0;
  const { postMessage } = Worker.prototype;
  Worker.prototype.postMessage = function (job) {
    window.runs += job.kind === "run";
    postMessage.call(this, job);
  };
})()"""
RESTED = "new Promise((done) => setTimeout(done, 600))"


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("letters.trace", b"1\n2\nabc\n", "line 3"),
        ("empty.trace", b"", "empty"),
        ("windows.trace", b"1\r\n2\r\n", "line 1"),
        ("large.trace", b"1\n" * 50_000_000, "100 MB"),
        ("letters.csv", b"time,rate\n0,1\nx,2\n", "x"),
        ("half.csv", b"time,5\n1,6\n2,7\n", "time,5"),
        ("three.csv", b"0,6,5\n1,7,5\n", "0,6,5"),
        ("endless.csv", b"0,0\n1,0\nInfinity,1\n", "Infinity"),
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
        ("#controller=", "controller"),
        ("#beside=renoo", "renoo"),
        ("#set.window=5&set.window=6", "twice"),
        ("#set.__proto__=5", "__proto__"),
        ("#b.set.window=5", "window"),
        ("#seed=9007199254740993", "2^53"),
    ],
)
def test_a_broken_address_gives_a_line_and_the_default(
    opened: Page, url: str, address: str, told: str
) -> None:
    show(opened, url)
    default = opened.evaluate(POWER)
    show(opened, url + address)
    assert opened.wait_for(SWEPT) and opened.wait_for(SPREAD)
    assert told in opened.evaluate(WRONG)
    assert opened.evaluate(POWER) == default


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("#set.windo=5", "windo"),
        ("#sweep=windo", "windo"),
        ("#link=moon", "moon"),
        ("#queue=moon:packets=5", "moon"),
        ("#host_model=moon", "moon"),
        ("#loss=all", "all"),
        ("#controller=rule&rule=w+=+x", "'x'"),
        ("#rule=w+=+w", "rule"),
        ("#controller=rule&b=rule&b.rule=w+=", "b_rule"),
        ("#controller=rule&rule=w+=+w&set.code_0=7", "code_0"),
        ("#controller=rule&rule=w+=+w+%2B+1&set.number_0=7", "number_0"),
    ],
)
def test_a_broken_address_later_keeps_the_state(
    opened: Page, url: str, address: str, told: str
) -> None:
    show(opened, url + "#controller=timely&link=constant")
    assert opened.wait_for(SWEPT) and opened.wait_for(SPREAD)
    before = opened.evaluate(f"[{POWER}, {CHOSEN}]")
    opened.evaluate(COUNT_RUNS)
    opened.evaluate(f"location.hash = '{address}'; null")
    assert told in opened.wait_for(WRONG)
    opened.evaluate(RESTED)
    assert opened.evaluate(f"[{POWER}, {CHOSEN}, runs]") == [*before, 0]
    opened.evaluate("document.querySelector('#copy').click()")
    assert "link=constant" in opened.evaluate("location.hash")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("#set.window=-5", "window"),
        ("#loss=-0.1", "loss"),
        ("#loss=2", "loss"),
        ("#queue=droptail:packets=none", "packets"),
        ("#link=constant&rate_mbps=0", "rate_mbps"),
        ("#link=constant&duration_s=-1", "duration_s"),
        ('#further={"flows":null}', "scenario"),
        ('#further={"flows":3}', "scenario"),
        ('#further={"uplink":null}', "scenario"),
        ("#link=file&uplink=lte.trace:" + "a" * 64, "lte.trace"),
    ],
)
def test_a_state_that_cannot_run_keeps_the_picture_and_runs_nothing_further(
    opened: Page, url: str, address: str, told: str
) -> None:
    show(opened, url + "#set.window=10")
    assert opened.wait_for(SWEPT) and opened.wait_for(SPREAD)
    power = opened.evaluate(POWER)
    opened.evaluate(COUNT_RUNS)
    opened.evaluate(f"location.hash = '{address}'; null")
    line = opened.wait_for(WRONG)
    opened.evaluate(RESTED)
    assert told in line and "\n" not in line and opened.evaluate(POWER) == power
    assert opened.evaluate("runs") <= 2 and opened.evaluate(WRONG) == line


def test_an_exercise_refuses_what_it_does_not_offer(opened: Page, tmp_path: Path) -> None:
    path = tmp_path / "exercise.html"
    path.write_text(page_of(TASK), encoding="utf-8")
    for address in ("#controller=cubic", "#b=cubic"):
        show(opened, path.as_uri() + address)
        assert "cubic" in opened.evaluate(WRONG)
        assert "fixed_window" in opened.evaluate(CHOSEN)


def test_a_folder_gives_a_line(opened: Page, url: str, tmp_path: Path) -> None:
    show(opened, url)
    folder = tmp_path / "traces"
    folder.mkdir()
    opened.drop(folder)
    assert "traces" in opened.wait_for(WRONG) and opened.problems == []


def test_without_webassembly_the_page_says_so(
    opened: Page, playground: str, tmp_path: Path
) -> None:
    path = tmp_path / "old.html"
    path.write_text(
        playground.replace("<body>", "<body><script>delete WebAssembly.compile</script>")
    )
    opened.open(path.as_uri())
    assert opened.wait_for(WRONG)

"""The dashboard in a real browser shows the studies, and the report beside them."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from wsgiref.simple_server import make_server

import optuna
import optuna_dashboard  # type: ignore[import-untyped]
import pytest

from kneepoint.search.dashboard import make_dashboard
from kneepoint.search.storage_copy import write_sqlite
from tests.browser import chromium
from tests.browser.devtools import Page, browser
from tests.search import many_kinds

pytestmark = pytest.mark.slow

FRONT, RACED = 0, 1


_WORDS = """(() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (!parentElement.closest("script, style")) found.push(data);
  }
  return found.join(" ").replace(/\\s+/g, " ").trim();
})()"""


def words_at(page: Page, url: str, *wanted: str) -> str:
    """Opens a page, waits until its scripts have drawn the wanted words, and returns all words."""
    page.open(url)
    for each in wanted:
        page.wait_for(f"{_WORDS}.includes({json.dumps(each)})")
    return str(page.evaluate(_WORDS))


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    chromium.program()
    many_kinds.write(tmp_path)
    (tmp_path / "report.html").write_text('<h2 id="search-raced">The race</h2>')
    with make_dashboard(tmp_path, 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_dashboard_shows_names_units_notes_fronts_and_pruned_trials(
    served: str, tmp_path: Path
) -> None:
    with browser(tmp_path) as page:
        page.resize(1600, 1400)

        def shown(path: str, *words: str) -> str:
            return words_at(page, f"{served}/{path}", *words)

        shown("dashboard/", "raced: Delay threshold, raced", "front: Throughput against delay")
        named = ("mean power (Mbit/s/s)", "rtt_threshold (ms)", "contest, steady", "emulator")
        shown(f"dashboard/studies/{RACED}", "the best", "selection", *named)
        shown(f"dashboard/studies/{RACED}/analytics", "Param alpha (packets)", "Objective Value")
        parallel = shown(f"dashboard/studies/{RACED}/smartSelection", "y Axis")
        # to choose from, and an axis
        assert parallel.partition("y Axis")[0].count("rtt_threshold (ms)") == 2
        note = ("raced in the report", "delay_threshold on contest, steady")
        shown(f"dashboard/studies/{RACED}/note", *note)
        shown(f"dashboard/studies/{RACED}/trials?numbers=1", "Pruned", "throughput (Mbit/s)")
        drawn = ("Pareto Front", "Objective Y: signal_delay_p95 (ms)", "Infeasible", "Trial 1")
        front = shown(f"dashboard/studies/{FRONT}", *drawn)
        best = front.partition("Best Trials")[2]
        assert "Trial 1" in best and "Trial 2" not in best
        assert shown("report.html", "The race") == "The race"


def test_dashboard_opens_the_file_of_all_studies(tmp_path: Path) -> None:
    chromium.program()
    many_kinds.write(tmp_path)
    storage = optuna.storages.RDBStorage(f"sqlite:///{write_sqlite(tmp_path)}")
    with make_server("127.0.0.1", 0, optuna_dashboard.wsgi(storage)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/dashboard/"
        with browser(tmp_path) as page:
            words_at(page, url, "front: Throughput against delay")
        server.shutdown()
        thread.join()

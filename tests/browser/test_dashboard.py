"""The dashboard in a real browser shows what the studies hold, and the report beside them."""

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
from tests.search import many_kinds

pytestmark = pytest.mark.slow

WIDE = "--window-size=1600,1400"
FRONT, RACED = 0, 1


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
    def shown(path: str) -> str:
        return chromium.text_at(f"{served}/{path}", tmp_path, WIDE)

    studies = shown("dashboard/")
    assert "raced: Delay threshold, raced" in studies
    assert "front: Throughput against delay" in studies
    history = shown(f"dashboard/studies/{RACED}")
    assert "mean power (Mbit/s/s)" in history and "rtt_threshold (ms)" in history
    assert "the best" in history and "selection" in history
    assert "contest, steady" in history and "emulator" in history
    slices = shown(f"dashboard/studies/{RACED}/analytics")
    assert "Param alpha (packets)" in slices and "Objective Value" in slices
    parallel = shown(f"dashboard/studies/{RACED}/smartSelection").partition("y Axis")[0]
    assert parallel.count("rtt_threshold (ms)") == 2  # to choose from, and an axis
    note = shown(f"dashboard/studies/{RACED}/note")
    assert "raced in the report" in note and "delay_threshold on contest, steady" in note
    trials = shown(f"dashboard/studies/{RACED}/trials?numbers=1")
    assert "Pruned" in trials and "throughput (Mbit/s)" in trials
    front = shown(f"dashboard/studies/{FRONT}")
    assert "Pareto Front" in front and "Objective Y: signal_delay_p95 (ms)" in front
    best = front.partition("Best Trials")[2]
    assert "Infeasible" in front and "Trial 1" in best and "Trial 2" not in best
    assert shown("report.html") == "The race"


def test_dashboard_opens_the_file_of_all_studies(tmp_path: Path) -> None:
    chromium.program()
    many_kinds.write(tmp_path)
    storage = optuna.storages.RDBStorage(f"sqlite:///{write_sqlite(tmp_path)}")
    with make_server("127.0.0.1", 0, optuna_dashboard.wsgi(storage)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/dashboard/"
        assert "front: Throughput against delay" in chromium.text_at(url, tmp_path, WIDE)
        server.shutdown()
        thread.join()

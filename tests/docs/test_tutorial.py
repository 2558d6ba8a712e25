"""The tutorial works as written; a separate file, so that a separate process follows it."""

import json
from collections.abc import Mapping
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.docs.conftest import set_up
from tests.docs.pages import follow
from tests.reports.consistency import contradictions

pytestmark = pytest.mark.slow


def test_the_tutorial_ends_in_a_report_on_a_network_that_no_search_has_seen(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    clone = tmp_path / "kneepoint"
    for _ in follow(ROOT / "docs/tutorial.md", tmp_path, environment):
        if clone.exists() and not (clone / ".venv").exists():
            set_up(clone)
    results = clone / "lab/results"
    held = pd.read_parquet(results / "held_out_settings.parquet")
    assert "small_queue" in set(held["controller"])
    networks = pd.read_parquet(results / "hold_out/networks.parquet")
    assert set(networks["network"]) == {
        "lab",
        "lab-held-out",
        "synthetic-fast",
        "lab-commute",
    }
    assert contradictions(results / "report.html") == []
    html = (results / "report.html").read_text()
    assert "A commute" in html
    assert "Small queue, tuned" in html
    assert (clone / "first.svg").read_text().startswith("<?xml")
    found = json.loads((results / "tune-small-queue/study.json").read_text())
    assert found["n_trials"] == 40

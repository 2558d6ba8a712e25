import json
import sys
from pathlib import Path

import pytest

from reports import contradicted
from reports.collect import Results
from tests.reports import synthetic


def test_contradicted_names_the_wrong_row() -> None:
    assert contradicted.contradicted(synthetic.results()) == [("001-fixed-window", 7)]


def test_contradicted_names_nothing_without_results() -> None:
    assert contradicted.contradicted(Results()) == []


@pytest.mark.usefixtures("workspace")
def test_main_writes_a_list_and_needs_studies_only(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("results/showcase/uplink.log").unlink()
    Path("results/repeats/again/runs.parquet").unlink()
    command = ["contradicted", "--config", "config/config.yaml", "--out", "new/contradicted.json"]
    monkeypatch.setattr(sys, "argv", command)
    contradicted.main()
    assert json.loads(Path("new/contradicted.json").read_text()) == []

"""A contest that identifies the rule that each entry behaves like."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.engines.catalogue import load_catalogue
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.run import JSON, PAGE, ContestRun
from tests.controllers.emulator import EMULATE
from tests.entries.trees import kit


def test_entries_are_told_by_the_rule_that_they_behave_like(
    contest_run: ContestRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContestRun, "_draw_runs", lambda *_: {})
    monkeypatch.setattr("kneepoint.tools.contest.run.draw_figures", lambda *_: {})
    kit(tmp_path / "entries/anna", 5)
    kit(tmp_path / "entries/carl", 40)
    plain = contest_run.score(tmp_path / "entries", lambda _: None)
    assert all("behaviour" not in row for row in plain["ranking"])
    page = (contest_run.folder / PAGE).read_bytes()

    catalogue = load_catalogue(EMULATE)
    names = ("fixed_window", "aimd_timeout")
    known = [(catalogue.controller(name, "test"), None) for name in names]
    found = replace(contest_run, known=known).score(tmp_path / "entries", lambda _: None)
    for row in found["ranking"]:
        behaviour = row.pop("behaviour")
        nearest = behaviour["families"][0]
        assert nearest["family"] == "fixed_window"
        assert nearest["parameters"]["window"] == {"anna": 5, "carl": 40}[row["name"]]
        assert behaviour["behaves_like"].startswith("fixed_window with window ")
        assert behaviour["prediction"].keys() == {"slow", "fast", "all"}
        assert abs(behaviour["prediction"]["all"]["ratio"] - 1) < 0.03
    assert found["ranking"] == plain["ranking"]
    assert json.loads((contest_run.folder / JSON).read_text())["ranking"][0]["behaviour"]
    assert b"fixed_window with window 40" in (contest_run.folder / PAGE).read_bytes()
    contest_run.score(tmp_path / "entries", lambda _: None)
    assert (contest_run.folder / PAGE).read_bytes() == page


def test_only_emulated_runs_are_watched() -> None:
    with pytest.raises(ValueError, match="behaviour needs engine emulator"):
        Contest(title="Test", practice=("known",), engine="mahimahi", behaviour=True)

"""No entry ends the contest: any error goes into the entry's row, and into a line on stderr."""

import csv
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError, MachineError
from kneepoint.common.json_text import Json
from kneepoint.engines.base import MachineFaultError, RunRecord, RunSpec
from kneepoint.engines.emulator import EmulatorEngine
from kneepoint.entries.collect import in_calendar
from kneepoint.entries.entries import EntryBuilder, Sender
from kneepoint.tools.contest import feedback, leaderboard, page, run, scoring
from kneepoint.tools.contest.command import csv_of
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.run import PAGE, ContestRun
from tests.entries.trees import git, kit, repository
from tests.tools.contest.conftest import make_contest_run

pytestmark = pytest.mark.attacks

Shared = tuple[ContestRun, Path]


def silent(_: str) -> None:
    """Reports to nobody."""


@pytest.fixture(autouse=True)
def _undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ContestRun, "_draw_runs", lambda *_: {})
    monkeypatch.setattr("kneepoint.tools.contest.run.draw_figures", lambda *_: {})


@pytest.fixture(scope="module")
def shared(builder: EntryBuilder, tmp_path_factory: pytest.TempPathFactory) -> Shared:
    """A contest of anna, mallory and zoe, whose runs are made once."""
    folder = tmp_path_factory.mktemp("shared")
    for window, name in enumerate(("anna", "mallory", "zoe"), 5):
        kit(folder / "entries" / name, window)
    return make_contest_run(folder, builder), folder / "entries"


class OddError(Exception):
    """An unforeseen error."""


def name_in(given: tuple[object, ...]) -> str:
    """Returns the scored entry among a call's arguments; "" for none or several entries."""
    for each in given:
        if isinstance(each, Sender):
            return each.name
        if isinstance(each, dict) and "name" in each and "score" in each:
            return str(each["name"])
        if isinstance(each, RunSpec) and each.entry:
            return each.entry.name
    return ""


def odd_for(name: str, right: Callable[..., Any]) -> Callable[..., Any]:
    def odd(*given: object, **named: object) -> object:
        if name_in(given) == name:
            raise OddError(f"/srv/organiser/secret of {name} \x1b[2J")
        return right(*given, **named)

    return odd


STEPS = [
    (scoring, "_scored"),
    (leaderboard, "_row"),
    (leaderboard, "_means"),
    (feedback, "_results"),
    (page, "_interval"),
    (EmulatorEngine, "run"),
]


@pytest.mark.parametrize(("of", "step"), STEPS, ids=[step for _, step in STEPS])
def test_an_error_at_any_step_is_the_entrys_row(
    tmp_path: Path,
    builder: EntryBuilder,
    shared: Shared,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    of: object,
    step: str,
) -> None:
    contest_run, entries = shared
    if step == "run":  # its runs are not in the journal yet
        contest_run = make_contest_run(tmp_path, builder)
    monkeypatch.setattr(of, step, odd_for("mallory", getattr(of, step)))
    found = contest_run.score(entries, silent)
    assert {row["name"] for row in found["ranking"]} == {"anna", "zoe"}
    (row,) = found["failed"]
    assert row["name"] == "mallory" and "OddError" in row["reason"]
    assert "organiser" not in row["reason"] and row["reason"].isprintable()
    assert "OddError" in (contest_run.folder / PAGE).read_text()
    if step != "run":  # the runs are in the journal
        said = capsys.readouterr().err
        assert "mallory" in said and "test_boundary.py, line" in said and "\x1b" not in said


def test_an_entry_of_which_no_row_can_be_made_is_left_out(
    shared: Shared, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    contest_run, entries = shared
    right = leaderboard._identity

    def odd(contest: Contest, entry: Sender) -> Json:
        return {} if entry.name == "mallory" else right(contest, entry)

    monkeypatch.setattr(leaderboard, "_identity", odd)
    found = contest_run.score(entries, silent)
    assert {row["name"] for row in found["ranking"]} == {"anna", "zoe"} and not found["failed"]
    assert "mallory" in capsys.readouterr().err


def test_an_error_that_is_no_entrys_is_raised(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    contest_run, entries = shared
    for error in (OddError, MachineError("no space"), OSError(28, "No space left on device")):

        def fail(*_: object, error: Any = error) -> None:
            raise error

        monkeypatch.setattr("kneepoint.tools.contest.run.write_page", fail)
        with pytest.raises(type(error) if isinstance(error, Exception) else error):
            contest_run.score(entries, silent)


@pytest.mark.parametrize("date", ["99999999999999", "253402300800", "18446744073709551614"])
def test_commits_of_any_date_are_scored(contest_run: ContestRun, tmp_path: Path, date: str) -> None:
    entries = tmp_path / "entries"
    kit(entries / "anna", 5)
    tree = repository(kit(tmp_path / "work", 6))
    commit = git(tree, "cat-file", "commit", "HEAD")
    lines = [
        f"{line.rpartition('> ')[0]}> {date} +0000" if line.startswith("committer ") else line
        for line in commit.splitlines()
    ]
    (tree / "commit").write_text("\n".join(lines) + "\n")
    odd = git(tree, "hash-object", "-t", "commit", "-w", "--literally", "commit")
    git(tree, "update-ref", "refs/heads/main", odd)
    (entries / "entries.yaml").write_text("entries: {mallory: {git: ../work}}")
    dated = contest_run.contest.model_copy(update={"deadline": "2027-01-01T00:00Z"})
    found = replace(contest_run, contest=dated).score(entries, silent)
    rows = {row["name"]: row for row in found["ranking"]}
    assert rows.keys() == {"anna", "mallory"}
    assert rows["mallory"]["late"] and rows["mallory"]["arrived"].startswith("9999-12-31")


@pytest.mark.parametrize("written_s", [float("nan"), -1e30, 0, 253402300800, 1e30, float("inf")])
def test_files_of_any_date_are_scored(written_s: float) -> None:
    contest = Contest(title="Test", practice=("known",), deadline="2027-01-01T00:00Z")
    entry = Sender("mallory", arrived_s=in_calendar(written_s))
    assert leaderboard._identity(contest, entry)["arrived"] == (
        "9999-12-31T23:59:59+00:00" if written_s > 0 else None
    )


def test_watching_goes_on_when_a_repository_cannot_be_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "entries").mkdir()
    repository(kit(tmp_path / "work"))
    (tmp_path / "entries/entries.yaml").write_text("entries: {anna: {git: ../work}}")
    stat = Path.stat

    def vanished(path: Path, **how: bool) -> os.stat_result:
        found = stat(path, **how)
        if path.name == "HEAD" and not how and sys._getframe(1).f_code.co_name != "is_file":
            raise FileNotFoundError(2, "No such file or directory", str(path))
        return found

    monkeypatch.setattr(Path, "stat", vanished)
    looks = iter([False, False, True])
    scored: list[int] = []
    run.watch(tmp_path / "entries", lambda: scored.append(1), 0, lambda: next(looks))
    assert scored == [1]


def test_faults_that_several_entries_provoke_end_nothing(
    tmp_path: Path, builder: EntryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three submissions by one author, whose runs look like faults of the machine."""
    for window, name in enumerate(("anna", "m@1", "m@2", "m@3", "m@4", "zoe"), 5):
        kit(tmp_path / "entries" / name, window)
    right = EmulatorEngine.run

    def disturb(engine: EmulatorEngine, spec: RunSpec) -> RunRecord:
        if spec.entry and spec.entry.name.startswith("m@"):
            raise MachineFaultError("it never ends", is_final=True)
        return right(engine, spec)

    monkeypatch.setattr(EmulatorEngine, "run", disturb)
    found = make_contest_run(tmp_path, builder).score(tmp_path / "entries", silent)
    assert {row["name"] for row in found["ranking"]} == {"anna", "zoe"}
    assert len(found["failed"]) == 4 and all(row["is_disturbed"] for row in found["failed"])


def test_faults_of_our_own_controllers_end_the_contest(
    tmp_path: Path, builder: EntryBuilder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kit(tmp_path / "entries/anna", 5)
    contest_run = make_contest_run(tmp_path, builder)
    (ours,) = contest_run.baselines
    assert ours.controller is not None
    baselines = [
        replace(ours, name=f"ours {window}", controller=(ours.controller[0], {"window": window}))
        for window in range(20, 26)
    ]

    def disturb(*_: object) -> RunRecord:
        raise MachineFaultError("the disk is full", is_final=True)

    monkeypatch.setattr(EmulatorEngine, "run", disturb)
    with pytest.raises(KneepointError, match="the disk is full"):
        replace(contest_run, baselines=baselines).score(tmp_path / "entries", silent)


@pytest.mark.parametrize("reason", ["=HYPERLINK(1)", "@SUM(A1)", "+1", "-cmd|' /C calc'!A0"])
def test_no_cell_for_a_spreadsheet_is_a_formula(reason: str) -> None:
    row = {"name": "mallory", "author": "mallory", "reason": reason, "score": -1.5}
    found = {"ranking": [], "baselines": [], "apart": [], "earlier": [], "failed": [row]}
    (line,) = list(csv.DictReader(csv_of(found).splitlines()))
    assert line["reason"] == f"'{reason}" and float(line["score"]) == -1.5


def test_long_reasons_are_cut(shared: Shared, monkeypatch: pytest.MonkeyPatch) -> None:
    contest_run, entries = shared

    def fail(*_: object) -> Sender:
        raise KneepointError("x" * 5000)

    monkeypatch.setattr(scoring, "_scored", fail)
    found = contest_run.score(entries, silent)
    assert all(len(row["reason"]) < 500 for row in found["failed"]) and len(found["failed"]) > 2


def test_a_figure_is_kept_whole_or_not_at_all(
    contest_run: ContestRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full while a figure is thinned: the next contest draws it anew."""
    kit(tmp_path / "entries/anna", 5)
    monkeypatch.undo()
    monkeypatch.setattr("kneepoint.tools.contest.run.draw_figures", lambda *_: {})
    whole = replace(contest_run, folder=tmp_path / "whole")
    found = whole.score(tmp_path / "entries", silent)

    def fail(_: bytes) -> bytes:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("kneepoint.tools.contest.run.thinned", fail)
        with pytest.raises(OSError, match="No space"):
            contest_run.score(tmp_path / "entries", silent)
    assert contest_run.score(tmp_path / "entries", silent)["ranking"] == found["ranking"]
    pages = [(each.folder / PAGE).read_bytes() for each in (whole, contest_run)]
    assert pages[0] == pages[1]

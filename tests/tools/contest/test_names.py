"""Only the organiser's list determines the author of an entry; similar names are marked."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.tools.contest.aliases import anonymous, complete_key, read_key
from kneepoint.tools.contest.run import PAGE, ContestRun
from tests.entries.trees import kit

pytestmark = pytest.mark.attacks


def silent(_: str) -> None:
    """Reports to nobody."""


def test_feedback_is_in_folders_that_are_no_options(
    contest_run: ContestRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContestRun, "_draw_runs", lambda *_: {})
    monkeypatch.setattr("kneepoint.tools.contest.run.draw_figures", lambda *_: {})
    kit(tmp_path / "entries/anna", 5)
    names = ("-rf", "@x", "a\nb", "=1", "x" * 120, "é" * 110, "\U00020000" * 60)
    for name in names:
        (tmp_path / "entries" / name).mkdir()
    found = contest_run.score(tmp_path / "entries", silent)
    assert len(found["failed"]) == len(names)
    folders = {each.name for each in (contest_run.folder / "feedback").iterdir()}
    assert folders == {"anna", *(row["name"] for row in found["failed"])}
    assert all(re.match(r"\w", each) for each in folders)


def test_an_author_by_its_own_word_joins_nobody(
    contest_run: ContestRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ContestRun, "_draw_runs", lambda *_: {})
    monkeypatch.setattr("kneepoint.tools.contest.run.draw_figures", lambda *_: {})
    kit(tmp_path / "entries/anna", 5)
    (kit(tmp_path / "entries/mallory", 6) / "kneepoint.yaml").write_text("author: anna\n")
    kit(tmp_path / "entries/\u0430nna", 7)
    key = tmp_path / "key.csv"
    key.write_text("author,alias\nanna,Rubidium\n")
    said: list[str] = []
    open_run = replace(contest_run, folder=tmp_path / "open")
    found = open_run.score(tmp_path / "entries", said.append)
    authors = {row["name"]: row["author"] for row in found["ranking"]}
    assert authors == {"anna": "anna", "mallory": "mallory", "\u0430nna": "\u0430nna"}
    assert {(row["author"], row["number"]) for row in found["history"]} == {
        (name, 1) for name in authors
    }
    assert sum("CYRILLIC" in line for line in said) == 2
    assert (open_run.folder / PAGE).read_text().count("CYRILLIC SMALL LETTER A") == 2
    hidden = replace(contest_run, key=key).score(tmp_path / "entries", silent)
    aliases = read_key(key)
    assert len(set(aliases.values())) == 3
    assert [row["author"] for row in hidden["ranking"]].count("Rubidium") == 1
    assert "CYRILLIC" not in (contest_run.folder / PAGE).read_text()


def test_a_key_has_authors_in_the_form_of_names(tmp_path: Path) -> None:
    path = tmp_path / "key.csv"
    path.write_text("author,alias\nZoe\u0308,Rubidium\n")
    assert complete_key(path, ["Zo\u00eb"]) == {"Zo\u00eb": "Rubidium"}


def test_aliases_of_an_authors_many_entries_are_all_different() -> None:
    """The digests of two of these names begin with the same digits."""
    rows = [{"author": "anna", "name": f"anna@{number}"} for number in range(800)]
    found = {"ranking": rows, "apart": [], "earlier": [], "failed": [], "history": [], "pairs": []}
    hidden, aliases = anonymous(found, {"anna": "Rubidium"})
    assert len(set(aliases.values())) == 800 == len({row["name"] for row in hidden["ranking"]})
    assert all(each.startswith("Rubidium@") for each in aliases.values())

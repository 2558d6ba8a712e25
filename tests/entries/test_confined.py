"""Lack of time or of a compiler on the machine is no verdict on an entry."""

from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.common.code import ROOT
from kneepoint.entries import confine
from kneepoint.entries.collect import find_submissions
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder, Sender
from tests.entries.trees import PYTHON_CLASS, kit

CONFINED = Confined(ROOT / "build/confine")


def make_all(entries: Path, builder: EntryBuilder) -> dict[str, Sender]:
    made = builder.make_all(find_submissions(entries), lambda _: None)
    return {each.name: each for each in made}


def test_a_command_that_does_not_end_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confine, "_MAX_WALL_S", 1)
    ended = CONFINED.run(["sleep", "60"], tmp_path)
    assert "more than 1 s" in ended.killed_for


def test_an_entry_in_a_language_that_the_machine_lacks_has_a_row(
    tmp_path: Path, builder: EntryBuilder
) -> None:
    kit(tmp_path / "anna")
    (tmp_path / "bob.py").write_text(PYTHON_CLASS)
    without = replace(builder, compiler=replace(builder.compiler, command="no-such-compiler"))
    made = make_all(tmp_path, without)
    assert "no-such-compiler" in made["anna"].reason and "install" in made["anna"].reason
    assert made["anna"].is_disturbed, "another machine may have it"
    assert made["bob"].built is not None

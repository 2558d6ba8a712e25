"""Scores the entries of FOLDER/entries into FOLDER/board, for tests that kill it.

python -m tests.tools.contest.attacks.one_contest FOLDER [undrawn]
"""

import sys
from pathlib import Path

import pytest

from kneepoint.cli.entries import RUNNER, python_digest
from kneepoint.common.code import ROOT
from kneepoint.common.errors import run_command_line
from kneepoint.common.files import sha256_of
from kneepoint.entries.build import Compiler
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder
from kneepoint.tools.contest import run
from tests.tools.contest.conftest import make_contest_run


def main() -> None:
    """Scores the entries."""
    folder = Path(sys.argv[1])
    if sys.argv[2:]:  # figures take most of the time
        patch = pytest.MonkeyPatch()
        patch.setattr(run, "draw_figures", lambda *_: {})
        patch.setattr(run.ContestRun, "_draw_runs", lambda *_: {})
    compiler = Compiler(folder / "kept", Confined(ROOT / "build/confine"))
    builder = EntryBuilder(compiler, sha256_of(RUNNER.read_bytes()), python_digest())
    make_contest_run(folder, builder).score(folder / "entries", lambda _: None)


if __name__ == "__main__":
    run_command_line(main)

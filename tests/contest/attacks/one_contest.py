"""Scores the entries of FOLDER/entries into FOLDER/board, for tests that kill it.

python -m tests.contest.attacks.one_contest FOLDER
"""

import sys
from pathlib import Path

from common.code import ROOT
from common.errors import run_command_line
from common.files import sha256_of
from contest.build import Compiler
from contest.confine import Confined
from contest.entries import EntryBuilder
from kneepoint.contest import python_digest
from tests.contest.conftest import RUNNER, make_contest_run


def main() -> None:
    """Scores them."""
    folder = Path(sys.argv[1])
    compiler = Compiler(folder / "kept", Confined(ROOT / "build/confine"))
    builder = EntryBuilder(compiler, sha256_of(RUNNER.read_bytes()), python_digest())
    make_contest_run(folder, builder).score(folder / "entries", lambda _: None)


if __name__ == "__main__":
    run_command_line(main)

"""A damaged history is named, and nothing in it is lost."""

from pathlib import Path

import pytest

from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.history import with_history
from tests.conftest import ROOT

GOOD = '{"rules": "r", "author": "a", "name": "n", "digest": "d"}\n'
EMPTY: dict[str, list[object]] = {"earlier": [], "ranking": [], "apart": [], "failed": []}


@pytest.mark.parametrize(
    "line",
    ["{", "null", "[" * 30_000, '{"rules": "r"}', GOOD[:-9], GOOD.replace('"a"', "1"), "\xff"],
)
def test_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes((GOOD + line + "\n").encode("latin-1"))
    before = path.read_bytes()
    contest = read_config(ROOT / "config/contests/offline.yaml", Contest)
    with pytest.raises(KneepointError, match=r"history\.jsonl, line 2: .*; .*remove the line"):
        with_history(EMPTY, contest, path)
    assert path.read_bytes() == before

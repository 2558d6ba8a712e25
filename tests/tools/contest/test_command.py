"""`kneepoint contest`: errors before any work, and its CSV."""

import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner

from kneepoint.common.errors import KneepointError
from kneepoint.tools.contest.command import command, csv_of


@pytest.mark.parametrize(
    ("file", "text", "options", "words"),
    [
        (
            "c.yaml",
            "title: T\npractice: [a]\ndeadline: soon\n",
            ["--contest"],
            ["deadline", "'soon'"],
        ),
        ("key.csv", "author,alias\na,x\na,y\n", ["--names"], ["line 3", "'a' appears twice"]),
        ("unused", "", ["--watch", "--reveal", "--into"], ["--watch --reveal"]),
        ("unused", "", ["--csv", "--json", "--into"], ["--csv --json", "only one"]),
        ("notes.md", "", ["--into"], ["contains no entry"]),
    ],
)
def test_bad_input_is_refused_before_any_work(
    tmp_path: Path, file: str, text: str, options: list[str], words: list[str]
) -> None:
    (tmp_path / file).write_text(text)
    asked = [str(tmp_path), *options, str(tmp_path / file)]
    with pytest.raises(KneepointError) as error:
        CliRunner().invoke(command, asked, catch_exceptions=False)
    assert all(word in str(error.value) for word in words) and "\n" not in str(error.value)
    assert [each.name for each in tmp_path.iterdir()] == [file]


def test_csv_has_all_rows_and_reads_back() -> None:
    found = {
        "ranking": [{"name": "Müller, Zoë", "author": "zoe", "rank": 1, "score": 2.5, "low": None}],
        "baselines": [{"name": "window 5", "author": "", "score": 1.5}],
        "apart": [],
        "earlier": [],
        "failed": [{"name": "bob", "author": "bob", "reason": 'has "no", sender'}],
    }
    rows = list(csv.DictReader(io.StringIO(csv_of(found))))
    assert [(row["table"], row["name"], row["score"], row["reason"]) for row in rows] == [
        ("ranking", "Müller, Zoë", "2.5", ""),
        ("baselines", "window 5", "1.5", ""),
        ("failed", "bob", "", 'has "no", sender'),
    ]

"""Tables in text: the separators of cells, and the names of columns."""

import gzip
from pathlib import Path

import pytest

from kneepoint.common.csv_text import read_csv
from kneepoint.common.errors import KneepointError

MOST = 10_000


def table(path: Path, text: str) -> tuple[list[str], list[list[str]]]:
    path.write_text(text, newline="")
    names, rows = read_csv(path, MOST)
    return names, [cells for _, cells in rows]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("t,n\n0,1\n", ["t", "n"]),
        ("t\tn\n0\t1\n", ["t", "n"]),
        ("t;n\n0;1\n", ["t", "n"]),
        ("t  n\n0 1\n", ["t", "n"]),
        ("t|n\n0|1\n", ["t", "n"]),
        ("t (s; UTC),n|m\n0,1\n", ["t (s; UTC)", "n|m"]),
        ("0\t1\n", ["1", "2"]),
        ("\n0,1\n\n", ["1", "2"]),
    ],
)
def test_cells_are_told_apart(
    tmp_path: Path, text: str, names: list[str], mark: str, end: str
) -> None:
    found = table(tmp_path / "a.csv", mark + text.replace("\n", end))
    assert found == (names, [["0", "1"]])


def test_a_single_column_may_have_spaces_in_its_name(tmp_path: Path) -> None:
    assert table(tmp_path / "a.csv", "rate (Mbit/s)\n1\n") == (["rate (Mbit/s)"], [["1"]])


@pytest.mark.parametrize("first", ["2026-01-02T03:04:05", "2026-01-02 03:04:05.25+01:00", "0,5"])
def test_a_row_of_times_and_numbers_is_no_header(tmp_path: Path, first: str) -> None:
    assert table(tmp_path / "a.csv", f"{first};7\n") == (["1", "2"], [[first, "7"]])


def test_a_compressed_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(gzip.compress(b"t,n\n0,1\n"))
    with pytest.raises(KneepointError, match="gunzip"):
        read_csv(tmp_path / "a.csv", MOST)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("t,n,t\n0,1,2\n", "'t'"),
        ("t,n\n0,1\n0,5,1,5\n", "line 3"),
        ("t,n\n0,1\n0\n", "line 3"),
        ('{"t": [0]}', "JSON"),
        ('\n[{"t": 0}]', "JSON"),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path: Path, text: str, named: str) -> None:
    with pytest.raises(KneepointError, match=named):
        table(tmp_path / "a.csv", text)

"""Reads tables in text: CSV, or separated by semicolons, tabs, bars or spaces."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import read_text
from kneepoint.common.json_text import first_twice

_DELIMITERS = "\t;,|"

Rows = Iterator[tuple[int, list[str]]]
"""The line number and the cells of each row."""


def read_csv(path: Path, max_bytes: int) -> tuple[list[str], Rows]:
    """Returns the names of the columns, and an iterator that reads and checks the rows.

    A first row that has only numbers and times is not a header; the columns are then named 1, 2 and
    so on.

    Raises:
        KneepointError: the file is not such a table, two columns have the same name, or a row is
            longer or shorter than the first.
    """
    text = read_text(path, max_bytes)
    if text.lstrip().startswith(("{", "[")):
        raise KneepointError(f"{path}: is JSON, not a table; write its values as CSV")
    rows = _rows(path, text)
    number, first = next(rows, (1, []))
    names = [cell.strip() for cell in first]
    if names and all(map(_is_value, names)):
        names = [str(place) for place in range(1, len(first) + 1)]
        rows = chain([(number, first)], rows)
    elif (name := first_twice(filter(None, names))) is not None:
        raise KneepointError(f"{path}: column {name!r} appears twice; rename one")
    return names, _of_equal_length(path, number, first, rows)


def _rows(path: Path, text: str) -> Rows:
    if _is_spaced(text):
        lines = enumerate(io.StringIO(text), 1)
        yield from ((number, cells) for number, line in lines if (cells := line.split()))
        return
    delimiter = _delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from ((reader.line_num, cells) for cells in reader if "".join(cells).strip())
    except csv.Error as error:
        raise KneepointError(f"{path}, line {reader.line_num}: {error}; correct it") from None


def _delimiter_of(text: str) -> str:
    """Returns the separator that occurs equally often in the first two lines.

    A comma may be a decimal comma.
    """
    first, second, *_ = [*text.lstrip().split("\n", 2), ""]
    there = [each for each in _DELIMITERS if each in first]
    agreeing = (each for each in there if first.count(each) == second.count(each))
    return next(agreeing, next(iter(there), ","))


def _is_spaced(text: str) -> bool:
    """Returns whether spaces separate equal numbers of words in the first two lines."""
    first, second, *_ = [*text.lstrip().split("\n", 2), ""]
    return not set(_DELIMITERS) & set(first) and 1 < len(first.split()) == len(second.split())


def _is_value(cell: str) -> bool:
    try:
        float(cell.replace(",", ".", 1))
    except ValueError:
        return time_of(cell) is not None
    return True


def time_of(cell: str) -> datetime | None:
    """Returns a cell's date and time (ISO 8601); None for other content."""
    try:
        return datetime.fromisoformat(cell) if len(cell) > len("2026-01-02") else None
    except ValueError:
        return None


def _of_equal_length(path: Path, first: int, header: list[str], rows: Rows) -> Rows:
    for number, cells in rows:
        if len(cells) != len(header):
            other = next((each for each in _DELIMITERS if any(each in cell for cell in cells)), "")
            remedy = (
                f"separate all lines alike, not some by {other!r}" if other else "make them agree"
            )
            raise KneepointError(
                f"{path}, line {number}: has {len(cells)} cells, but line {first} has "
                f"{len(header)}; {remedy}"
            )
        yield number, cells

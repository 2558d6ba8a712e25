"""Tables are checked when they are written and when they are read."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from kneepoint.analysis.schema import STAGES, TABLES
from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import (
    Column,
    Table,
    TableFolder,
    conform,
    read,
    write,
)

SCHEMA = Table(
    "numbers",
    "a table of every kind",
    (
        Column("name", "text"),
        Column("parts", "texts"),
        Column("count", "whole"),
        Column("maybe", "whole", optional=True),
        Column("delay_ms", "real", "ms"),
        Column("good", "flag"),
        Column("told", "flag", optional=True),
        Column("parameter_*", "real"),
    ),
)


def frame(**more: object) -> pd.DataFrame:
    columns = {
        "name": ["a", "b"],
        "parts": [("x", "y"), ()],
        "count": [1, 2],
        "maybe": pd.array([3, pd.NA], dtype="Int64"),
        "delay_ms": [0.1, np.nan],
        "good": [True, False],
        "told": pd.array([True, pd.NA], dtype="boolean"),
        "parameter_window": [5.0, 6.0],
    }
    return pd.DataFrame({**columns, **more})


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "numbers.parquet"
    write(path, SCHEMA, frame())
    found = read(path, SCHEMA)
    assert found["parts"].tolist() == [["x", "y"], []]
    expected = frame().astype({"name": object}).drop(columns="parts")
    pd.testing.assert_frame_equal(found.drop(columns="parts"), expected)
    pd.testing.assert_frame_equal(conform(SCHEMA, frame()), found)
    field = pq.read_schema(path).field("delay_ms")
    assert field.metadata == {b"unit": b"ms"}


@pytest.mark.parametrize(
    ("wrong", "output"),
    [
        ({"name": [1, 2]}, "name does not hold text"),
        ({"count": ["x", "y"]}, "count does not hold whole"),
        ({"count": [1.5, 2.0]}, "count does not hold whole"),
        ({"good": ["yes", "no"]}, "good does not hold flag"),
        ({"name": ["a", None]}, "name lacks a value"),
        ({"good": pd.array([True, pd.NA], dtype="boolean")}, "good lacks a value"),
        ({"extra": [1, 2]}, "extra is not declared"),
    ],
)
def test_a_frame_of_another_schema_is_not_written(
    tmp_path: Path, wrong: dict[str, object], output: str
) -> None:
    with pytest.raises(KneepointError, match=rf"t: column {output}.*see its TABLES"):
        write(tmp_path / "t", SCHEMA, frame(**wrong))
    with pytest.raises(KneepointError, match="column count lacks a value"):
        write(tmp_path / "t", SCHEMA, frame().drop(columns="count"))
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("change", "output"),
    [
        (Column("delay_us", "real", "us"), "column delay_us is missing"),
        (Column("delay_ms", "real", "us"), "column delay_ms is in ms, not in us"),
        (Column("delay_ms", "whole", "ms"), "column delay_ms holds double, not whole"),
    ],
)
def test_a_table_of_another_schema_is_not_read(tmp_path: Path, change: Column, output: str) -> None:
    write(tmp_path / "t", SCHEMA, frame())
    columns = [change if column.name == "delay_ms" else column for column in SCHEMA.columns]
    with pytest.raises(KneepointError, match=rf"t: {output}; remove it, and `snakemake .*makes it"):
        read(tmp_path / "t", Table("numbers", "", tuple(columns)))


def test_a_file_that_is_no_such_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with pytest.raises(KneepointError, match=r"t: No such file.*`snakemake .*/t` makes it"):
        read(path, SCHEMA)
    path.write_bytes(b"PAR1 torn")
    with pytest.raises(KneepointError, match=r"t: cannot be used .*damaged"):
        read(path, SCHEMA)
    frame()[["count"]].to_parquet(path)
    with pytest.raises(KneepointError, match="t: has version none"):
        read(path, SCHEMA)


def test_a_folder_reads_what_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "numbers.parquet", SCHEMA, frame())
    folder = TableFolder(tmp_path, {"numbers": SCHEMA, "other": SCHEMA})
    assert set(folder) == {"numbers", "other"}
    assert len(folder["numbers"]) == 2
    (tmp_path / "numbers.parquet").unlink()
    assert len(folder["numbers"]) == 2
    with pytest.raises(KneepointError, match=r"other\.parquet"):
        folder["other"]


def test_stages_read_tables_of_earlier_ones_only() -> None:
    written: set[str] = set()
    for stage in STAGES.values():
        assert set(stage.reads) <= written
        written |= set(stage.tables)
    assert written == set(TABLES)

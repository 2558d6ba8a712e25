"""Tables are checked when they are written and when they are read."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kneepoint.analysis.schema import STAGES, TABLES
from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import (
    TableFolder,
    flag,
    from_frame,
    from_rows,
    read,
    read_frame,
    real,
    table,
    text,
    texts,
    to_frame,
    unit_in,
    whole,
    write,
)

SCHEMA = table(
    "numbers",
    "a table with columns of every kind",
    text("name"),
    texts("parts"),
    whole("count"),
    whole("maybe", optional=True),
    real("delay_ms"),
    flag("good"),
    flag("told", optional=True),
    real("parameter_*"),
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
    write(path, from_frame(SCHEMA, frame()))
    found = read_frame(path, SCHEMA)
    assert found["parts"].tolist() == [["x", "y"], []]
    expected = frame().astype({"name": object}).drop(columns="parts")
    pd.testing.assert_frame_equal(found.drop(columns="parts"), expected)
    pd.testing.assert_frame_equal(to_frame(SCHEMA, from_frame(SCHEMA, frame())), found)
    field = pq.read_schema(path).field("delay_ms")
    assert field.metadata == {b"unit": b"ms"}


def test_rows_are_written_without_units(tmp_path: Path) -> None:
    schema = replace(SCHEMA, columns=SCHEMA.columns[:-1], version=(b"version", b"3"))
    row = {"name": "a", "parts": ["x"], "count": 1, "delay_ms": math.nan, "good": True}
    write(tmp_path / "t", from_rows(schema, [row]))
    layout = pq.read_schema(tmp_path / "t")
    assert layout.metadata == {b"version": b"3"} and layout.field("delay_ms").metadata is None
    assert not layout.field("count").nullable and layout.field("maybe").nullable
    found = read_frame(tmp_path / "t", schema)
    assert found["count"].tolist() == [1] and found["maybe"].isna().all()
    with pytest.raises(KneepointError, match=r"numbers\.parquet: column count lacks a value"):
        from_rows(schema, [{**row, "count": None}])


def test_a_unit_is_of_the_suffix_unless_it_is_given() -> None:
    columns = [*real("wait_us", "packets", "sent_packets"), *real("off_ms", unit="")]
    assert list(map(unit_in, columns)) == ["us", "", "packets", ""]
    assert unit_in(*real("power", unit="Mbit/s/s")) == "Mbit/s/s"


@pytest.mark.parametrize(
    ("wrong", "output"),
    [
        ({"name": [1, 2]}, "name does not hold string"),
        ({"count": ["x", "y"]}, "count does not hold int64"),
        ({"count": [1.5, 2.0]}, "count does not hold int64"),
        ({"good": ["yes", "no"]}, "good does not hold bool"),
        ({"name": ["a", None]}, "name lacks a value"),
        ({"good": pd.array([True, pd.NA], dtype="boolean")}, "good lacks a value"),
        ({"extra": [1, 2]}, "extra is not declared"),
    ],
)
def test_a_frame_of_another_schema_is_refused(wrong: dict[str, object], output: str) -> None:
    with pytest.raises(KneepointError, match=rf"numbers\.parquet: column {output}"):
        from_frame(SCHEMA, frame(**wrong))
    with pytest.raises(KneepointError, match="column count lacks a value"):
        from_frame(SCHEMA, frame().drop(columns="count"))


def test_lacking_real_numbers_and_optional_values_are_missing() -> None:
    lacking = frame(delay_ms=[None, 2.0]).drop(columns=["maybe", "told"])
    found = to_frame(SCHEMA, from_frame(SCHEMA, lacking))
    assert found["delay_ms"].isna().tolist() == [True, False]
    assert found["maybe"].dtype == "Int64" and found["maybe"].isna().all()
    assert found["told"].dtype == "boolean" and found["told"].isna().all()


@pytest.mark.parametrize(
    ("change", "output"),
    [
        (real("delay_us"), "column delay_us is missing"),
        (real("delay_ms", unit="us"), "column delay_ms is in ms, not in us"),
        (whole("delay_ms"), "column delay_ms holds double, not int64"),
    ],
)
def test_a_table_of_another_schema_is_not_read(
    tmp_path: Path, change: list[pa.Field], output: str
) -> None:
    write(tmp_path / "t", from_frame(SCHEMA, frame()))
    others = [column for column in SCHEMA.columns if column.name != "delay_ms"]
    with pytest.raises(KneepointError, match=rf"t: .*{output}.*snakemake .*t"):
        read(tmp_path / "t", table("numbers", "", others, change))


def test_an_open_table_may_have_other_columns(tmp_path: Path) -> None:
    write(tmp_path / "t", from_frame(SCHEMA, frame()))
    found = read_frame(tmp_path / "t", table("numbers", "", whole("count"), is_open=True))
    assert found["count"].tolist() == [1, 2] and found["name"].tolist() == ["a", "b"]
    with pytest.raises(KneepointError, match="is not declared"):
        read(tmp_path / "t", table("numbers", "", whole("count")))


def test_a_file_that_is_no_such_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t"
    with pytest.raises(KneepointError, match=r"t: cannot be used .*No such file.*snakemake .*/t"):
        read(path, SCHEMA)
    path.write_bytes(b"PAR1 torn")
    with pytest.raises(KneepointError, match=r"t: cannot be used .*damaged"):
        read(path, SCHEMA)
    frame()[["count"]].to_parquet(path)
    with pytest.raises(KneepointError, match=r"t: .*has version none"):
        read(path, SCHEMA)


def test_a_folder_reads_what_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path / "numbers.parquet", from_frame(SCHEMA, frame()))
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

"""Tables: Parquet files of a declared schema, checked when they are made and when they are read.

    table(
        "sweep_points",
        "a value of a swept parameter and the mean of its runs",
        text("sweep"),
        whole("runs"),
        real("value", "delay_ms"),
        real("power", unit="Mbit/s/s"),
        flag("best"),
        flag("on_front", optional=True),
    )

declares a table. A column has the unit in its declaration or, without such a unit, the unit of its
name's suffix (see kneepoint.common.units). Only values of optional columns may be missing, but real
numbers may be NaN. A name that ends in `*`, such as `parameter_*`, stands for any number of columns
with the same prefix.

`read` refuses a file of another version, or with other columns, types or units; only an open table
(see Table) may have further columns.
"""

import io
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from kneepoint.common.errors import KneepointError, unusable
from kneepoint.common.files import write_whole
from kneepoint.common.units import unit_of

if TYPE_CHECKING:  # slow to import, and searches never need it
    import pandas as pd

ANALYSIS = (b"kneepoint_analysis", b"1")
"""The version of the tables of the analysis: key and value of their metadata."""
_UNIT = b"unit"
_BATCH = 4096
"""Rows held in memory as Python objects at a time."""
_SEE = "; see the table's declaration"

Tables: TypeAlias = Mapping[str, "pd.DataFrame"]
"""Tables by their names."""


@dataclass(frozen=True)
class Table:
    """The schema of a table.

    Args:
        name: name of the table's files without suffix, with their folder if the folder is fixed.
        meaning: the meaning of a row.
        columns: name, type and unit of each column, and whether values may be missing.
        version: the version of the schema, as key and value in the metadata of the files.
        exported: selects the rows that the report offers as CSV; None: all rows.
        is_open: whether files may have other columns, too.
    """

    name: str
    meaning: str
    columns: tuple[pa.Field, ...]
    version: tuple[bytes, bytes]
    exported: "Callable[[pd.DataFrame], pd.DataFrame] | None"
    is_open: bool

    @property
    def names(self) -> list[str]:
        """The names of the table's columns, without names that end in `*`."""
        return [each.name for each in self.columns if not each.name.endswith("*")]

    @property
    def file(self) -> str:
        """The name of the table's files."""
        return f"{PurePath(self.name).name}.parquet"

    def column(self, name: str) -> pa.Field | None:
        """Returns the declaration of a column, or None."""
        exact = next((each for each in self.columns if each.name == name), None)
        return exact or next((each for each in self.columns if fnmatchcase(name, each.name)), None)


def table(
    name: str,
    meaning: str,
    *columns: Iterable[pa.Field],
    version: tuple[bytes, bytes] = ANALYSIS,
    exported: "Callable[[pd.DataFrame], pd.DataFrame] | None" = None,
    is_open: bool = False,
) -> Table:
    """Returns a table with columns made by `text`, `whole` and so on (see Table)."""
    every = tuple(itertools.chain.from_iterable(columns))
    return Table(name, meaning, every, version, exported, is_open)


def column(
    kind: pa.DataType, *names: str, unit: str | None = None, optional: bool = False
) -> list[pa.Field]:
    """Returns columns of a type.

    Args:
        kind: the type.
        names: names of the columns.
        unit: unit of the columns; None: the unit of each name's suffix.
        optional: whether values may be missing.
    """
    units = [unit_of(name).replace("µ", "u") if unit is None else unit for name in names]
    return [
        pa.field(name, kind, nullable=optional, metadata={_UNIT: each} if each else None)
        for name, each in zip(names, units, strict=True)
    ]


def text(*names: str, optional: bool = False) -> list[pa.Field]:
    """Returns columns of text."""
    return column(pa.string(), *names, optional=optional)


def texts(*names: str) -> list[pa.Field]:
    """Returns columns of lists of texts."""
    return column(pa.list_(pa.string()), *names)


def whole(*names: str, optional: bool = False) -> list[pa.Field]:
    """Returns columns of whole numbers."""
    return column(pa.int64(), *names, optional=optional)


def real(*names: str, unit: str | None = None, optional: bool = False) -> list[pa.Field]:
    """Returns columns of real numbers; ratios of quantities with a unit have the unit ""."""
    return column(pa.float64(), *names, unit=unit, optional=optional)


def flag(*names: str, optional: bool = False) -> list[pa.Field]:
    """Returns columns of truth values."""
    return column(pa.bool_(), *names, optional=optional)


def struct(*columns: Iterable[pa.Field]) -> pa.DataType:
    """Returns the type of a value that has these columns as its parts."""
    return pa.struct([each.remove_metadata() for each in itertools.chain.from_iterable(columns)])


def unit_in(declared: pa.Field) -> str:
    """Returns the unit of a column; "" without a unit."""
    unit: bytes = (declared.metadata or {}).get(_UNIT, b"")
    return unit.decode()


def from_rows(schema: Table, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Returns a table of rows; converts the rows in batches to bound the memory.

    A file of this table does not contain the units.

    Raises:
        KneepointError: a value is missing.
    """
    plain = [each.remove_metadata() for each in schema.columns]
    layout = pa.schema(plain, metadata=dict([schema.version]))
    waiting, batches = iter(rows), []
    while some := list(itertools.islice(waiting, _BATCH)):
        batches.append(pa.RecordBatch.from_pylist(some, layout))
    return _checked(schema, pa.Table.from_batches(batches, layout).combine_chunks())


def from_frame(schema: Table, frame: "pd.DataFrame") -> pa.Table:
    """Returns a table of a frame, which may lack optional columns and columns of real numbers.

    A file of this table does not record which columns are optional.

    Raises:
        KneepointError: the frame deviates from the schema.
    """
    frame = frame.reindex(columns=[*dict.fromkeys([*frame.columns, *schema.names])])
    columns, arrays = [], []
    for name in frame.columns:
        declared = schema.column(name)
        if declared is None:
            raise KneepointError(f"{schema.name}.parquet: column {name} is not declared{_SEE}")
        try:
            arrays.append(_to_array(frame[name], declared.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
            raise KneepointError(
                f"{schema.name}.parquet: column {name} does not hold {declared.type}: {error}{_SEE}"
            ) from None
        columns.append(declared.with_name(name).with_nullable(True))
    layout = pa.schema(columns, metadata=dict([schema.version]))
    return _checked(schema, pa.Table.from_arrays(arrays, schema=layout))


def _to_array(values: "pd.Series[Any]", kind: pa.DataType) -> pa.Array:
    if pa.types.is_list(kind):  # pandas has NaN in place of an empty list
        return pa.array([list(each) if each == each else [] for each in values], kind)
    if pa.types.is_floating(kind):
        return pa.array(values, kind, from_pandas=False).fill_null(math.nan)
    return pa.array(values, kind, from_pandas=True)


def _checked(schema: Table, made: pa.Table) -> pa.Table:
    problem = _problem(schema, made)
    if problem:
        raise KneepointError(f"{schema.name}.parquet: {problem}{_SEE}")
    return made


def _problem(schema: Table, found: pa.Table) -> str:
    """Returns the first deviation of a table from its schema; "" without any."""
    for name in schema.names:
        if name not in found.column_names:
            return f"column {name} is missing"
    for each in found.schema:
        declared = schema.column(each.name)
        if declared is None:
            if schema.is_open:
                continue
            return f"column {each.name} is not declared"
        if each.type != declared.type:
            return f"column {each.name} holds {each.type}, not {declared.type}"
        unit, wanted = unit_in(each), unit_in(declared)
        if unit and unit != wanted:
            return f"column {each.name} is in {unit}, not in {wanted or '1'}"
        if not declared.nullable and found[each.name].null_count:
            return f"column {each.name} lacks a value"
    return ""


def write(path: Path, made: pa.Table) -> None:
    """Writes a table atomically; equal content gives equal bytes."""
    buffer = io.BytesIO()
    pq.write_table(made, buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read(path: Path, schema: Table) -> pa.Table:
    """Reads a table.

    Raises:
        KneepointError: the file is missing or damaged, or deviates from the schema.
    """
    try:
        found = pq.ParquetFile(io.BytesIO(path.read_bytes())).read()
    except OSError as error:
        raise unusable(path, error.strerror) from None
    except pa.ArrowInvalid as error:
        raise unusable(path, f"damaged: {error}") from None
    key, version = schema.version
    has = (found.schema.metadata or {}).get(key, b"none")
    if has != version:
        raise unusable(path, f"has version {has.decode()} of the schema, not {version.decode()}")
    problem = _problem(schema, found)
    if problem:
        raise unusable(path, problem)
    return found


def read_frame(path: Path, schema: Table) -> "pd.DataFrame":
    """Reads a table as a frame (see to_frame).

    Raises:
        KneepointError: see `read`.
    """
    return to_frame(schema, read(path, schema))


def to_frame(schema: Table, found: pa.Table) -> "pd.DataFrame":
    """Returns a table as a frame; optional whole numbers are Int64, optional flags boolean."""
    import pandas as pd

    dtypes = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
    frame: pd.DataFrame = found.to_pandas(types_mapper=dtypes.get)
    for each in found.schema:
        if each.type == pa.string():
            frame[each.name] = pd.Series(found[each.name].to_numpy(), dtype=object)
        elif each.type == pa.list_(pa.string()):
            frame[each.name] = pd.Series(found[each.name].to_pylist(), dtype=object)
        elif each.type in dtypes and not (schema.column(each.name) or each).nullable:
            frame[each.name] = frame[each.name].astype(each.type.to_pandas_dtype())
    return frame


class TableFolder(Mapping[str, "pd.DataFrame"]):
    """The tables of a folder by their names, each read at its first use.

    Before that, `check` is called with its path, and raises KneepointError to refuse it.
    """

    def __init__(
        self,
        folder: Path,
        schemas: Mapping[str, Table],
        check: Callable[[Path], None] | None = None,
    ) -> None:
        self._folder = folder
        self._schemas = schemas
        self._check = check
        self._read: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> "pd.DataFrame":
        if name not in self._read:
            path = self._folder / f"{name}.parquet"
            if self._check is not None:
                self._check(path)
            self._read[name] = read_frame(path, self._schemas[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemas)

    def __len__(self) -> int:
        return len(self._schemas)

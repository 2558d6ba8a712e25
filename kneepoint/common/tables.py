"""Tables of the analysis: Parquet files of a declared schema, checked when written and when read.

A table of another version, or with other columns, types or units, is refused; its stage remakes it
in seconds.
"""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from kneepoint.common.errors import KneepointError, unusable
from kneepoint.common.files import write_whole

if TYPE_CHECKING:  # slow to import, and not needed for names
    import pandas as pd
    import pyarrow as pa

VERSION = 1
_VERSION_KEY, _UNIT_KEY = b"kneepoint_analysis", b"unit"

ColumnType = Literal["text", "texts", "whole", "real", "flag"]
Tables: TypeAlias = Mapping[str, "pd.DataFrame"]
"""Tables by their names."""


@dataclass(frozen=True)
class Column:
    """One column: its type, its unit, and whether values may be missing.

    A real number may always be NaN. A name that ends in `*`, such as `parameter_*`, stands for any
    number of columns with that prefix.
    """

    name: str
    kind: ColumnType
    unit: str = ""
    optional: bool = False

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for several columns."""
        return self.name.endswith("*")


@dataclass(frozen=True)
class Table:
    """A table's schema; its file has the table's name.

    `exported` selects the rows that the report offers as CSV; None: all rows.
    """

    name: str
    meaning: str
    columns: tuple[Column, ...]
    exported: "Callable[[pd.DataFrame], pd.DataFrame] | None" = None

    def column(self, name: str) -> Column | None:
        """The declaration of a column, or None."""
        exact = (column for column in self.columns if column.name == name)
        return next(exact, next((c for c in self.columns if fnmatchcase(name, c.name)), None))

    def problem(self, table: "pa.Table") -> str:
        """The first deviation of a table from the schema; "" without any."""
        for column in self.columns:
            if not column.is_pattern and column.name not in table.column_names:
                return f"column {column.name} is missing"
        for field in table.schema:
            declared = self.column(field.name)
            if declared is None:
                return f"column {field.name} is not declared"
            if field.type != _arrow_type(declared.kind):
                return f"column {field.name} holds {field.type}, not {declared.kind}"
            unit = (field.metadata or {}).get(_UNIT_KEY, b"").decode()
            if unit != declared.unit:
                return f"column {field.name} is in {unit or '1'}, not in {declared.unit or '1'}"
            may_lack = declared.kind == "real" or declared.optional
            if not may_lack and table[field.name].null_count:
                return f"column {field.name} lacks a value"
        return ""


def write(path: Path, schema: Table, frame: "pd.DataFrame") -> None:
    """Writes a table atomically; the frame may lack columns whose values may be missing.

    Raises KneepointError if the frame deviates from the schema.
    """
    import pyarrow.parquet as pq

    table = _to_arrow(schema, frame, path)
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read(path: Path, schema: Table) -> "pd.DataFrame":
    """Reads a table; integers that may be missing have the type Int64, such flags boolean.

    Raises KneepointError if the file is missing or deviates from the schema.
    """
    return _to_frame(schema, _read(path, schema))


def read_rows(path: Path, columns: Sequence[Column]) -> list[dict[str, Any]]:
    """Reads some columns of a table as dictionaries, one per row, without pandas (see read)."""
    schema = Table(path.stem, "", tuple(columns))
    rows: list[dict[str, Any]] = _read(path, schema, [each.name for each in columns]).to_pylist()
    return rows


def _read(path: Path, schema: Table, columns: Sequence[str] | None = None) -> "pa.Table":
    import pyarrow as pa
    import pyarrow.parquet as pq

    remedy = f"; remove it, and `snakemake {path}` remakes it"
    try:
        table = pq.ParquetFile(io.BytesIO(path.read_bytes())).read(columns=columns)
    except OSError as error:
        raise KneepointError(f"{path}: {error.strerror}; `snakemake {path}` makes it") from None
    except pa.ArrowInvalid as error:
        raise unusable(path, f"damaged: {error}") from None
    version = (table.schema.metadata or {}).get(_VERSION_KEY, b"").decode()
    if version != str(VERSION):
        raise KneepointError(
            f"{path}: has version {version or 'none'} of the schema, but this Kneepoint reads "
            f"version {VERSION}{remedy}"
        )
    problem = schema.problem(table)
    if problem:
        raise KneepointError(f"{path}: {problem}{remedy}")
    return table


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
            self._read[name] = read(path, self._schemas[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._schemas)

    def __len__(self) -> int:
        return len(self._schemas)


def conform(schema: Table, frame: "pd.DataFrame") -> "pd.DataFrame":
    """Returns the frame as a write and a read would change it (see write)."""
    return _to_frame(schema, _to_arrow(schema, frame, Path(f"{schema.name}.parquet")))


def _arrow_type(kind: ColumnType) -> "pa.DataType":
    import pyarrow as pa

    types = {
        "text": pa.string(),
        "texts": pa.list_(pa.string()),
        "whole": pa.int64(),
        "real": pa.float64(),
        "flag": pa.bool_(),
    }
    return types[kind]


def _to_arrow(schema: Table, frame: "pd.DataFrame", path: Path) -> "pa.Table":
    import pyarrow as pa

    declared = [column.name for column in schema.columns if not column.is_pattern]
    frame = frame.reindex(columns=[*dict.fromkeys([*frame.columns, *declared])])
    fields, arrays = [], []
    for name in frame.columns:
        column = schema.column(name)
        if column is None:
            raise KneepointError(f"{path}: column {name} is not declared; see its TABLES")
        kind = _arrow_type(column.kind)
        try:
            if column.kind == "texts":  # pandas has NaN in place of an empty list
                texts = [list(each) if each == each else [] for each in frame[name]]
                array = pa.array(texts, kind)
            else:
                array = pa.array(frame[name], kind, from_pandas=column.kind != "real")
        except (pa.ArrowInvalid, pa.ArrowTypeError, TypeError) as error:
            raise KneepointError(
                f"{path}: column {name} does not hold {column.kind}: {error}; see its TABLES"
            ) from None
        unit = {_UNIT_KEY: column.unit} if column.unit else None
        fields.append(pa.field(name, kind, metadata=unit))
        arrays.append(array)
    metadata = {_VERSION_KEY: str(VERSION)}
    table = pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata=metadata))
    problem = schema.problem(table)
    if problem:
        raise KneepointError(f"{path}: {problem}; see its TABLES")
    return table


def _to_frame(schema: Table, table: "pa.Table") -> "pd.DataFrame":
    import pandas as pd

    columns = {}
    for name in table.column_names:
        column = schema.column(name)
        assert column is not None
        if column.kind in ("text", "texts"):
            columns[name] = pd.Series(table[name].to_pylist(), dtype=object)
        elif column.kind == "real":
            columns[name] = pd.Series(table[name].to_numpy(), dtype=float)
        else:
            optional, sure = ("Int64", "int64") if column.kind == "whole" else ("boolean", "bool")
            dtype = optional if column.optional else sure
            columns[name] = pd.Series(table[name].to_pylist(), dtype=dtype)
    return pd.DataFrame(columns)

"""Published tables: a CSV file with the numbers as printed, and a YAML file that describes it."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from kneepoint.common.config_file import ConfigModel, matching, names_in, quote, read_config
from kneepoint.common.csv_text import read_csv
from kneepoint.common.errors import KneepointError, require_known
from kneepoint.engines.catalogue import Catalogue
from kneepoint.networks.config import Name

Metric = Literal["throughput_mbps", "queueing_delay_p95_ms", "signal_delay_p95_ms", "power"]

# Factors that convert printed values to the metric's unit.
_METRIC_UNITS: Mapping[str, Mapping[str, float]] = {
    "throughput_mbps": {"Mbit/s": 1, "kbit/s": 1e-3, "bit/s": 1e-6},
    "queueing_delay_p95_ms": {"ms": 1, "s": 1e3, "us": 1e-3},
    "signal_delay_p95_ms": {"ms": 1, "s": 1e3, "us": 1e-3},
    "power": {"Mbit/s/s": 1, "kbit/s/s": 1e-3},
}


_MAX_BYTES = 2**20
_UNIT = re.compile(r"(?:(\d+\.?\d*) )?(.*)", re.ASCII)
NUMBER = re.compile(r"[+-]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
"""The pattern of a printed number."""


class Column(ConfigModel):
    """Meaning of one column of a published table: a parameter, a metric, or the network."""

    parameter: str | None = Field(default=None, description="parameter of the table's controller")
    metric: Metric | None = Field(default=None, description="metric of a run")
    network: Mapping[str, Name] | None = Field(
        default=None,
        description="network of each printed word's rows, by word: a file of networks/",
    )
    unit: str = Field(
        default="",
        description="unit as printed; metrics are converted, parameters must match; the unit of a "
        "metric may have a factor: 5.04 Mbit/s for a share of 5.04 Mbit/s",
    )
    above: float = Field(
        default=0, description="printed metric minus Kneepoint's, in the metric's unit"
    )

    @model_validator(mode="after")
    def _holds_one_thing(self) -> Self:
        if sum(each is not None for each in (self.parameter, self.metric, self.network)) != 1:
            raise ValueError("needs exactly one of parameter, metric and network")
        if self.metric and not (_UNIT.fullmatch(self.unit) and self.factor):
            known = ", ".join(_METRIC_UNITS[self.metric])
            raise ValueError(f"unit {self.unit!r} is unknown for {self.metric}; known: {known}")
        return self

    @property
    def factor(self) -> float:
        """The factor that converts a printed value to Kneepoint's unit; 0 for an unknown unit."""
        factor, unit = _UNIT.fullmatch(self.unit).groups()  # type: ignore[union-attr]
        known = _METRIC_UNITS[self.metric] if self.metric else {unit: 1.0}
        return float(factor or 1) * known.get(unit, 0)


class Reference(ConfigModel):
    """A report's entry in the list of references; unknown items are left out."""

    title: str = Field(min_length=1, description="title of the report")
    authors: tuple[str, ...] = Field(min_length=1, description="names of the authors, as printed")
    year: int | None = Field(default=None, ge=1900, description="year of publication")
    url: Annotated[str, matching(r"https?://\S+", "a URL with http or https")] | None = Field(
        default=None, description="address of the report"
    )
    doi: Annotated[str, matching(r"10\.\d{4,9}/\S+", "a DOI such as 10.1000/182")] | None = Field(
        default=None, description="digital object identifier"
    )


class TableDescription(ConfigModel):
    """Description of NAME.csv: config/published/NAME.yaml."""

    source: str = Field(min_length=1, description="report and table, for captions")
    report: str = Field(
        default="",
        description="name by which the report is cited; by default Report NNN for a table "
        "NNN-..., the table's name for measured runs, otherwise the source",
    )
    reference: Reference | None = Field(
        default=None, description="the report, for the list of references"
    )
    kind: Literal["published", "measured"] = Field(
        default="published",
        description="published: printed in a report; measured: runs measured for comparison, "
        "by the author or by others",
    )
    selected: Literal["best", "worst"] | None = Field(
        default=None,
        description="rows whose power was the best or the worst of many runs",
    )
    selected_of: tuple[Annotated[int, Field(ge=1)], Annotated[int, Field(ge=1)]] | None = Field(
        default=None,
        description="minimum and maximum number of these runs; null: not stated",
    )
    controller: str = Field(description="controller of the table")
    network: Name = Field(default="contest", description="network of the measurements")
    parameters: Mapping[str, float] = Field(
        default={}, description="parameters with the same value in all rows"
    )
    unstated: Mapping[str, str] = Field(
        default={},
        description="parameters (see above) that the report does not state, with the source of "
        "their values",
    )
    fitted: tuple[str, ...] = Field(
        default=(), description="unstated parameters that were fitted to this table"
    )
    remark: str = Field(
        default="", description="note from the author's code or logs about rows that deviate"
    )
    columns: Mapping[str, Column] = Field(min_length=1, description="meaning of each column")
    ignore: tuple[str, ...] = Field(default=(), description="columns to ignore")

    @model_validator(mode="after")
    def _has_each_thing_once(self) -> Self:
        names = [c.parameter or c.metric or "network" for c in self.columns.values()]
        for name in names:
            if names.count(name) > 1 or name in self.parameters:
                raise ValueError(f"{name} has two sources; keep one column or parameter")
        if self.selected_of and not self.selected:
            raise ValueError("selected_of has no meaning without selected; add best or worst")
        if self.selected_of and self.selected_of[0] > self.selected_of[1]:
            raise ValueError(
                f"selected_of: {self.selected_of[0]} is above {self.selected_of[1]}; swap them"
            )
        for name in self.unstated:
            if name not in self.parameters:
                raise ValueError(
                    f"unstated lists {name!r}, which is not in parameters; remove it or add a value"
                )
        for name in self.fitted:
            if name not in self.unstated:
                raise ValueError(f"fitted lists {name!r}, which is not in unstated; add it there")
        return self


@dataclass(frozen=True)
class PublishedRow:
    """The parameters of one row, and its printed metrics in Kneepoint's units.

    `steps` has one unit in each metric's last printed digit; `network` is set if the table's rows
    have different networks.
    """

    number: int
    parameters: Mapping[str, float]
    metrics: Mapping[str, float]
    steps: Mapping[str, float]
    has_all_parameters: bool
    network: str | None = None


@dataclass(frozen=True)
class PublishedTable:
    """A published table. Row numbers count from 0, in the order of the file."""

    name: str
    description: TableDescription
    rows: Sequence[PublishedRow]

    @property
    def report(self) -> str:
        """The name by which the table's report is cited."""
        if self.description.report:
            return self.description.report
        if self.description.kind == "measured":
            return self.name
        number, dash, _ = self.name.partition("-")
        return f"Report {number}" if number.isdigit() and dash else self.description.source

    @property
    def networks(self) -> dict[int, str]:
        """The network of each row, by its number."""
        return {row.number: row.network or self.description.network for row in self.rows}

    @property
    def replayable(self) -> list[PublishedRow]:
        """The rows whose parameters are all printed or given."""
        return [row for row in self.rows if row.has_all_parameters]

    def check_against(self, catalogue: Catalogue, folder: Path) -> None:
        """Checks controller, units of parameters, and every row of the file in `folder`.

        Raises:
            KneepointError: the first mistake, with its file and its line or column.
        """
        described, path = folder / f"{self.name}.yaml", folder / f"{self.name}.csv"
        controller = catalogue.controller(self.description.controller, str(described))
        controller.complete(self.description.parameters, str(described))
        for name, column in self.description.columns.items():
            if column.parameter:
                where = f"{described}: columns.{name}"
                unit = controller.parameter(column.parameter, where).unit
                if column.unit != unit:
                    raise KneepointError(
                        f"{where}: unit {column.unit!r} is unknown for {column.parameter}; "
                        f"known: {unit}"
                    )
        for row in self.rows:
            controller.complete(row.parameters, f"{path}, line {row.number + 2}")


def number_on(tables: Sequence[PublishedTable]) -> tuple[tuple[PublishedRow, ...], ...]:
    """Returns the replayable rows of each table, numbered consecutively across tables."""
    starts = itertools.accumulate((len(table.rows) for table in tables), initial=0)
    return tuple(
        tuple(replace(row, number=start + row.number) for row in table.replayable)
        for start, table in zip(starts, tables, strict=False)
    )


def load_table(config: Path, name: str) -> PublishedTable:
    """Reads published/`name`.csv and .yaml beside the configuration file `config`.

    Raises:
        KneepointError: a file is missing, a column is missing or undescribed, a line is longer or
            shorter than the header, or a cell is not a number.
    """
    folder = config.parent / "published"
    description_path, path = folder / f"{name}.yaml", folder / f"{name}.csv"
    require_known(name, names_in(folder), f"{description_path}: no such table")
    description = read_config(description_path, TableDescription)
    header, lines = read_rows(path)
    _check_header(path, description_path, description, header)
    rows = []
    for number, (place, cells) in enumerate(lines):
        named = dict(zip(header, cells, strict=True))
        rows.append(_read_row(f"{path}, line {place}", number, named, description))
    return PublishedTable(name, description, rows)


def read_rows(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Reads the header of a table, and the line number and cells of each row.

    Raises:
        KneepointError: see read_csv; or the file has no rows.
    """
    header, rows = read_csv(path, _MAX_BYTES)
    if not (found := list(rows)):
        raise KneepointError(f"{path}: has no rows; add a header and rows")
    return header, found


def _check_header(
    path: Path, description_path: Path, description: TableDescription, header: list[str]
) -> None:
    for column in (*description.columns, *description.ignore):
        if column not in header:
            raise KneepointError(
                f"{path}: column {column!r} of {description_path} is missing; "
                f"there are: {', '.join(header)}"
            )
    for column in header:
        if column not in description.columns and column not in description.ignore:
            raise KneepointError(
                f"{description_path}: column {column!r} of {path} has no description; "
                "add it to columns or ignore"
            )


def _read_row(
    where: str, number: int, cells: Mapping[str, str], description: TableDescription
) -> PublishedRow:
    parameters = dict(description.parameters)
    metrics: dict[str, float] = {}
    steps: dict[str, float] = {}
    complete = True
    network: str | None = None
    for name, column in description.columns.items():
        text = cells[name].strip()
        if column.network is not None:
            problem = f"{where}, column {name}: unknown network {quote(text)}"
            require_known(text, column.network, problem)
            network = column.network[text]
        elif text:
            value = _read_cell(f"{where}, column {name}", text) * column.factor
            if column.parameter:
                parameters[column.parameter] = value
            elif column.metric:
                metrics[column.metric] = value - column.above
                if value < column.above:
                    raise KneepointError(
                        f"{where}, column {name}: {text} is less than above, {column.above:g}; "
                        "correct one"
                    )
                steps[column.metric] = last_digit(text) * column.factor
        elif column.parameter:
            complete = False
    return PublishedRow(number, parameters, metrics, steps, complete, network)


def last_digit(text: str) -> float:
    """Returns the value of one unit in a number's last printed digit: 0.01 for 4.50."""
    exponent = Decimal(text).as_tuple().exponent
    assert isinstance(exponent, int)  # NUMBER excludes infinity and NaN
    return float(Decimal(1).scaleb(exponent))


def _read_cell(where: str, text: str) -> float:
    if not NUMBER.fullmatch(text):
        point = text.replace(",", ".")
        remedy = f"write {point}" if NUMBER.fullmatch(point) else "correct it"
        raise KneepointError(f"{where}: {quote(text)} is not a number; {remedy}")
    value = float(text)
    if value < 0:
        raise KneepointError(f"{where}: {text} is out of range; it must be at least 0")
    return value

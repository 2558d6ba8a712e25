"""The vocabulary of the report's templates: filters for names, numbers and rows of tables.

Templates write the XML of `reports.document`; jinja escapes all data.
"""

import json
import math
import statistics
import traceback
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import jinja2
import pandas as pd
from markupsafe import Markup, escape

from analysis import (
    agreement,
    audit,
    checks,
    confirmation,
    labels,
    link_log,
    nearness,
    recovery,
    spread,
    surface,
)
from analysis.frames import CONSTANT, Record, records
from analysis.metrics import FIGURES, METRICS
from analysis.schema import VERDICTS
from analysis.searches import ENUMERATING, NEAR, ONE_PEAK, POWERS
from common.errors import KneepointError
from common.tables import Tables
from experiments.models.report import Report, Section
from experiments.workflow import FOLDERS
from reports import own_text
from reports.provenance import Provenance
from reports.templating import NO_XML, templates_in
from search.objective import MISFIT_SCALE

TEMPLATES = Path(__file__).parent / "templates"

Key: TypeAlias = frozenset[tuple[str, Any]]

TITLE = "The knee of the throughput-delay curve"
"""Of a report without words of its own."""

RUN_DIGITS = 12
"""This many digits of a run's id identify it."""

_MOST_LISTED = 6

_SAMPLERS = {
    "tpe": "TPE",
    "cmaes": "CMA-ES",
    "qmc": "quasi-Monte-Carlo",
    "nsga2": "NSGA-II",
    "nsga3": "NSGA-III",
}


def compose(
    tables: Tables,
    provenance: Provenance,
    figures: Container[str],
    config: Path | None = None,
    own: Report | None = None,
    sections: Mapping[str, Section] | None = None,
) -> str:
    """The whole report, as XML.

    Args:
        tables: of the analysis.
        provenance: where the report comes from.
        figures: names of the figures that were drawn.
        config: the configuration's folder, whose comparisons may have templates of their own.
        own: the report's own words.
        sections: its own sections.

    Raises:
        KneepointError: a template of the configuration is wrong.
    """

    @cache
    def every(name: str) -> list[Record]:
        return rows_of(tables[name])

    def best_constants(search: str) -> dict[str, float]:
        of_search = where(every("search_constants"), search=search)
        return {row["constant"]: row["best"] for row in of_search}

    linked: dict[str, Record] = {}

    @cache
    def settings() -> dict[Key, Record]:
        return {key: row for row in reversed(every("settings_run")) for key in _keys(row)}

    def from_run(text: object, **key: Any) -> Markup:
        row = settings().get(frozenset(key.items()))
        if row is None:
            return escape(text)
        linked.setdefault(row["run_id"], row)
        return Markup('<run of="{}">{}</run>').format(row["run_id"][:RUN_DIGITS], text)

    def with_units(values: Any, controller: str, named: bool = True) -> str:
        declared = where(every("constants"), controller=controller)
        units = {row["constant"]: row["unit"] for row in declared}
        return labels.constants_with_units(_values(values), units, named)

    of_config = {"config": jinja2.FileSystemLoader(config)} if config else {}
    templates = environment().overlay(
        loader=jinja2.ChoiceLoader(
            [jinja2.FileSystemLoader(TEMPLATES), jinja2.PrefixLoader(of_config)]
        )
    )
    try:
        return templates.get_template("report.xml.jinja").render(
            rows=every,
            best_constants=best_constants,
            from_run=from_run,
            linked=linked,
            with_units=with_units,
            has_figure=figures.__contains__,
            provenance=provenance,
            own=own or Report(title=TITLE),
            section_texts=sections or {},
        )
    except jinja2.TemplateError as error:
        path = Path(getattr(error, "filename", None) or _template_of(error))
        if config is None or not path.is_relative_to(config):
            raise
        raise KneepointError(f"{path}: {error.message}; correct it") from None


def _keys(row: Record) -> list[Key]:
    """The keys by which templates name a setting: its trial, or the row that it replays."""
    by_trial = {"study": row["study"], "trial": row["trial"]}
    by_row = {"table": row["table"], "row": row["row"]}
    place = {"network": row["network"], "traffic": row["traffic"]}
    there = {name: value for name, value in place.items() if is_known(value)}
    of = [by_trial, by_row] if is_known(row["table"]) else [by_trial]
    wheres: list[Record] = [{}, {"network": row["network"]}, there]
    return [frozenset({**each, **where}.items()) for each in of for where in wheres]


def _template_of(error: BaseException) -> str:
    """The path of the innermost template that raised an error, or "" if none did."""
    frames = [each.filename for each in traceback.extract_tb(error.__traceback__)]
    found = [name for name in frames if name.endswith(".jinja")]
    return found[-1] if found else ""


@cache
def environment() -> jinja2.Environment:
    """The templates, with everything that all reports share."""
    environment = templates_in(TEMPLATES, _clean)
    environment.filters |= {
        "words": labels.words,
        "sentence": labels.sentence,
        "unit": labels.unit,
        "percent": labels.percent,
        "signed": lambda ratio, decimals=1: labels.percent(ratio, decimals, signed=True),
        "fixed": fixed,
        "points": lambda ratio, decimals=1, sign="": fixed(100 * ratio, decimals, sign),
        "exp": math.exp,
        "ms": lambda microseconds: microseconds / 1000,
        "minus": labels.minus,
        "reports": labels.reports,
        "capital": lambda text: text[:1].upper() + text[1:],
        "lower_first": labels.lower_first,
        "ordinal": ordinal,
        "printed": lambda row: row + 1,  # tables count rows from 0, readers from 1
        "constants": lambda values: labels.constants(_values(values)),
        "from_json": json.loads,
        "markdown": own_text.to_xml,
        "joined": joined,
        "other_values": other_values,
        "code": Markup("<code>{}</code>").format,
        "codes": lambda names: [Markup("<code>{}</code>").format(name) for name in names],
        "unbroken": labels.unbroken,
        "distinct": lambda items: list(dict.fromkeys(items)),
        "where": where,
        "known": lambda rows, name: [row for row in rows if is_known(row[name])],
        "varied": varied,
        "combine": lambda row, **more: {**row, **more},
        "median": lambda values: statistics.median(list(values)),
        "best_of": lambda rows, name: max(rows, key=lambda row: row[name]),
        "sampler": lambda name: _SAMPLERS.get(name, name),
    }
    environment.tests |= {
        "known": is_known,
        "repeated_in": lambda key, rows: len(where(rows, same=key)) > 1,
    }
    environment.globals |= {
        "row": table_row,
        "column": table_column,
        "plus_minus": plus_minus,
        "with_interval": labels.with_interval,
        "chance": labels.chance,
        "metrics": METRICS,
        "FIGURES": FIGURES,
        "DASH": labels.DASH,
        "VERDICTS": VERDICTS,
        "ONE_PEAK": ONE_PEAK,
        "POWERS": POWERS,
        "ENUMERATING": ENUMERATING,
        "MISFIT_SCALE": MISFIT_SCALE,
        "NEAR_MISFIT": NEAR,
        "RUN_DIGITS": RUN_DIGITS,
        "folder_of": FOLDERS.get,
        "BIN_MS": link_log.BIN_MS,
        "agreement": agreement,
        "audit": audit,
        "checks": checks,
        "nearness": nearness,
        "prediction": spread,
        "confirmation": confirmation,
        "recovery": recovery,
        "surface": surface,
    }
    return environment


def rows_of(frame: pd.DataFrame) -> list[Record]:
    """The rows of a table; a missing value is None, in a column of floats NaN."""
    return [
        {name: None if value is pd.NA else value for name, value in row.items()}
        for row in records(frame)
    ]


def is_known(value: Any) -> bool:
    """Whether there is a value."""
    return value is not None and value == value


def where(rows: Iterable[Record], **wanted: Any) -> list[Record]:
    """The rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def varied(rows: Sequence[Record], least: int = 2) -> list[str]:
    """The parameters with at least this many values in the rows, in the order of the columns."""
    columns = [name for name in (rows[0] if rows else ()) if name.startswith(CONSTANT)]
    counts = {name: len({row[name] for row in rows if is_known(row[name])}) for name in columns}
    return [name.removeprefix(CONSTANT) for name, count in counts.items() if count >= least]


def fixed(value: float, decimals: int, sign: str = "") -> str:
    """A number with this many decimals and a true minus sign; a dash for a missing one."""
    return labels.minus(f"{value:{sign}.{decimals}f}") if is_known(value) else labels.DASH


def ordinal(rank: int) -> str:
    """`1st`, `2nd`, `11th`."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10 if rank % 100 not in (11, 12, 13) else 0)
    return f"{rank}{ending or 'th'}"


def joined(items: Iterable[str]) -> Markup:
    """A list in prose: "a", "a and b", "a, b and c"."""
    texts = [escape(item) for item in items if item]
    return Markup(" and ").join(filter(None, [Markup(", ").join(texts[:-1]), *texts[-1:]]))


def other_values(values: Iterable[float]) -> str:
    """Other values in prose; of more than _MOST_LISTED, their number and range."""
    numbers = [labels.number(value) for value in sorted(values)]
    if len(numbers) <= _MOST_LISTED:
        return joined(numbers)
    return f"{len(numbers)} other values, from {numbers[0]} to {numbers[-1]},"


def plus_minus(mean: float, half_width: float, decimals: int) -> str:
    """A mean and half the width of its interval, where these are known."""
    text = fixed(mean, decimals)
    if not (is_known(mean) and is_known(half_width)):
        return text
    return labels.unbroken(f"{text} ± {half_width:.{decimals}f}")


def table_row(*cells: object, strong: bool = False, muted: bool = False, name: str = "") -> Markup:
    """A row of a table, with a name if links point to it."""
    texts = (Markup("<cell>{}</cell>").format(_clean(cell)) for cell in cells)
    kind = "strong" if strong else "muted" if muted else ""
    named = Markup(' name="{}"').format(name) if name else ""
    return Markup('<row class="{}"{}>{}</row>').format(kind, named, Markup("").join(texts))


def table_column(title: str, unit: str = "", group: str = "", left: bool = False) -> Markup:
    """The head of a column."""
    align = "left" if left else "right"
    return Markup('<column unit="{}" group="{}" align="{}">{}</column>').format(
        unit, group, align, title
    )


def _clean(cell: object) -> object:
    """Without the characters that XML cannot hold."""
    return NO_XML.sub("\ufffd", cell) if type(cell) is str else cell


def _values(values: Mapping[str, float] | str) -> Mapping[str, float]:
    found: Mapping[str, float] = json.loads(values) if isinstance(values, str) else values
    return found

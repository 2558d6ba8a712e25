"""Composes the report from its templates; filters for names, numbers and rows."""

import math
import statistics
import traceback
from collections.abc import Container, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd
from markupsafe import Markup

from kneepoint.analysis import (
    labels,
    link_log,
)
from kneepoint.analysis.frames import (
    PARAMETER,
    Record,
    records,
)
from kneepoint.analysis.labels import fixed, is_known, plus_minus
from kneepoint.analysis.metrics import (
    FIGURES,
    METRICS,
    SHOWN,
    as_printed,
    in_steps,
    printed,
)
from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import Tables
from kneepoint.config.report import Report, Section
from kneepoint.config.workflow import FOLDERS
from kneepoint.engines.limits import LIMITS
from kneepoint.reports import parts
from kneepoint.reports.document import (
    RUN_DIGITS,
    Document,
    document,
    own_words,
)
from kneepoint.reports.templating import (
    element,
    joined,
    literal,
    templates_in,
)
from kneepoint.runs.question import FOLDER, in_tables
from kneepoint.stats.paired import least_pairs

TEMPLATES = Path(__file__).parent / "templates"

TITLE = "The knee of the throughput-delay curve"
"""Title of a report whose configuration has none."""

_MOST_LISTED = 6

_OF_LABELS = ("words", "sentence", "unit", "percent", "lower_first")
_PARAMETERS = {"network_queue_packets": "buffer"}


def compose(
    tables: Tables,
    provenance: Record,
    figures: Container[str],
    config: Path | None = None,
    own: Report | None = None,
    sections: Mapping[str, Section] | None = None,
    tall: Container[str] = (),
) -> Document:
    """Composes the whole report.

    Args:
        tables: of the analysis, with derived tables.
        provenance: see `provenance.gather`.
        figures: names of the drawn figures.
        config: folder of the configuration, which may have templates for comparisons.
        own: title, authors and texts of the report's configuration.
        sections: sections of the report's configuration.
        tall: names of figures that are taller than a page of paper.

    Raises:
        KneepointError: a template of the configuration is wrong.
    """
    own = own or Report(title=TITLE)

    @cache
    def every(name: str) -> list[Record]:
        return rows_of(tables[name]) if name in tables else []  # its question is not installed

    digits = {(each["table"], each["row"], each["metric"]): each for each in every("printed")}

    def printed_in(table: str, row: int, metric: str, value: float) -> str:
        """Returns a published number, with the digits as printed if they are known."""
        of = digits.get((table, row, metric))
        return of["text"] if of else METRICS[metric].text(value)

    linked: dict[str, Record] = {}

    # Keyed by trial or replayed row: alone, with the network, and with network and traffic.
    settings = {
        (*of, *place): row
        for row in reversed(every("settings_run"))
        for of in ((row["study"], None, row["trial"]), (None, row["table"], row["row"]))
        for place in ((None, None), (row["network"], None), (row["network"], row["traffic"]))
    }

    def from_run(text: object, network: str | None = None, **of: Any) -> object:
        number, traffic = of.get("trial", of.get("row")), of.get("traffic")
        row = settings.get((of.get("study"), of.get("table"), number, network, traffic))
        if row is None:
            return literal(text)
        linked.setdefault(row["run_id"], row)
        return element("run", text, of=row["run_id"][:RUN_DIGITS])

    def with_units(values: Any, controller: str) -> str:
        declared = where(every("parameters"), controller=controller)
        units = {row["parameter"]: row["unit"] for row in declared}
        return labels.parameters_with_units(_values(values), units)

    def own_section(name: str) -> Markup:
        section = (sections or {})[name]
        heading = element("h2", section.title, id=f"text-{name}")
        return Markup("{}\n\n{}\n\n").format(heading, own_words(section.text))

    templates = environment().overlay(
        loader=_loader({"config": jinja2.FileSystemLoader(config)} if config else {})
    )
    try:
        written = templates.get_template("report.md.jinja").make_module(
            {
                "rows": every,
                "printed_in": printed_in,
                "from_run": from_run,
                "linked": linked,
                "with_units": with_units,
                "own_section": own_section,
                "provenance": provenance,
                "own": own,
                "runs_made": sum(row["runs"] for row in every("inventory")),
                "runs_failed": sum(row["runs"] for row in every("exclusions")),
            }
        )
    except jinja2.TemplateError as error:
        path = Path(_template_of(error))
        if config is None or not path.is_relative_to(config):
            raise
        raise KneepointError(f"{path}: {error.message}; correct it") from None
    subtitle = own.subtitle or str(vars(written)["subtitle"])
    numbered = enumerate(provenance["references"], start=1)
    return document(
        str(written),
        own.title,
        figures,
        tall,
        cited={name: f"reference-{at}" for at, each in numbered for name in each["names"]},
        subtitle=subtitle,
        authors=tuple(own.authors),
        made_of=_made_of(provenance),
    )


def _made_of(provenance: Record) -> str:
    beside = provenance["beside"]
    named = [(f"{beside['folder']}: ", beside), ("Kneepoint: ", provenance)] if beside else []
    parts = [
        f"{name}commit {state['commit'][:10]} of {state['committed']}"
        + (", changed" if state["changed_files"] else "")
        for name, state in named or [("", provenance)]
        if state["commit"]
    ]
    return "; ".join([*parts, f"seed {provenance['seed']}"])


def _template_of(error: BaseException) -> str:
    """Returns the path of the innermost template in an error's traceback, or ""."""
    frames = [each.filename for each in traceback.extract_tb(error.__traceback__)]
    found = [name for name in frames if name.endswith(".jinja")]
    return found[-1] if found else ""


def _loader(more: Mapping[str, jinja2.BaseLoader]) -> jinja2.BaseLoader:
    """Loads the report's templates and, by folder, templates of questions and of `more`."""
    folders = {"questions": jinja2.FileSystemLoader(FOLDER), **more}
    return jinja2.ChoiceLoader([jinja2.FileSystemLoader(TEMPLATES), jinja2.PrefixLoader(folders)])


@cache
def environment() -> jinja2.Environment:
    """Returns the environment that all reports share."""
    environment = templates_in(TEMPLATES)
    environment.loader = _loader({})
    environment.filters |= {
        **{name: getattr(labels, name) for name in _OF_LABELS},
        "signed": lambda ratio, decimals=1: labels.percent(ratio, decimals, signed=True),
        "fixed": fixed,
        "times_100": lambda ratio, decimals=1, sign="": fixed(100 * ratio, decimals, sign),
        "in_steps": in_steps,
        "exp": math.exp,
        "ms": lambda microseconds: microseconds / 1000,
        "capital": lambda text: text[:1].upper() + text[1:],
        "row_number": lambda row: row + 1,  # tables count rows from 0, readers from 1
        "parameters": lambda values: labels.parameters(_values(values)),
        "from_json": parse_json,
        "markdown": own_words,
        "other_values": other_values,
        "distinct": lambda items: list(dict.fromkeys(items)),
        "where": where,
        "first_where": first_where,
        "grouped_by": grouped_by,
        "having": lambda rows, name: [row for row in rows if is_known(row[name])],
        "varied": varied,
        "apply": lambda items, macro: [macro(item) for item in items],
        "parameters_in": lambda row, names: [
            labels.number(row[PARAMETER + each]) for each in names
        ],
        "median": statistics.median,
        "metrics_of": lambda rows: [
            name for name in METRICS if any(is_known(row[f"published_{name}"]) for row in rows)
        ],
        "in_prose": in_prose,
        "greatest_magnitude": lambda ratios: max(map(abs, ratios)),
        "parameter": lambda name: _PARAMETERS.get(name, labels.words(name)),
    }
    environment.tests |= {"known": is_known}
    environment.globals |= {
        "plus_minus": plus_minus,
        "chance": labels.chance,
        "metrics": METRICS,
        "as_printed": as_printed,
        "in_print": printed,
        "FIGURES": FIGURES,
        "DASH": labels.DASH,
        "SHOWN": SHOWN,
        "parts": parts,
        "LEAST_NETWORKS": least_pairs(1),
        "RUN_DIGITS": RUN_DIGITS,
        "folder_of": FOLDERS.get,
        "name_of": lambda engine: LIMITS[engine].title,
        "BIN_MS": link_log.BIN_MS,
        **in_tables("WORDS"),
    }
    return environment


def rows_of(frame: pd.DataFrame) -> list[Record]:
    """Returns the rows of a table; missing values are None, in columns of floats NaN."""
    return [
        {name: None if value is pd.NA else value for name, value in row.items()}
        for row in records(frame)
    ]


def where(rows: Iterable[Record], **wanted: Any) -> list[Record]:
    """Returns the rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


class _NoRow(Record):
    """An empty row, false as a condition, in which every value is missing."""

    def __missing__(self, name: str) -> float:
        return math.nan


def first_where(rows: Iterable[Record], **wanted: Any) -> Record:
    """Returns the first row with these values, or a row in which every value is missing."""
    return next(iter(where(rows, **wanted)), _NoRow())


def grouped_by(rows: Iterable[Record], *names: str) -> list[list[Record]]:
    """Groups rows by their values in these columns."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.values())


def varied(rows: Sequence[Record], least: int = 2) -> list[str]:
    """Returns the parameters with at least `least` different values, in column order."""
    columns = [name for name in (rows[0] if rows else ()) if name.startswith(PARAMETER)]
    counts = {name: len({row[name] for row in rows if is_known(row[name])}) for name in columns}
    return [name.removeprefix(PARAMETER) for name, count in counts.items() if count >= least]


def other_values(values: Iterable[float]) -> str:
    """Lists values in prose; of more than _MOST_LISTED values, their number and range."""
    numbers = [labels.number(value) for value in sorted(values)]
    if len(numbers) <= _MOST_LISTED:
        return joined(numbers)
    return f"{len(numbers)} values, from {numbers[0]} to {numbers[-1]}"


def in_prose(title: str) -> str:
    """Returns a title for the middle of a sentence: with a leading article in lower case."""
    first, space, rest = title.partition(" ")
    return first.lower() + space + rest if first in ("A", "An", "The") else title


def _values(values: Mapping[str, float] | str) -> Mapping[str, float]:
    found: Mapping[str, float] = parse_json(values) if isinstance(values, str) else values
    return found

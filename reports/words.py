"""The report from its templates, and their vocabulary: filters for names, numbers and rows."""

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
    CONSTANT,
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
"""Of a report without words of its own."""

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
    """The whole report.

    Args:
        tables: of the analysis, with what is derived of them.
        provenance: where the report comes from.
        figures: names of the figures that were drawn.
        config: the configuration's folder, whose comparisons may have templates of their own.
        own: the report's own words.
        sections: its own sections.
        tall: names of the figures that no page of paper holds.

    Raises:
        KneepointError: a template of the configuration is wrong.
    """
    own = own or Report(title=TITLE)

    @cache
    def every(name: str) -> list[Record]:
        return rows_of(tables[name]) if name in tables else []  # of a question that is not there

    digits = {(each["table"], each["row"], each["metric"]): each for each in every("printed")}

    def printed_in(table: str, row: int, metric: str, value: float) -> str:
        """A published number, digit for digit if that is known; whether it is cut off."""
        of = digits.get((table, row, metric))
        return of["text"] if of else METRICS[metric].text(value)

    linked: dict[str, Record] = {}

    # By their trial or the row that they replay, alone or with the network and the traffic.
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
        declared = where(every("constants"), controller=controller)
        units = {row["constant"]: row["unit"] for row in declared}
        return labels.constants_with_units(_values(values), units)

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
    """The path of the innermost template that raised an error, or "" if none did."""
    frames = [each.filename for each in traceback.extract_tb(error.__traceback__)]
    found = [name for name in frames if name.endswith(".jinja")]
    return found[-1] if found else ""


def _loader(more: Mapping[str, jinja2.BaseLoader]) -> jinja2.BaseLoader:
    """Finds the report's templates, and by their folder those of questions and others."""
    folders = {"questions": jinja2.FileSystemLoader(FOLDER), **more}
    return jinja2.ChoiceLoader([jinja2.FileSystemLoader(TEMPLATES), jinja2.PrefixLoader(folders)])


@cache
def environment() -> jinja2.Environment:
    """The templates, with everything that all reports share."""
    environment = templates_in(TEMPLATES)
    environment.loader = _loader({})
    environment.filters |= {
        **{name: getattr(labels, name) for name in _OF_LABELS},
        "signed": lambda ratio, decimals=1: labels.percent(ratio, decimals, signed=True),
        "fixed": fixed,
        "points": lambda ratio, decimals=1, sign="": fixed(100 * ratio, decimals, sign),
        "in_steps": in_steps,
        "exp": math.exp,
        "ms": lambda microseconds: microseconds / 1000,
        "capital": lambda text: text[:1].upper() + text[1:],
        "printed": lambda row: row + 1,  # tables count rows from 0, readers from 1
        "constants": lambda values: labels.constants(_values(values)),
        "from_json": parse_json,
        "markdown": own_words,
        "other_values": other_values,
        "distinct": lambda items: list(dict.fromkeys(items)),
        "where": where,
        "the": the,
        "alike": alike,
        "known": lambda rows, name: [row for row in rows if is_known(row[name])],
        "varied": varied,
        "apply": lambda items, macro: [macro(item) for item in items],
        "constants_in": lambda row, names: [labels.number(row[CONSTANT + each]) for each in names],
        "median": statistics.median,
        "metrics_of": lambda rows: [
            name for name in METRICS if any(is_known(row[f"published_{name}"]) for row in rows)
        ],
        "in_prose": in_prose,
        "farthest": lambda ratios: max(map(abs, ratios)),
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
    """The rows of a table; a missing value is None, in a column of floats NaN."""
    return [
        {name: None if value is pd.NA else value for name, value in row.items()}
        for row in records(frame)
    ]


def where(rows: Iterable[Record], **wanted: Any) -> list[Record]:
    """The rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


class _NoRow(Record):
    """Whatever is asked of it is missing; it is false."""

    def __missing__(self, name: str) -> float:
        return math.nan


def the(rows: Iterable[Record], **wanted: Any) -> Record:
    """The first row that has these values; without one, a row in which every value is missing."""
    return next(iter(where(rows, **wanted)), _NoRow())


def alike(rows: Iterable[Record], *names: str) -> list[list[Record]]:
    """Groups of rows that have the same values in these columns."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.values())


def varied(rows: Sequence[Record], least: int = 2) -> list[str]:
    """The parameters with at least this many values in the rows, in the order of the columns."""
    columns = [name for name in (rows[0] if rows else ()) if name.startswith(CONSTANT)]
    counts = {name: len({row[name] for row in rows if is_known(row[name])}) for name in columns}
    return [name.removeprefix(CONSTANT) for name, count in counts.items() if count >= least]


def other_values(values: Iterable[float]) -> str:
    """Values in prose; of more than _MOST_LISTED, their number and range."""
    numbers = [labels.number(value) for value in sorted(values)]
    if len(numbers) <= _MOST_LISTED:
        return joined(numbers)
    return f"{len(numbers)} values, from {numbers[0]} to {numbers[-1]}"


def in_prose(title: str) -> str:
    """A title within a sentence: a leading article is no name."""
    first, space, rest = title.partition(" ")
    return first.lower() + space + rest if first in ("A", "An", "The") else title


def _values(values: Mapping[str, float] | str) -> Mapping[str, float]:
    found: Mapping[str, float] = parse_json(values) if isinstance(values, str) else values
    return found

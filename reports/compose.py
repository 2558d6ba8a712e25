"""Composes the report from its templates."""

import traceback
from collections.abc import Container, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from jinja2.environment import TemplateModule
from markupsafe import Markup

from kneepoint.analysis import labels, link_log
from kneepoint.analysis.frames import Record
from kneepoint.analysis.labels import is_known
from kneepoint.analysis.metrics import FIGURES, METRICS, SHOWN, as_printed, printed
from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import Tables
from kneepoint.config.report import Report, Section
from kneepoint.config.workflow import FOLDERS
from kneepoint.engines.limits import LIMITS
from kneepoint.reports import blocks, formats, parts, rows
from kneepoint.reports.document import RUN_DIGITS, Document, document, user_text
from kneepoint.reports.templating import element, joined, literal, templates_in
from kneepoint.runs.question import FOLDER, modules
from kneepoint.stats.paired import min_pairs

TEMPLATES = Path(__file__).parent / "templates"

TITLE = "The knee of the throughput-delay curve"
"""Title of a report whose configuration has none."""


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
        tables: tables of the analysis, with derived tables.
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
        return rows.rows_of(tables[name]) if name in tables else []  # its question is not installed

    digits = {(each["table"], each["row"], each["metric"]): each for each in every("printed")}

    def printed_in(table: str, row: int, metric: str, value: float) -> str:
        """Returns a published number, with the digits as printed if they are known."""
        of = digits.get((table, row, metric))
        return of["text"] if of else METRICS[metric].text(value)

    linked: dict[str, Record] = {}

    # Keys have a trial or a replayed row: alone, with the network, and with network and traffic.
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
        return element("a", text, class_="run", href=f"#run-{row['run_id'][:RUN_DIGITS]}")

    def with_units(values: Any, controller: str) -> str:
        declared = rows.where(every("parameters"), controller=controller)
        units = {row["parameter"]: row["unit"] for row in declared}
        return labels.parameters_with_units(formats.parsed(values), units)

    def own_section(name: str) -> Markup:
        section = (sections or {})[name]
        heading = element("h2", section.title, id=f"text-{name}")
        return Markup("{}\n\n{}\n\n").format(heading, user_text(section.text))

    templates = environment(config)
    real = rows.where(every("inventory"), engine="mahimahi")
    context: dict[str, Any] = {
        **blocks.functions(figures, tall),
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
        "real_made": [row for row in real if row["runs"]],
    }

    @cache
    def section(file: str) -> TemplateModule:
        return templates.get_template(file).make_module(context)

    def said(part: str) -> list[Markup]:
        """Returns the sections of a part, by the macros of their templates."""
        return [getattr(section(file), macro)() for file, macro in parts.sections(part)]

    def lines(part: str) -> list[Markup]:
        return [line for text in said(part) for line in text.strip().splitlines()]

    try:
        context |= {"said": said, "networks": lines(parts.NETWORKS)}
        done = str(joined(lines(parts.DONE)))
        written = templates.get_template("report.md.jinja").render(context)
    except jinja2.TemplateError as error:
        path = Path(_template_of(error))
        if config is None or not path.is_relative_to(config):
            raise
        raise KneepointError(f"{path}: {error.message}; correct it") from None
    numbered = enumerate(provenance["references"], start=1)
    return document(
        written,
        own.title,
        cited={name: f"reference-{at}" for at, each in numbered for name in each["names"]},
        subtitle=own.subtitle or done[:1].upper() + done[1:],
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


def environment(config: Path | None = None) -> jinja2.Environment:
    """Returns an environment that loads the report's and, by folder, other templates.

    Args:
        config: folder of the configuration.
    """
    environment = templates_in(TEMPLATES)
    folders = {"questions": FOLDER, **({"config": config} if config else {})}
    others = {name: jinja2.FileSystemLoader(folder) for name, folder in folders.items()}
    own = jinja2.FileSystemLoader(TEMPLATES)
    environment.loader = jinja2.ChoiceLoader([own, jinja2.PrefixLoader(others)])
    environment.filters |= {**formats.FILTERS, **rows.FILTERS, "markdown": user_text}
    environment.tests["known"] = is_known
    environment.globals |= {
        **formats.FUNCTIONS,
        **modules("section"),
        "metrics": METRICS,
        "as_printed": as_printed,
        "in_print": printed,
        "FIGURES": FIGURES,
        "DASH": labels.DASH,
        "SHOWN": SHOWN,
        "parts": parts,
        "MIN_NETWORKS": min_pairs(1),
        "RUN_DIGITS": RUN_DIGITS,
        "folder_of": FOLDERS.get,
        "name_of": lambda engine: LIMITS[engine].title,
        "BIN_MS": link_log.BIN_MS,
    }
    return environment

"""The audit: a verdict on every row that the reports print, and what speaks against those wrong."""

from collections.abc import Iterator

import pandas as pd

from reports import labels
from reports.audit import VERDICTS, counts, errors
from reports.checks import CLOSE, FACTOR
from reports.content import Block, Column, Paragraph, Section, Table, literal
from reports.discover import reports_compared
from reports.frames import records
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context

ORDER = 8


def compose(context: Context) -> Iterator[Section]:
    """One section, if any table of a report was replayed."""
    compared = reports_compared(context.results)
    if compared is None:
        return
    rows = compared.rows
    blocks: list[Block] = [Paragraph(_what(rows)), Paragraph(_rules()), _counts(rows)]
    blocks += context.draw(compared)
    wrong = rows[rows["verdict"] == "contradicted"]
    if len(wrong):
        caption = "What is printed, and what speaks against it."
        blocks.append(_evidence("contradicted", "Contradicted rows", caption, wrong))
    blocks += [Paragraph(_how_near(rows)), _errors(rows)]
    unexplained = rows[rows["verdict"] == "unexplained"]
    if len(unexplained):
        caption = "They are farther from ours than close, and nothing else speaks against them."
        blocks.append(_evidence("unexplained", "Unexplained rows", caption, unexplained))
    yield Section("audit", "Audit of the published tables", tuple(blocks))


def _what(rows: pd.DataFrame) -> str:
    number = rows["verdict"].value_counts().to_dict()
    tables = labels.count(rows["table"].nunique(), "table")
    wrong = number.get("contradicted", 0)
    text = f"The reports print {len(rows)} rows in {tables} ({{audit-counts}}). "
    if wrong:
        verb = "is" if wrong == 1 else "are"
        text += f"**{wrong} of them {verb} contradicted** ({{audit-contradicted}}). "
    parts = {
        "reproduced": "{} are reproduced",
        "close": "{} are close",
        "fitted": f"{{}} stand in tables to which a constant was fitted{_fitted(rows)}",
        "unexplained": "{} differ for reasons that we do not know ({{audit-unexplained}})",
        "not comparable": "{} lack a number or a constant",
    }
    known = [words.format(number[name]) for name, words in parts.items() if name in number]
    return text + f"Of the {'others' if wrong else 'rows'}, {labels.joined(known)}."


def _fitted(rows: pd.DataFrame) -> str:
    """How near the fitted rows are."""
    near = rows.loc[rows["verdict"] == "fitted", "agreement"].value_counts().to_dict()
    parts = {"reproduced": "{} as near as reproduced ones", "close": "{} as near as close ones"}
    known = [words.format(near[name]) for name, words in parts.items() if name in near]
    return f" ({labels.joined(known)})" if known else ""


def _rules() -> str:
    near, late, power = (METRICS[metric] for metric in (THROUGHPUT, SIGNAL_DELAY, POWER))
    return (
        "A row is reproduced if ours differs from its throughput by at most "
        f"{labels.percent(near.relative, 0)} and from its signal delay by at most "
        f"{labels.percent(late.relative, 0)} or {late.absolute:.0f} ms, and close if both differ "
        f"by at most {labels.percent(CLOSE[THROUGHPUT], 0)}; where it prints power alone, that may "
        f"differ by {labels.percent(power.relative, 0)} and {labels.percent(CLOSE[POWER], 0)}. A "
        "row counts as fitted, however near, if a constant was fitted to its table. Distance alone "
        "contradicts no row: it is contradicted if its power is not its throughput over its delay, "
        "whatever rounding hides; if it repeats the numbers of a row that we find to differ; if "
        "another table prints another number for the same constants; if it leaves the line of its "
        "neighbours where ours does not; or if it is farther from ours than "
        f"{FACTOR:g} times our runs vary and {FACTOR:g} times the other rows of its table scatter; "
        "the last two only beyond twice what is close."
    )


def _evidence(name: str, title: str, caption: str, rows: pd.DataFrame) -> Table:
    shown = (THROUGHPUT, SIGNAL_DELAY, POWER)
    return Table(
        name=f"audit-{name}",
        title=title,
        caption=caption,
        columns=(
            Column("Row", align="left"),
            *(Column(METRICS[metric].title, METRICS[metric].unit) for metric in shown),
            Column("Evidence", align="left"),
        ),
        rows=tuple(
            (
                literal(row["name"]),
                *(METRICS[metric].text(row[f"published_{metric}"]) for metric in shown),
                literal(row["evidence"][:1].upper() + row["evidence"][1:]),
            )
            for row in records(rows)
        ),
    )


def _counts(rows: pd.DataFrame) -> Table:
    table = counts(rows)
    total = {name: int(table[name].sum()) for name in ("rows", *VERDICTS)}
    lines = [*records(table), {"table": "all", **total}]
    return Table(
        name="audit-counts",
        title="Verdicts by table",
        caption="Numbers of rows.",
        columns=(
            Column("Table", align="left"),
            Column("Rows"),
            *(Column(verdict.capitalize()) for verdict in VERDICTS),
        ),
        rows=tuple(
            (
                literal(line["table"]),
                *(str(line[name] or labels.DASH) for name in ("rows", *VERDICTS)),
            )
            for line in lines
        ),
        strong=frozenset({len(lines) - 1}),
    )


def _how_near(rows: pd.DataFrame) -> str:
    found = {(line["metric"], line["group"]): line for line in records(errors(rows))}
    direct, late = found[THROUGHPUT, "all"], found[SIGNAL_DELAY, "all"]
    if not direct["rows"]:
        return "{audit-errors} has the sizes of the differences."
    return (
        f"Over the {direct['rows']} rows that print throughput and delay, contradicted ones "
        f"included, the median difference is {labels.percent(direct['median'])} of throughput and "
        f"{labels.percent(late['median'])} of signal delay; {labels.percent(direct['near'], 0)} "
        f"and {labels.percent(late['near'], 0)} are within {labels.percent(CLOSE[THROUGHPUT], 0)} "
        "({audit-errors}). Rows that print power only are counted apart."
    )


def _errors(rows: pd.DataFrame) -> Table:
    groups = {
        "all": "all",
        "not contradicted": "without contradicted ones",
        "nothing fitted": "and without fitted ones",
    }
    lines = [line for line in records(errors(rows)) if line["rows"]]
    return Table(
        name="audit-errors",
        title="How large the differences are",
        caption="Sizes of ours less published, relative to published.",
        columns=(
            Column("Metric", align="left"),
            Column("Rows", align="left"),
            Column("Number"),
            Column("Median"),
            Column("90th percentile"),
            Column("Close"),
        ),
        rows=tuple(
            (
                _subject(line["metric"]) if line["group"] == "all" else "",
                groups[line["group"]],
                str(line["rows"]),
                labels.percent(line["median"]),
                labels.percent(line["p90"]),
                labels.percent(line["near"], 0),
            )
            for line in lines
        ),
    )


def _subject(metric: str) -> str:
    title = METRICS[metric].title
    return f"{title}, printed alone" if metric == POWER else title

"""Every published table beside ours, row by row."""

from collections.abc import Iterator

import pandas as pd

from reports import labels
from reports.collect import Source
from reports.content import Block, Column, Paragraph, Section, Table, literal
from reports.discover import comparisons
from reports.frames import Record, records
from reports.labels import DASH
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context
from reports.statistics import CONSTANT
from reports.subjects import Comparison

ORDER = 60
TITLES = {
    "reports": "Published tables beside ours",
    "measured": "Real runs of mahimahi beside ours",
}
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)


def compose(context: Context) -> Iterator[Section]:
    """One section for the tables of reports, one for what was measured on real mahimahi."""
    for compared in comparisons(context.results):
        blocks: list[Block] = [Paragraph(tolerances()), _summary(compared)]
        if compared.key != "reports":  # that figure stands in the audit
            blocks += context.draw(compared)
        for table, rows in compared.rows.groupby("table", sort=False):
            source = context.results.sources.get(str(table), Source(""))
            blocks.append(_row_by_row(str(table), compared.noun, source, rows))
        yield Section(compared.key, TITLES[compared.key], tuple(blocks))


def tolerances() -> str:
    """When a row counts as agreeing."""
    throughput, delay, power = (METRICS[metric] for metric in SHOWN)
    return (
        f"A row agrees if its throughput is within {labels.percent(throughput.relative, 0)} of "
        f"ours and its signal delay within {labels.percent(delay.relative, 0)} or "
        f"{delay.absolute:.0f} ms; a row that prints power alone, if that is within "
        f"{labels.percent(power.relative, 0)}. Differences are ours less published, relative to "
        "published. The verdict is that of the audit; contradicted rows are set in bold."
    )


def _summary(compared: Comparison) -> Table:
    shown = [m for m in SHOWN if compared.rows[f"published_{m}"].notna().any()]
    rows = [
        (
            literal(row["table"]),
            str(row["rows"]),
            str(row["compared"]),
            str(row["within"]),
            *(
                labels.percent(row[f"{kind}_{metric}"])
                for metric in shown
                for kind in ("median", "worst")
            ),
        )
        for row in records(compared.agreement)
    ]
    return Table(
        name=f"agreement-{compared.key}",
        title="How well each table is met",
        caption="Sizes of the relative differences, by table.",
        columns=(
            Column("Table", align="left"),
            Column("Rows"),
            Column("Replayed"),
            Column("Agree"),
            *(
                Column(kind, "", METRICS[metric].title)
                for metric in shown
                for kind in ("median", "worst")
            ),
        ),
        rows=tuple(rows),
    )


def _row_by_row(table: str, noun: str, source: Source, rows: pd.DataFrame) -> Table:
    constants = [
        name
        for name in rows.columns
        if name.startswith(CONSTANT)
        and rows[name].notna().any()
        and name.removeprefix(CONSTANT) not in source.held
    ]
    metrics = [metric for metric in SHOWN if rows[f"published_{metric}"].notna().any()]
    columns = [Column("Row")]
    columns += [
        Column(labels.sentence(name.removeprefix(CONSTANT)), labels.unit(name))
        for name in constants
    ]
    for metric in metrics:
        group = f"{METRICS[metric].title}, {METRICS[metric].unit}"
        columns += [Column(head, "", group) for head in (noun.lower(), "ours", "%")]
    columns.append(Column("Verdict", align="left"))
    lines = records(rows)
    return Table(
        name=f"rows-{table}",
        title=literal(table),
        caption=_where(source),
        columns=tuple(columns),
        rows=tuple(
            (
                str(row["row"] + 1),
                *(labels.number(row[name]) for name in constants),
                *(cell for metric in metrics for cell in _compared(row, metric)),
                row["verdict"],
            )
            for row in lines
        ),
        strong=frozenset(i for i, row in enumerate(lines) if row["verdict"] == "contradicted"),
        muted=frozenset(i for i, row in enumerate(lines) if row["runs"] == 0),
    )


def _where(source: Source) -> str:
    """Where a table stands, what it holds, and what of that it does not say."""
    parts = [source.text]
    if source.held:
        parts.append(f"Held: {labels.constants_with_units(source.held)}")
    if source.unstated:
        reasons = [f"{labels.words(name)} ({why})" for name, why in source.unstated.items()]
        parts.append(f"The report does not state {labels.joined(reasons)}")
    return " ".join(literal(part) + "." for part in parts if part)


def _compared(row: Record, metric: str) -> tuple[str, str, str]:
    relative = row[f"relative_{metric}"]
    return (
        METRICS[metric].text(row[f"published_{metric}"]),
        METRICS[metric].text(row[f"ours_{metric}"]),
        DASH if relative != relative else labels.minus(f"{100 * relative:+.1f}"),
    )

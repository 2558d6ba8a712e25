"""What failed and was left out, and what was not run: nothing is dropped silently."""

from collections.abc import Iterator

import pandas as pd

from reports import labels, statistics
from reports.content import Block, Column, Paragraph, Section, Table, code, literal
from reports.discover import comparisons
from reports.frames import records
from reports.sections import Context

ORDER = 80


def compose(context: Context) -> Iterator[Section]:
    """One section, which says "none" where there is nothing to list."""
    results = context.results
    frames = [study.runs for study in results.studies] + [each.runs for each in results.repeats]
    frames += [results.hold_out.runs] if results.hold_out else []
    frames = [frame for frame in frames if len(frame)]
    runs = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    failed = statistics.exclusions(runs) if len(runs) else runs
    blocks: list[Block] = []
    if failed.empty:
        blocks.append(Paragraph(f"None: all {labels.count(len(runs), 'run')} gave a result."))
    else:
        count = labels.count(int(failed["runs"].sum()), "run")
        blocks.append(
            Paragraph(
                f"{count} of {len(runs):,} failed. They scored worst in their search and count in "
                "no mean."
            )
        )
        blocks.append(_table(failed))
    rows = [
        f"{code(row['table'])} row {row['row'] + 1}"
        for compared in comparisons(results)
        for row in records(compared.rows[compared.rows["runs"] == 0])
    ]
    if rows:
        blocks.append(Paragraph(f"Published rows that no study ran: {labels.joined(rows)}."))
    yield Section("exclusions", "Exclusions", tuple(blocks), listing=True)


def _table(failed: pd.DataFrame) -> Table:
    return Table(
        name="failed-runs",
        title="Failed runs",
        caption="Runs that failed alike are counted together.",
        columns=(
            Column("Study", align="left"),
            Column("Controller", align="left"),
            Column("Constants", align="left"),
            Column("Reason", align="left"),
            Column("Runs"),
        ),
        rows=tuple(
            (
                literal(row["study"]),
                literal(row["controller"]),
                code(row["constants"]),
                literal(row["reason"]),
                str(row["runs"]),
            )
            for row in records(failed)
        ),
    )

"""Constants and settings fitted to tables: what fits, how surely, and where it does not."""

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from reports import labels
from reports.content import Block, Column, Section, Table, code
from reports.discover import searches
from reports.frames import Record, records
from reports.metrics import METRICS
from reports.recovery import CHANCE, DRAWS, disagreement, fitted_rows, recovered, row_losses
from reports.sections import Context, search
from reports.statistics import CONSTANT
from reports.subjects import Search

ORDER = 15


def compose(context: Context) -> Iterator[Section]:
    """One section for each fit."""
    for found in searches(context.results):
        if found.fit:
            section = search.section(context, found)
            yield replace(section, blocks=(*section.blocks, *_details(context, found)))


def _details(context: Context, found: Search) -> Iterator[Block]:
    study = next(study for study in context.results.studies if study.name == found.key)
    tables = fitted_rows(context.results.published, study.fit)
    rows = pd.concat(tables.values(), ignore_index=True)
    losses = row_losses(study.runs, rows, study.robust)
    certainty = recovered(study.trials, losses, rows, study.searched, study.seed)
    yield _certainty(found, certainty, len(rows))
    best = int(found.best_trial["trial"])
    for table, of_table in tables.items():
        yield _rows(found, table, disagreement(study.runs, of_table, best))


def _certainty(found: Search, certainty: pd.DataFrame, rows: int) -> Table:
    lines = []
    for line, constant in zip(records(certainty), found.searched, strict=True):
        interval = (
            labels.DASH
            if line["low"] != line["low"]
            else f"{labels.number(line['low'])} to {labels.number(line['high'])}"
        )
        searched = f"{labels.number(constant.low)} to {labels.number(constant.high)}"
        name = labels.sentence(constant.name)
        unit = labels.unit(constant.name)
        lines.append((name, unit, labels.number(line["best"]), interval, searched, line["verdict"]))
    several = len(found.fit) > 1
    what, apart = ("tables", ", those of each table apart") if several else ("table", "")
    caption = (
        f"The interval holds every trial that explains the {what} no worse than the best one in at "
        f"least {100 * CHANCE:.0f} % of {DRAWS} draws of {rows} rows, with replacement{apart}. Of "
        "a grid the values of each constant are drawn, for rows that share one err together. The "
        "best trial is a lucky one, too, and trials are sparse: the truth may lie a little outside."
    )
    return Table(
        name=f"certainty-{found.key}",
        title=f"What the {what} {'pin' if several else 'pins'} down",
        caption=caption if rows > 1 else "From one row no others can be drawn: it has no interval.",
        columns=(
            Column("Constant", align="left"),
            Column("Unit", align="left"),
            Column("Best"),
            Column("Interval"),
            Column("Searched"),
            Column("Verdict", align="left"),
        ),
        rows=tuple(lines),
    )


def _rows(found: Search, name: str, table: pd.DataFrame) -> Table:
    searched = {constant.name for constant in found.searched}
    varied = [
        name
        for name in table.columns
        if name.startswith(CONSTANT)
        and table[name].nunique() > 1
        and name.removeprefix(CONSTANT) not in searched
    ]
    printed = [metric for metric in METRICS if metric in table and table[metric].notna().any()]
    lines = [
        (
            str(int(row["line"])),
            *(labels.number(row[name]) for name in varied),
            *(cell for metric in printed for cell in _cells(row, metric)),
        )
        for row in records(table)
    ]
    return Table(
        name=f"rows-{found.key}{f'-{name}' if len(found.fit) > 1 else ''}",
        title="Row by row",
        caption=f"Each row of {code(name)}, with the best trial's constants.",
        columns=(
            Column("Row"),
            *(Column(labels.sentence(name.removeprefix(CONSTANT))) for name in varied),
            *(
                Column(
                    head,
                    METRICS[metric].unit if head != "difference" else "",
                    METRICS[metric].title,
                )
                for metric in printed
                for head in ("published", "ours", "difference")
            ),
        ),
        rows=tuple(lines),
    )


def _cells(row: Record, metric: str) -> tuple[str, str, str]:
    if row[metric] != row[metric]:
        return labels.DASH, METRICS[metric].text(row[f"ours_{metric}"]), labels.DASH
    return (
        METRICS[metric].text(row[metric]),
        METRICS[metric].text(row[f"ours_{metric}"]),
        labels.percent(row[f"relative_{metric}"], signed=True),
    )

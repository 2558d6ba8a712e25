"""What failed and was left out, and what was not run: nothing is dropped silently."""

from collections.abc import Iterator

import pandas as pd

from reports import labels, statistics
from reports.collect import Results
from reports.content import Block, Column, Paragraph, Section, Table, code, literal
from reports.discover import comparisons
from reports.frames import records
from reports.sections import Context

ORDER = 80


def compose(context: Context) -> Iterator[Section]:
    """One section, which says "none" where there is nothing to list."""
    results = context.results
    frames = [frame for frame in (*_frames(results), *real_frames(results)) if len(frame)]
    runs = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    failed = statistics.exclusions(runs) if len(runs) else runs
    blocks: list[Block] = []
    if failed.empty:
        blocks.append(Paragraph(f"None: all {labels.count(len(runs), 'run')} gave a result."))
    else:
        blocks.append(Paragraph(_how_many(failed, len(runs))))
        blocks.append(_table(failed))
    rows = [
        f"{code(row['table'])} row {row['row'] + 1}"
        for compared in comparisons(results)
        for row in records(compared.rows[compared.rows["runs"] == 0])
    ]
    if rows:
        blocks.append(Paragraph(f"Published rows that no study ran: {labels.joined(rows)}."))
    if results.real and results.real.missing:
        blocks.append(Paragraph(_not_made(results.real.missing)))
    yield Section("exclusions", "Exclusions", tuple(blocks))


def _how_many(failed: pd.DataFrame, runs: int) -> str:
    count = failed.groupby("status")["runs"].sum()
    parts = []
    if "failed" in count:
        parts.append(
            f"{labels.count(int(count['failed']), 'run')} of {runs:,} failed by their controllers' "
            "doing. They scored worst in their search, have power 0 on training and held-out "
            "networks, and count in no other mean."
        )
    if "fault" in count:
        parts.append(
            f"{labels.count(int(count['fault']), 'run')} of the probe met a fault of the machine, "
            "which is what the probe asks for; elsewhere such a run ends its job."
        )
    return " ".join(parts)


def _frames(results: Results) -> list[pd.DataFrame]:
    """The runs of one engine."""
    frames = [study.runs for study in results.studies] + [each.runs for each in results.repeats]
    return frames + ([results.hold_out.runs] if results.hold_out else [])


def real_frames(results: Results) -> list[pd.DataFrame]:
    """Everything that ran in real mahimahi; the emulator's runs beside it have their own place."""
    real = results.real
    if real is None:
        return []
    frames = [study.runs for study in real.measured.studies]
    frames += [each.runs for each in real.measured.repeats]
    return frames + [found.runs for found in (real.probe, real.confirmation) if found]


def _not_made(missing: tuple[str, ...]) -> str:
    names = labels.joined([code(name) for name in missing])
    return (
        f"Runs in real mahimahi take hours, so `make reproduce` leaves them out. Those of {names} "
        "were not made; `make confirm` makes them."
    )


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
                literal(f"{'machine: ' if row['status'] == 'fault' else ''}{row['reason']}"),
                str(row["runs"]),
            )
            for row in records(failed)
        ),
    )

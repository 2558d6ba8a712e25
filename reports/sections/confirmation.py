"""What real mahimahi says of the best settings, and of the rows that the audit contradicts."""

from collections.abc import Iterator

import pandas as pd

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, literal
from reports.discover_real import best_settings, contradicted_rows
from reports.frames import Record, records
from reports.labels import DASH
from reports.metrics import METRICS, POWER, SIGNAL_DELAY
from reports.real_statistics import BY_ARITHMETIC, CONFIRMED, NEAR, NEITHER, REFUTED, TOO_NEAR
from reports.sections import Context
from reports.sections.agreement import measured

ORDER = 44


def compose(context: Context) -> Iterator[Section]:
    """One section, if the best settings or contradicted rows ran in real mahimahi."""
    best, contradicted = best_settings(context.results), contradicted_rows(context.results)
    blocks: list[Block] = []
    if len(contradicted):
        blocks += [Paragraph(_verdicts(contradicted)), _contradicted(contradicted)]
    if len(best):
        blocks += [Paragraph(_best_words(best)), _best(best)]
    if blocks:
        yield Section("confirmation", "What real runs confirm", tuple(blocks))


def _verdicts(rows: pd.DataFrame) -> str:
    ran = rows.dropna(subset=["real_mean"])
    counts = ran["verdict"].value_counts().to_dict()
    words = {
        REFUTED: "{} speak for the report",
        TOO_NEAR: "in {} the two numbers are too near to tell by runs",
        NEITHER: "in {} the emulator is no nearer",
        BY_ARITHMETIC: "for {} it is the arithmetic, which no run can tell",
        "": "{} have no number to compare",
    }
    others = [text.format(counts[name]) for name, text in words.items() if name in counts]
    text = (
        f"**Real mahimahi confirms {counts.get(CONFIRMED, 0)} of the {len(ran)} rows that the "
        "audit contradicts**, as far as their settings are stated ({confirmed-rows})"
    )
    text += f"; {labels.joined(others)}. " if others else ". "
    return text + (
        f"A row is confirmed as wrong if what is printed is farther than {labels.percent(NEAR, 0)} "
        "from the real mean and the emulator's mean is nearer. The reports' runs were made on "
        "other hosts, for which that much is left."
    )


def _contradicted(rows: pd.DataFrame) -> Table:
    return Table(
        name="confirmed-rows",
        title="Contradicted rows in real mahimahi",
        caption=(
            "The number of each row that the audit finds wrong. Real: mean and half the width of "
            "its 95 % t interval; the emulator's mean is that on the calibrated host."
        ),
        columns=(
            Column("Row", align="left"),
            Column("Metric", align="left"),
            Column("Published"),
            Column("Real"),
            Column("Emulator"),
            Column("Confirmed", align="left"),
        ),
        rows=tuple(
            (
                literal(row["row"]),
                f"{METRICS[row['metric']].title}, {METRICS[row['metric']].unit}",
                METRICS[row["metric"]].text(row["published"]),
                _real(row),
                METRICS[row["metric"]].text(row["emulated_mean"]),
                row["verdict"] or DASH,
            )
            for row in records(rows)
        ),
    )


def _best_words(rows: pd.DataFrame) -> str:
    ran = rows.dropna(subset=["real_mean"]).sort_values("real_mean", ascending=False, kind="stable")
    if ran.empty:
        return "The best published and tuned settings have no real run that came to an end."
    first = records(ran)[0]
    text = (
        f"Of the best settings, that of {labels.words(first['controller'])}, {first['origin']}, "
        f"has the greatest power in real mahimahi, {first['real_mean']:.2f} Mbit/s/s "
        "({confirmed-best})."
    )
    compared = ran.dropna(subset=["published"])
    if len(compared):
        off = (compared["real_mean"] / compared["published"] - 1).abs().median()
        text += f" The median difference from the published powers is {labels.percent(off)}."
    return text


def _best(rows: pd.DataFrame) -> Table:
    lines = records(rows)
    powers = rows["real_mean"]
    return Table(
        name="confirmed-best",
        title="Published and tuned best settings in real mahimahi",
        caption=(
            "Power in Mbit/s/s. Real: mean and half the width of its 95 % t interval; the "
            "emulator's mean is that on the calibrated host. Differences are those of the real "
            "mean. In bold, the greatest real power."
        ),
        columns=(
            Column("Controller", align="left"),
            Column("Setting", align="left"),
            Column("Published"),
            Column("Real"),
            Column("Emulator"),
            Column("published", "", "Difference from"),
            Column("emulator", "", "Difference from"),
        ),
        rows=tuple(
            (
                labels.sentence(row["controller"]),
                literal(", ".join(filter(None, [row["origin"], row["row"]]))),
                METRICS[POWER].text(row["published"]),
                _real(row),
                METRICS[POWER].text(row["emulated_mean"]),
                labels.percent(row["real_mean"] / row["published"] - 1, signed=True),
                labels.percent(row["real_mean"] / row["emulated_mean"] - 1, signed=True),
            )
            for row in lines
        ),
        strong=frozenset([int(powers.to_numpy().argmax())] if powers.notna().all() else []),
    )


def _real(row: Record) -> str:
    digits = METRICS[row["metric"]].decimals + (row["metric"] == SIGNAL_DELAY)
    return measured(row["real_mean"], row["real_high"] - row["real_mean"], digits)

"""How repeatable real runs are, beside what was published and what the emulator gives."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, literal
from reports.discover_real import emulated_spread, real_repetition
from reports.frames import Record, records
from reports.labels import DASH
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context
from reports.subjects import Repetition

ORDER = 45
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)


def compose(context: Context) -> Iterator[Section]:
    """One section, if any setting was run many times in real mahimahi."""
    repeated = real_repetition(context.results)
    if repeated is None:
        return
    emulated = {
        (row["setting"], row["metric"]): row
        for row in records(emulated_spread(context.results, repeated))
    }
    blocks: list[Block] = [
        Paragraph(_what(repeated, emulated)),
        *context.draw(repeated),
        _table(repeated, emulated),
    ]
    yield Section("real-repeatability", "Repeatability in real mahimahi", tuple(blocks))


_Spreads = dict[tuple[str, str], Record]


def _what(repeated: Repetition, emulated: _Spreads) -> str:
    powers = repeated.spread[(repeated.spread["metric"] == POWER) & (repeated.spread["n"] > 1)]
    label = dict(zip(repeated.settings["setting"], repeated.settings["label"], strict=True))
    texts = []
    for row in records(powers):
        text = (
            f"In {labels.count(int(row['n']), 'real run')} of {literal(label[row['setting']])} "
            f"power varies by {labels.percent(row['cv'], 2)} (standard deviation over mean)"
        )
        ours = emulated.get((row["setting"], POWER))
        if ours and ours["cv"] == ours["cv"]:
            text += f", in {int(ours['n'])} emulated ones by {labels.percent(ours['cv'], 2)}"
        texts.append(text + ".")
    texts.append("{real-repeatability-table} sets beside them what was published.")
    return " ".join(texts)


def _table(repeated: Repetition, emulated: _Spreads) -> Table:
    rows: list[tuple[str, ...]] = []
    for setting in records(repeated.settings):
        key, label = setting["setting"], literal(setting["label"])
        spread = repeated.spread[repeated.spread["setting"] == key]
        real = {row["metric"]: row for row in records(spread)}
        published = repeated.published[repeated.published["setting"] == key]
        for metric in SHOWN:
            lines = [
                (literal(row["source"]), _of_published(row, metric))
                for row in records(published[published["metric"] == metric])
            ]
            lines.append(("real mahimahi", _of_ours(real[metric], metric)))
            if (key, metric) in emulated:
                lines.append(("emulator, calibrated", _of_ours(emulated[key, metric], metric)))
            title = f"{METRICS[metric].title}, {METRICS[metric].unit}"
            for position, (source, cells) in enumerate(lines):
                first = (label, title) if position == 0 else ("", "")
                rows.append((*first, source, *cells))
            label = ""
    return Table(
        name="real-repeatability-table",
        title="Repeated runs: published, real, emulated",
        caption=(
            "SD is the standard deviation of single runs; the interval is the 95 % t interval of "
            "the mean. The emulator's jitter is that of the calibrated host."
        ),
        columns=(
            Column("Setting", align="left"),
            Column("Metric", align="left"),
            Column("Runs of", align="left"),
            Column("n"),
            Column("Mean"),
            Column("SD"),
            Column("95 % interval"),
        ),
        rows=tuple(rows),
    )


def _of_published(row: Record, metric: str) -> tuple[str, ...]:
    digits = METRICS[metric].decimals + 1
    return (
        _number(row["published_n"], 0),
        _number(row["published_mean"], digits),
        _number(row["published_standard_deviation"], digits + 1),
        DASH,
    )


def _of_ours(row: Record, metric: str) -> tuple[str, ...]:
    digits = METRICS[metric].decimals + 1
    known = row["low"] == row["low"]
    return (
        _number(row["n"], 0),
        _number(row["mean"], digits),
        _number(row["standard_deviation"], digits + 1),
        f"{row['low']:.{digits}f} to {row['high']:.{digits}f}" if known else DASH,
    )


def _number(value: float, decimals: int) -> str:
    return DASH if value != value else f"{value:.{decimals}f}"

"""One constant swept: throughput against delay, power against the constant, and its best."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, literal
from reports.discover import sweeps
from reports.frames import record, records
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context
from reports.subjects import Sweep

ORDER = 10


def compose(context: Context) -> Iterator[Section]:
    """One section for each sweep."""
    found = sweeps(context.results)
    for sweep in found:
        pictures = context.draw(sweep)
        blocks: list[Block] = [Paragraph(_what(context, sweep)), *pictures[:1]]
        blocks += [Paragraph(_result(sweep)), *pictures[1:]]
        if sweep.published[POWER].notna().any():
            blocks.append(_bests(sweep))
        place = f" on {literal(context.network(sweep.network))}" if len(found) > 1 else ""
        yield Section(f"sweep-{sweep.key}", _title(sweep) + place, tuple(blocks))


def _title(sweep: Sweep) -> str:
    tables = [table for table in sweep.reports if labels.is_of_report(table)]
    numbers = labels.joined(list(dict.fromkeys(table.partition("-")[0] for table in tables)))
    title = f"{labels.sentence(sweep.controller)}s, one {labels.words(sweep.constant)} at a time"
    if labels.words(sweep.controller).endswith(labels.words(sweep.constant)):
        title = f"{labels.sentence(sweep.controller)}s"
    return f"{title}: reports {numbers}" if numbers else title


def _what(context: Context, sweep: Sweep) -> str:
    values = sweep.curve["value"]
    return (
        f"We ran {labels.words(sweep.controller)} at {len(values)} values of "
        f"{labels.words(sweep.constant)} from {labels.number(values.min())} to "
        f"{labels.number(values.max())} on {literal(context.network(sweep.network))}, "
        f"{labels.count(int(sweep.curve['runs'].sum()), 'run')} in all "
        f"({labels.count(len(sweep.studies), 'study', 'studies')}). "
        f"A greater {labels.words(sweep.constant)} buys throughput with delay; "
        f"{{throughput-delay-{sweep.key}}} shows at what price, "
        f"{{power-curve-{sweep.key}}} where the trade is best."
    )


def _result(sweep: Sweep) -> str:
    row = record(sweep.curve, sweep.best.label)
    name = labels.words(sweep.constant)
    return (
        f"**Power is greatest at {name} {labels.number(sweep.best_value)}**: "
        f"{labels.with_interval(row[POWER], sweep.best.half_width)} Mbit/s/s, from "
        f"{row[THROUGHPUT]:.2f} Mbit/s at {row[SIGNAL_DELAY]:.0f} ms. {uncertainty(sweep)}"
    )


def uncertainty(sweep: Sweep) -> str:
    """What cannot be told from the best, as a sentence."""
    if sweep.best.margin != sweep.best.margin:
        return "No setting was repeated, so that it is not known what cannot be told from it."
    tied = [labels.number(value) for value in sweep.tied_values]
    chance = labels.chance(sweep.best.margin, sweep.best.runs)
    if not tied:
        return f"No other value comes within the {chance}."
    return f"{labels.joined(tied)} cannot be told from it, with the {chance}."


def _bests(sweep: Sweep) -> Table:
    """Where each report puts the best, and what we measure there."""
    ours = sweep.curve.set_index("value")[POWER]
    rows = []
    for table in sweep.reports:
        printed = sweep.published[sweep.published["table"] == table].dropna(subset=[POWER])
        if printed.empty:
            continue
        best = records(printed.sort_values(POWER, ascending=False, kind="stable"))[0]
        here = float(ours.get(best["value"], float("nan")))
        rows.append(
            (
                literal(table),
                str(len(printed)),
                labels.number(best["value"]),
                METRICS[POWER].text(best[POWER]),
                METRICS[POWER].text(here),
                labels.percent(here / best[POWER] - 1, signed=True),
                labels.percent(here / sweep.best.value - 1, signed=True),
            )
        )
    name = labels.sentence(sweep.constant)
    rows.append(
        (
            "ours",
            str(len(sweep.curve)),
            labels.number(sweep.best_value),
            labels.DASH,
            METRICS[POWER].text(sweep.best.value),
            labels.DASH,
            labels.percent(0.0),
        )
    )
    return Table(
        name=f"bests-{sweep.key}",
        title=f"Where each table puts the best {labels.words(sweep.constant)}",
        caption="The best of each published table, by its own numbers, and our power there.",
        columns=(
            Column("Table", align="left"),
            Column("Rows"),
            Column(f"Best {name.lower()}"),
            Column("Published", "Mbit/s/s", "Power there"),
            Column("Ours", "Mbit/s/s", "Power there"),
            Column("Difference", "", "Power there"),
            Column("Below our best"),
        ),
        rows=tuple(rows),
        strong=frozenset({len(rows) - 1}),
    )

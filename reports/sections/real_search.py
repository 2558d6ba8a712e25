"""Searches whose every run took its own time, in real mahimahi."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Heading, Paragraph, Section, Table, literal
from reports.discover import searches
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context, search
from reports.subjects import Search

ORDER = 46
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)


def compose(context: Context) -> Iterator[Section]:
    """One section for all searches in real mahimahi, if there are any."""
    real = context.results.real
    found = searches(real.measured) if real else ()
    if not found:
        return
    blocks: list[Block] = [Paragraph(_what(found)), _table(context, found)]
    for each in found:
        part = search.section(context, each)
        blocks += [Heading(part.title), *part.blocks]
    yield Section("real-searches", "Searches in real mahimahi", tuple(blocks))


def _what(found: tuple[Search, ...]) -> str:
    runs = sum(int(each.trials["n_runs"].sum()) for each in found)
    return (
        f"{labels.count(len(found), 'search', 'searches')} ran in real mahimahi by the same "
        f"samplers as in the emulator: {labels.count(runs, 'real run')} ({{real-searches-table}})."
    )


def _table(context: Context, found: tuple[Search, ...]) -> Table:
    return Table(
        name="real-searches-table",
        title="What was found in real time",
        caption=(
            "The best trial of each search in real mahimahi, and the best power that a search of "
            "the same controller found in the emulator."
        ),
        columns=(
            Column("Search", align="left"),
            Column("Sampler", align="left"),
            Column("Trials"),
            Column("Best constants", align="left"),
            *(Column(METRICS[metric].title, METRICS[metric].unit, "Real") for metric in SHOWN),
            Column("Power", METRICS[POWER].unit, "Emulator"),
        ),
        rows=tuple(
            (
                literal(each.title),
                labels.words(each.sampler),
                str(len(each.trials)),
                labels.constants_with_units(each.best_constants),
                *(METRICS[metric].text(each.best_trial[metric]) for metric in SHOWN),
                METRICS[POWER].text(_emulated(context, each)),
            )
            for each in found
        ),
    )


def _emulated(context: Context, real: Search) -> float:
    """The best power of the emulator's searches of the same controller; NaN without any."""
    powers = [
        each.best.value
        for each in searches(context.results)
        if each.controller == real.controller and not each.minimised
    ]
    return max(powers, default=float("nan"))

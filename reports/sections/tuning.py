"""Controller by controller: the best published, ours at published constants, and the best found."""

import json
import math
from collections.abc import Iterator

from reports import labels
from reports.collect import Results
from reports.content import Block, Column, Paragraph, Section, Table, code, literal
from reports.discover import held_out
from reports.frames import Record, records
from reports.hold_out import best_printed
from reports.labels import DASH
from reports.metrics import METRICS, POWER
from reports.sections import Context
from reports.subjects import HeldOut

ORDER = 37


def compose(context: Context) -> Iterator[Section]:
    """One section, where tuned settings were run again."""
    held = held_out(context.results)
    if held is not None and len(held.gains):
        blocks: list[Block] = [
            Paragraph(f"{_what(held)} {_gained(held)} {_optimism(held)}"),
            _powers(context.results, held),
            _constants(context.results, held),
        ]
        yield Section("tuning", "What tuning gained", tuple(blocks))


def _what(held: HeldOut) -> str:
    return (
        "{tuning-powers} sets beside the best power that was published for each controller ours at "
        "published constants (the best of all rows that we replayed) and the best of its search. "
        f"Both were run again, {labels.count(held.repeats, 'time')} each with fresh seeds, on "
        f"{literal(held.training)}."
    )


def _gained(held: HeldOut) -> str:
    compared = held.gains.dropna(subset=["training_gain"])
    if compared.empty:
        return "No published row of these controllers was replayed."
    raised = compared[compared["training_gain"] > compared["margin"]]
    raised = raised.sort_values("training_gain", kind="stable")
    if raised.empty:
        return f"Tuning raised the power of none of {len(compared)} settings beyond chance."
    ends = [
        f"{labels.percent(row['training_gain'])} ({labels.words(row['controller'])})"
        for row in (records(raised)[0], records(raised)[-1])
    ]
    return (
        f"**Tuning raised the power of {len(raised)} of {len(compared)} beyond chance**, by "
        f"{' to '.join(dict.fromkeys(ends))}. {{held-out}} says what is left of that elsewhere."
    )


def _optimism(held: HeldOut) -> str:
    """How much the best of many trials looked better than it is."""
    excess = float((held.gains["tuned_study_power"] / held.gains["tuned_power"] - 1).median())
    return (
        f"In the searches, the best trials had {labels.percent(abs(excess))} "
        f"{'more' if excess >= 0 else 'less'} power than they have again (median): the best of "
        "many trials owes something to chance."
    )


def _powers(results: Results, held: HeldOut) -> Table:
    table = best_printed(results.published, str(held.networks["network"].iloc[0]))
    printed = {row["controller"]: row for row in records(table.reset_index())}
    trials = {study.name: len(study.trials) for study in results.studies}
    rows = []
    for row in records(held.gains):
        controller = row["controller"]
        best = printed.get(controller)
        rows.append(
            (
                labels.sentence(controller),
                DASH if best is None else METRICS[POWER].text(best[POWER]),
                DASH if best is None else _row(best["table"], best["row"]),
                _power(row, "published"),
                _row(row["published_table"], row["published_row"]),
                _power(row, "tuned"),
                str(trials.get(row["tuned_study"], DASH)),
                _change(row),
            )
        )
    return Table(
        name="tuning-powers",
        title="The best published, the best at published constants, and the best found",
        caption=(
            f"Power in Mbit/s/s on {literal(held.training)}. Ours are means of "
            f"{labels.count(held.repeats, 'run')} with 95 % intervals; the change is that from "
            "published constants to the best found, with what chance explains."
        ),
        columns=(
            Column("Controller", align="left"),
            Column("Power", "", "Published"),
            Column("Row", "", "Published", align="left"),
            Column("Power", "", "Ours at published constants"),
            Column("Row", "", "Ours at published constants", align="left"),
            Column("Power", "", "Best found"),
            Column("Trials", "", "Best found"),
            Column("Change", "%"),
        ),
        rows=tuple(rows),
    )


def _row(table: str | None, row: int) -> str:
    return f"{code(table)} {row + 1}" if isinstance(table, str) else DASH


def _power(row: Record, origin: str) -> str:
    power, half_width = row[f"{origin}_power"], row[f"{origin}_half_width"]
    if power != power:
        return DASH
    return labels.with_interval(power, half_width / power if power else math.nan)


def _change(row: Record) -> str:
    gain, margin = row["training_gain"], row["margin"]
    if gain != gain:
        return DASH
    text = labels.minus(f"{100 * gain:+.1f}")
    return text if margin != margin else f"{text} ± {100 * margin:.1f}"


def _constants(results: Results, held: HeldOut) -> Table:
    searched = {study.name: [c.name for c in study.searched] for study in results.studies}
    rows = [
        (
            labels.sentence(row["controller"]),
            *(_listed(row[f"{o}_constants"], names) for o in ("published", "tuned")),
        )
        for row in records(held.gains)
        for names in (searched.get(row["tuned_study"], []),)
    ]
    return Table(
        name="tuning-constants",
        title="What tuning changed",
        caption="The constants that were searched, as published and as found.",
        columns=(
            Column("Controller", align="left"),
            Column("Published", align="left"),
            Column("Best found", align="left"),
        ),
        rows=tuple(rows),
    )


def _listed(constants: str | None, names: list[str]) -> str:
    if not isinstance(constants, str):
        return DASH
    values = json.loads(constants)
    return literal(labels.constants_with_units({name: values[name] for name in names}))

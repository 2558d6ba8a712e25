"""Settings on networks that no search has seen: what is left there of what was gained."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, code, literal
from reports.discover import held_out
from reports.frames import Record, record, records
from reports.hold_out import PUBLISHED
from reports.sections import Context
from reports.subjects import HeldOut

ORDER = 38


def compose(context: Context) -> Iterator[Section]:
    """One section, where settings were run on held-out networks."""
    held = held_out(context.results)
    if held is None:
        return
    blocks: list[Block] = [
        Paragraph(_what(held)),
        Paragraph(f"{_gains(held)} {_ranks(held)}"),
        *context.draw(held),
        _standings(held),
        _networks(held),
    ]
    yield Section("held-out", "What holds on other networks", tuple(blocks))


def _what(held: HeldOut) -> str:
    published = int((held.settings["origin"] == PUBLISHED).sum())
    return (
        f"Constants were searched on {literal(held.training)} alone. We ran the best of every "
        f"search and {labels.count(published, 'published setting')} on "
        f"{labels.count(len(held.networks) - 1, 'network')} that no search has seen "
        f"({labels.count(held.runs, 'run')}). Power is given relative to each network's omniscient "
        "bound, the power of a sender that knows the trace ({held-out-networks}), and a setting's "
        "held-out power is the geometric mean of that over the held-out networks."
    )


def _gains(held: HeldOut) -> str:
    compared = held.gains.dropna(subset=["training_gain"])
    if compared.empty:
        return ""
    training, elsewhere = (compared[f"{name}_gain"].median() for name in ("training", "held_out"))
    better, worse = (int((compared["held_out_gain"] * sign > 0).sum()) for sign in (1, -1))
    names = [labels.words(c) for c in compared.loc[compared["held_out_gain"] < 0, "controller"]]
    text = (
        f"**In the median, tuning changed power by {labels.percent(training, signed=True)} where "
        f"it looked and by {labels.percent(elsewhere, signed=True)} elsewhere**: of "
        f"{len(compared)} tuned settings, {better} do better than the controller's best published "
        f"one on held-out networks, too, and {worse} worse"
    )
    return text + (f" ({labels.joined(names)})." if names else ".")


def _ranks(held: HeldOut) -> str:
    first = record(held.standings, 0)
    best = records(held.settings.sort_values("held_out", ascending=False, kind="stable"))[0]
    text = (
        f"{first['label']}, first on the training network, is "
        f"{_ordinal(first['held_out_rank'])} of {len(held.standings)} on the held-out ones. "
        f"Of all {len(held.settings)} settings {_named(best)} holds best, with "
        f"{labels.percent(best['held_out'])} of the bound; on the training network it has "
        f"{labels.percent(best['training'])}, the best there {labels.percent(first['training'])}."
    )
    if held.correlation == held.correlation:
        figure = labels.minus(f"{held.correlation:.2f}")
        text += f" Over all of them the two orders have rank correlation {figure}."
    return text


def _ordinal(rank: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(rank % 10 if rank % 100 not in (11, 12, 13) else 0)
    return f"{rank}{ending or 'th'}"


def _named(setting: Record) -> str:
    if setting["origin"] == PUBLISHED:
        row = f"{code(setting['table'])} row {setting['row'] + 1}"
        return f"{labels.words(setting['controller'])} as in {row}"
    return f"{labels.words(setting['controller'])}, {setting['origin']},"


def _standings(held: HeldOut) -> Table:
    gains = held.gains.set_index("tuned_trial")["held_out_gain"]
    rows = []
    for row in records(held.standings):
        gain = gains.get(row["trial"], float("nan"))
        rows.append(
            (
                literal(row["label"]),
                labels.percent(row["training"]),
                labels.percent(row["held_out"]),
                str(row["training_rank"]),
                str(row["held_out_rank"]),
                labels.minus(f"{row['gap']:+d}"),
                labels.percent(gain, signed=True),
            )
        )
    return Table(
        name="held-out-standings",
        title="Ranks where constants were searched, and elsewhere",
        caption=(
            "Power relative to the omniscient bound. The gap is the number of places lost; the "
            "last column is the change of held-out power from the controller's best published "
            "setting to the tuned one."
        ),
        columns=(
            Column("Setting", align="left"),
            Column("Training", "", "Power"),
            Column("Held out", "", "Power"),
            Column("Training", "", "Rank"),
            Column("Held out", "", "Rank"),
            Column("Gap", "", "Rank"),
            Column("By tuning"),
        ),
        rows=tuple(rows),
    )


def _networks(held: HeldOut) -> Table:
    best = held.relative.max()
    label = held.standings.set_index("trial")["label"]
    rows = [
        (
            literal(row["title"]),
            f"{row['capacity_mbps']:.2f}",
            f"{row['signal_delay_p95_ms']:.0f}",
            f"{row['power']:.4g}",
            labels.percent(best[row["network"]]),
            literal(label[held.relative[row["network"]].idxmax()]),
        )
        for row in records(held.networks)
    ]
    return Table(
        name="held-out-networks",
        title="Networks, their omniscient bounds, and who comes nearest",
        caption=(
            "The bound is that of a sender whose every datagram arrives in the millisecond before "
            "an opportunity; the first network is the one that constants were searched on."
        ),
        columns=(
            Column("Network", align="left"),
            Column("Capacity", "Mbit/s", "Omniscient bound"),
            Column("Signal delay", "ms", "Omniscient bound"),
            Column("Power", "Mbit/s/s", "Omniscient bound"),
            Column("Power", "", "Nearest"),
            Column("Setting", "", "Nearest", align="left"),
        ),
        rows=tuple(rows),
        strong=frozenset({0}),
    )

"""Where the results come from, and the command that makes them again."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Heading, Paragraph, Section, Table, code, literal
from reports.provenance import Provenance
from reports.sections import Context

ORDER = 90


def compose(context: Context) -> Iterator[Section]:
    """The last section."""
    found = context.provenance
    blocks: list[Block] = [Paragraph(_how(found)), Heading("Inputs"), _inputs(found)]
    if found.networks:
        blocks.append(_networks(found))
    blocks += [Heading("Results"), _results(found), Heading("Surroundings"), _around(found)]
    if found.wall_times:
        blocks.append(_wall_times(found))
    yield Section("provenance", "Provenance", tuple(blocks))


def _how(found: Provenance) -> str:
    if not found.commit:
        state = "outside a git checkout"
    else:
        state = f"commit {code(found.commit)} of {found.committed}"
        if found.changed_files:
            state += f", with {labels.count(found.changed_files, 'file')} changed or untracked"
    return (
        f"Made from {state}. {code(found.command)} makes it again: the same results, byte for "
        f"byte, on any number of cores, from the seed {found.seed}."
    )


def _inputs(found: Provenance) -> Table:
    rows = [
        (code(found.config), "configuration", code(found.config_sha256)),
        (code("build/emulate"), "emulator", code(found.binary_sha256)),
    ]
    for network in found.networks:
        rows += [
            (code(network[side]), literal(network["title"]), code(network[f"{side}_sha256"]))
            for side in ("uplink", "downlink")
        ]
    return Table(
        name="inputs",
        title="Inputs and their digests",
        caption="SHA-256.",
        columns=tuple(Column(name, align="left") for name in ("File", "What", "Digest")),
        rows=tuple(rows),
    )


def _networks(found: Provenance) -> Table:
    columns = {
        "Delay": ("ms", "delay_ms"),
        "Uplink queue": ("", "uplink_queue"),
        "Downlink queue": ("", "downlink_queue"),
        "Duration": ("s", "duration_s"),
        "Host model": ("", "host_model"),
        "Host latency": ("µs", "host_latency_us"),
    }
    return Table(
        name="networks",
        title="Networks",
        caption="Delay and host latency are in each direction; no duration: once over the trace.",
        columns=(
            Column("Network", align="left"),
            *(Column(title, unit, align="left") for title, (unit, _) in columns.items()),
        ),
        rows=tuple(
            (
                literal(network["title"]),
                *(
                    labels.DASH if network[key] is None else literal(network[key])
                    for _, key in columns.values()
                ),
            )
            for network in found.networks
        ),
    )


def _results(found: Provenance) -> Table:
    return Table(
        name="results-digests",
        title="Results and their digests",
        caption="SHA-256 of what was run and what came of it: equal digests, equal results.",
        columns=(
            Column("Study or repetition", align="left"),
            Column("Seed"),
            Column("Runs"),
            Column("Digest", align="left"),
        ),
        rows=tuple(
            (
                literal(each.name),
                labels.DASH if each.seed is None else str(each.seed),
                str(each.runs),
                code(each.runs_sha256),
            )
            for each in found.results
        ),
    )


def _around(found: Provenance) -> Table:
    rows = [*found.versions.items(), *found.host.items()]
    return Table(
        name="surroundings",
        title="Software and host",
        caption="Results depend on the software, not on the host.",
        columns=(Column("What", align="left"), Column("Version or value", align="left")),
        rows=tuple((literal(name), literal(value)) for name, value in rows),
    )


def _wall_times(found: Provenance) -> Table:
    return Table(
        name="wall-times",
        title="Wall times",
        caption=(
            f"Of the jobs that wrote the results, {sum(t.seconds for t in found.wall_times):.0f} s "
            "in all; several ran at once."
        ),
        columns=(
            Column("Rule", align="left"),
            Column("Job", align="left"),
            Column("Time", "s"),
        ),
        rows=tuple(
            (literal(time.rule), literal(time.name), f"{time.seconds:.1f}")
            for time in found.wall_times
        ),
    )

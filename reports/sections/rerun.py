"""Where the results come from, and the command that makes them again."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, code, literal
from reports.provenance import Provenance, WallTime
from reports.sections import Context
from reports.sections.exclusions import real_frames

ORDER = 90
SHOWN = 16


def compose(context: Context) -> Iterator[Section]:
    """The last section."""
    found = context.provenance
    is_real = bool(real_frames(context.results))
    blocks: list[Block] = [Paragraph(_how(found, is_real)), _inputs(found)]
    if found.networks:
        blocks.append(_networks(found))
    blocks += [_results(found), _around(found, is_real)]
    if found.wall_times:
        blocks.append(_wall_times(found))
    yield Section("provenance", "Provenance", tuple(blocks))


_REAL = "What ran in real mahimahi is apart: no two real runs are alike, and their digests differ. "


def _how(found: Provenance, is_real: bool) -> str:
    if not found.commit:
        state = "outside a git checkout"
    else:
        state = f"commit {code(found.commit)} of {found.committed}"
        if found.changed_files:
            state += f", with {labels.count(found.changed_files, 'file')} changed or untracked"
    return (
        f"Made from {state}. {code(found.command)} makes it again: the same results, byte for "
        f"byte, on any number of cores, from the seed {found.seed}. {_REAL if is_real else ''}"
        f"{_made_otherwise(found)}"
        f"Digests are SHA-256, their first {SHOWN} digits; the whole stands in "
        "`provenance.json`."
    )


def _made_otherwise(found: Provenance) -> str:
    """What of the results was not made by this very commit; nothing where all was."""
    stale = [each for each in found.results if not each.is_current]
    earlier = [each for each in found.results if each.is_current and each.commit != found.commit]
    text = ""
    if stale:
        names = labels.joined([code(each.name) for each in stale])
        text += f"**Not made by this code: {names}.** Run {code(found.command)} to make them anew. "
    if earlier:
        count = labels.count(len(earlier), "result")
        commits = {each.commit[:SHOWN] or "outside a git checkout" for each in earlier}
        text += (
            f"{count} of {len(found.results)} were made by other commits "
            f"({labels.joined([code(each) for each in sorted(commits)])}), whose code for them is "
            "the same, comments and formatting apart. "
        )
    return text


def _digest(sha256: str) -> str:
    return code(sha256[:SHOWN]) if sha256 else labels.DASH


def _inputs(found: Provenance) -> Table:
    rows = [
        (code(found.config), "configuration", _digest(found.config_sha256)),
        (code("build/emulate"), "emulator", _digest(found.binary_sha256)),
        *(
            (code(path), "controller", _digest(sha256))
            for path, sha256 in found.controllers_sha256.items()
        ),
        *(
            (code(path), "for real runs", _digest(sha256))
            for path, sha256 in found.real_programs_sha256.items()
        ),
    ]
    for network in found.networks:
        rows += [
            (code(network[side]), literal(network["title"]), _digest(network[f"{side}_sha256"]))
            for side in ("uplink", "downlink")
        ]
    return Table(
        name="inputs",
        title="Inputs and their digests",
        caption="What the runs were made from.",
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
        caption=(
            "Of what was run and what came of it: equal digests, equal results. Code is the digest "
            "of all modules that made them, without comments and docstrings."
        ),
        columns=(
            Column("Experiment", align="left"),
            Column("Runs"),
            Column("Digest", align="left"),
            Column("Commit", "", "Made by", align="left"),
            Column("Code", "", "Made by", align="left"),
        ),
        rows=tuple(
            (
                literal(each.name),
                str(each.runs),
                _digest(each.runs_sha256),
                _digest(each.commit),
                _digest(each.code_sha256),
            )
            for each in found.results
        ),
    )


def _around(found: Provenance, is_real: bool) -> Table:
    rows = [*found.versions.items(), *found.host.items()]
    return Table(
        name="surroundings",
        title="Software and host",
        caption=(
            "Results depend on the software, not on the host"
            f"{', but those of real runs depend on both' if is_real else ''}."
        ),
        columns=(Column("What", align="left"), Column("Version or value", align="left")),
        rows=tuple((literal(name), literal(value)) for name, value in rows),
    )


def _wall_times(found: Provenance) -> Table:
    """Together for each rule, in the order of the names."""
    by_rule: dict[str, list[WallTime]] = {}
    for time in found.wall_times:
        by_rule.setdefault(time.rule, []).append(time)
    rows = []
    for rule, times in by_rule.items():
        longest = max(times, key=lambda time: time.seconds)
        rows.append(
            (
                code(rule),
                str(len(times)),
                f"{sum(time.seconds for time in times):.1f}",
                f"{longest.seconds:.1f}",
                literal(longest.name),
            )
        )
    return Table(
        name="wall-times",
        title="Wall times",
        caption="Of the jobs that led to this report; several ran at once.",
        columns=(
            Column("Rule", align="left"),
            Column("Jobs"),
            Column("In all", "s"),
            Column("Longest", "s"),
            Column("which was", align="left"),
        ),
        rows=tuple(rows),
    )

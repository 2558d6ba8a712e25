"""`kneepoint check-table`: checks a printed table for internal consistency."""

from dataclasses import asdict
from pathlib import Path

import click

from kneepoint.cli import PATH, json_option, print_result, subcommand
from kneepoint.common.errors import KneepointError, suggestion
from kneepoint.tools.check_table.forensics import check, read_printed


@subcommand("""
    kneepoint check-table config/published/004-timely-tuned.csv
    kneepoint check-table table-2.csv --runs 10
    kneepoint check-table table-2.csv --runs 10 --whole "packets lost" --json
""")
@click.argument("file", type=PATH)
@click.option("--runs", type=click.IntRange(1), help="Each row is the mean of this many runs.")
@click.option(
    "--whole", multiple=True, metavar="COLUMN", help="Column whose values are whole numbers."
)
@json_option
def command(file: Path, runs: int | None, whole: tuple[str, ...], as_json: bool) -> None:
    """Check a printed table for internal consistency, without any run.

    FILE is a CSV file with the digits as printed. Its columns are named in the field's terms
    (throughput_mbps, signal_delay_p95_ms, power, capacity_mbps, utilization, trace, runs,
    signal_delay_p95_sd_ms) or described in a YAML file of the same name beside it. The exit status
    is 1 if a row contradicts itself. docs/statistics.md describes the checks.
    """
    rows, unknown = read_printed(file, runs)
    printed = {number.heading.column for row in rows for number in row.numbers.values()}
    for name in whole:
        if name not in printed:
            raise KneepointError(f"--whole {name}: {file}: {suggestion(name, sorted(printed))}")
    found = check(rows, whole)
    lines = [str(each) for each in found.contradictions]
    wrong = len({each.line for each in found.contradictions})
    lines.append(f"{wrong} of {len(rows)} rows contradict themselves")
    lines += found.doubts
    if found.if_single_runs:
        lines.append("if each row is a single run, with delays in whole ms (--runs 1 checks this):")
        lines += [f"  {each}" for each in found.if_single_runs]
    if unknown:
        lines.append(f"not checked: {', '.join(unknown)}")
    content = {
        "file": str(file),
        "rows": len(rows),
        "unknown": list(unknown),
        **asdict(found),
    }
    print_result(content, "\n".join(lines), as_json, ok=not found.contradictions)

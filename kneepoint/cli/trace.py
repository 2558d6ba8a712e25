"""`kneepoint trace`: checks, plots, cuts and converts recordings of links."""

from dataclasses import asdict
from pathlib import Path

import click
from pydantic import ValidationError

from kneepoint.cli import FIGURE, OUTPUT, PATH, FiniteRange, examples, json_option, print_result
from kneepoint.common.columns import columns
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import open_file, read_bytes, sha256_of, write_whole
from kneepoint.networks.config import Cut
from kneepoint.networks.prepare import cut_trace
from kneepoint.networks.recordings import (
    RATE_UNITS,
    TIME_UNITS,
    Amount,
    Summary,
    capacity_over_time,
    guess_unit,
    improbable,
    read_recording,
    summarise,
    unit_of,
)
from kneepoint.networks.traces import (
    InvalidTraceError,
    format_trace,
    parse_trace,
    read_trace,
    times_of,
)

into_option = click.option(
    "--into", type=OUTPUT, required=True, help="File to write; it must not exist."
)
outage_option = click.option(
    "--outage-s",
    type=FiniteRange(0, min_open=True),
    default=1.0,
    help="Shortest gap between opportunities that is reported as an outage.",
)


@click.group("trace", context_settings={"show_default": True})
@examples("""
    kneepoint trace check mine.down mine.up --json
    kneepoint trace plot mine.down --into mine.svg
    kneepoint trace cut mine.down --from-s 10 --to-s 130 --into part.down
    kneepoint trace convert log.csv --time t --bytes size --into mine.down
""")
def command() -> None:
    """Check, plot, cut and convert recordings of links.

    A trace is a text file with one time per line, in whole ms and in ascending order. Each line is
    an opportunity to deliver one packet of up to 1504 bytes, as in mahimahi. The trace repeats when
    it ends.
    """


@command.command()
@examples("""
    kneepoint trace check mine.down mine.up
    kneepoint trace check mine.down --outage-s 0.5 --json
""")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PATH)
@outage_option
@json_option
def check(files: tuple[Path, ...], outage_s: float, as_json: bool) -> None:
    """Check whether each FILE is a valid trace, and describe it.

    The exit status is 1 if a file is not a valid trace. Write the digest into traces.yaml.
    """
    checked = [_checked(path, outage_s) for path in files]
    texts = [f"{found['file']}\n{found.pop('text')}" for found in checked]
    ok = all(found["problem"] is None for found in checked)
    print_result(checked, "\n\n".join(texts), as_json, ok=ok)


@command.command()
@examples("""
    kneepoint trace plot mine.down mine.up --into mine.svg
    kneepoint trace plot mine.down --bin-s 0.1 --into mine.png
""")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PATH)
@click.option("--bin-s", type=FiniteRange(0.001), default=0.5)
@click.option("--into", type=FIGURE, required=True, help="PNG, SVG or PDF file to write.")
@json_option
def plot(files: tuple[Path, ...], bin_s: float, into: Path, as_json: bool) -> None:
    """Plot the capacity of each FILE over time, in bins."""
    bin_ms = round(1000 * bin_s)
    series = {str(path): capacity_over_time(read_trace(path), bin_ms) for path in files}
    from kneepoint.cli.drawings import draw_capacity  # matplotlib takes a second

    draw_capacity(series, bin_ms, into)
    found = [{"file": name, "capacity_mbps": rates} for name, rates in series.items()]
    print_result({"bin_ms": bin_ms, "traces": found, "into": str(into)}, str(into), as_json)


@command.command()
@examples("""
    kneepoint trace cut mine.down --from-s 10 --to-s 130 --into part.down
    kneepoint trace cut mine.down --to-s 60 --into part.down --json
""")
@click.argument("file", type=PATH)
@click.option("--from-s", type=FiniteRange(0), default=0.0, help="Start of the part.")
@click.option("--to-s", type=FiniteRange(0.001, 1e13), required=True, help="End of the part.")
@into_option
@json_option
def cut(file: Path, from_s: float, to_s: float, into: Path, as_json: bool) -> None:
    """Write the part of FILE from --from-s to --to-s, as `cut` in a network does."""
    try:
        part = Cut(start_s=from_s, end_s=to_s)
    except ValidationError as error:
        what = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise KneepointError(
            f"trace cut, from {from_s:g} to {to_s:g}: {what}; correct it"
        ) from None
    with open_file(file) as content:
        times_ms = times_of(cut_trace(content, str(file), part))
    _write(times_ms, into, as_json)


@command.command()
@examples("""
    kneepoint trace convert log.csv --time t --unit ms --bytes size --into mine.down
    kneepoint trace convert log.csv --time t --packets n --into mine.down
    kneepoint trace convert rates.csv --rate mbps --every-s 1 --into mine.down
    kneepoint trace convert norway.log --time 2 --unit ms --bytes 5 --into mine.down
""")
@click.argument("file", type=PATH)
@click.option("--time", metavar="COLUMN", help="Column of the times.")
@click.option(
    "--unit", type=click.Choice(list(TIME_UNITS)), help="Unit of the times.  [default: guessed]"
)
@click.option(
    "--every-s",
    type=FiniteRange(0, min_open=True),
    help="Time between rows, if no column has times.",
)
@click.option("--bytes", "of_bytes", metavar="COLUMN", help="Column of arrived bytes.")
@click.option("--packets", metavar="COLUMN", help="Column of arrived full packets.")
@click.option("--rate", metavar="COLUMN", help="Column of rates; a rate holds until the next row.")
@click.option(
    "--rate-unit",
    type=click.Choice(list(RATE_UNITS)),
    help="Unit of the rates. [default: from the column's name, or Mbit/s]",
)
@into_option
@json_option
def convert(
    file: Path,
    time: str | None,
    unit: str | None,
    every_s: float | None,
    of_bytes: str | None,
    packets: str | None,
    rate: str | None,
    rate_unit: str | None,
    into: Path,
    as_json: bool,
) -> None:
    """Make a trace from FILE, a text table of times with bytes, packets or rates.

    Columns are separated by commas, semicolons, tabs or spaces; decimals may have a comma. Without
    a header, columns are called 1, 2 and so on. Times are numbers, or dates (ISO 8601).

    The recording must have saturated the link, because unused capacity leaves no record. Every 1504
    bytes are one opportunity, at the time of the last of these bytes, rounded up to a whole
    millisecond. Times are relative to the first row. Without --unit, the command infers the unit of
    the times from the name of the column, or from the resulting duration and rate. It prints the
    unit, and refuses several plausible units. The name of a column determines the unit of rates or
    bytes (dl_kbps, rx_kB).
    """
    columns_of: dict[Amount, str | None] = {"bytes": of_bytes, "packets": packets, "rate": rate}
    given = [(amount, column) for amount, column in columns_of.items() if column is not None]
    if len(given) != 1:
        raise KneepointError("trace convert: give exactly one of --bytes, --packets and --rate")
    if (time is None) == (every_s is None):
        raise KneepointError("trace convert: give exactly one of --time and --every-s")
    ((amount, column),) = given
    if time is not None and unit is None:
        unit, why = guess_unit(file, time, amount, column)
        if why:
            said = f"{file}: column {time!r} is in {unit}, {why}; if not, give --unit"
            click.echo(said, err=True)
    _, why = unit_of(file, amount, column, rate_unit)
    if why:
        click.echo(f"{file}: {why}", err=True)
    _write(read_recording(file, time, amount, column, unit, every_s, rate_unit), into, as_json)


def _checked(path: Path, outage_s: float) -> dict[str, object]:
    content = read_bytes(path)
    try:
        times_ms = parse_trace(content, str(path))
    except InvalidTraceError as error:
        return {"file": str(path), "problem": str(error), "text": f"  not a trace: {error}"}
    found = summarise(times_ms, outage_s)
    digest = sha256_of(content)
    text = _text(found, outage_s, digest)
    said = {"sha256": digest, "improbable": improbable(found)}
    return {"file": str(path), "problem": None, **said, "text": text, **asdict(found)}


def _text(found: Summary, outage_s: float, digest: str) -> str:
    rows = [
        ("  opportunities", str(found.opportunities), "of 1504 bytes"),
        ("  duration", f"{found.duration_s:.3f} s", "then it repeats"),
        ("  mean rate", f"{found.mean_mbps:.3f} Mbit/s", ""),
        ("  first", f"{found.first_ms} ms", "" if found.first_ms else "no packet can use it"),
        ("  outages", str(len(found.outages)), f"of {outage_s:g} s or longer"),
    ]
    if found.outages:
        longest = max(found.outages, key=lambda outage: outage.duration_s)
        rows.append(
            ("  longest", f"{longest.duration_s:.3f} s", f"from {longest.start_s:.3f} s on")
        )
    doubt = improbable(found)
    return f"{columns(rows)}\n  sha256 {digest}" + (f"\n  improbable: {doubt}" if doubt else "")


def _write(times_ms: list[int], into: Path, as_json: bool) -> None:
    if into.exists():
        raise KneepointError(f"--into {into}: exists already; choose another name")
    content = format_trace(times_ms)
    parse_trace(content, str(into))
    write_whole(into, content)
    summary, digest = summarise(times_ms), sha256_of(content)
    listed = f"{into.name}: {{sha256: {digest}}}"
    said = {"sha256": digest, "traces_yaml": listed, "improbable": improbable(summary)}
    found = {"file": str(into), **said, **asdict(summary)}
    text = f"{into}\n{_text(summary, 1, digest)}\n\nIn traces.yaml: {listed}"
    print_result(found, text, as_json)

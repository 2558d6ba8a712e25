"""`kneepoint import`: measurements of other tools become runs of Kneepoint."""

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import click
import pandas as pd

from kneepoint.analysis.metrics import FIGURES, METRICS
from kneepoint.cli import PATH, json_option, print_result, subcommand
from kneepoint.cli.comparison import COMPARABLE, compare_settings, text_of
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of, write_whole
from kneepoint.common.tables import from_rows, write
from kneepoint.engines.base import COUNTS, RUN_METRICS, RunRecord
from kneepoint.runs.results import RUNS
from kneepoint.tools.import_files.measurement import Measurement
from kneepoint.tools.import_files.read import read_measurements

ENGINE = "imported"
_SUFFIXES = re.compile(r"(?:\.[a-zA-Z]\w*)+$")  # .flent.gz, but not the .9 of cubic-3.9.json
_COUNTED = re.compile(r"(?P<name>.+?)[-_](?:run)?(?P<number>\d{1,9})")


@dataclass(frozen=True)
class _Setting:
    controller: str
    parameters: Mapping[str, float] = field(default_factory=dict)


@subcommand("""
    kneepoint import uplink.log --controller cubic --into measured
    kneepoint import data/pantheon_metadata.json --into measured
    kneepoint import cubic-1.log cubic-2.log.gz --network lab --into measured
    kneepoint import sender.pcap receiver.pcap --controller bbr --into measured
    kneepoint import data/*_run*.log --compare cubic bbr --metric throughput --into measured
""")
@click.argument("files", nargs=-1, required=True, metavar="FILE...", type=PATH)
@click.option("--into", type=PATH, required=True, help="Folder to make; it must not exist.")
@click.option(
    "--controller",
    help="Controller of files that do not name a controller.  [default: NAME of a file NAME-3.log]",
)
@click.option(
    "--network",
    help="Network of files that do not name a network.  [default: the name of their folder]",
)
@click.option(
    "--compare", nargs=2, metavar="A B", help="Compare two controllers, with runs paired by number."
)
@click.option("--metric", type=click.Choice(list(COMPARABLE)), default="power")
@json_option
def command(
    files: tuple[Path, ...],
    into: Path,
    controller: str | None,
    network: str | None,
    compare: tuple[str, str] | None,
    metric: str,
    as_json: bool,
) -> None:
    """Import measurements of other tools as runs; formats are recognised by content.

    FILE is a link log of mahimahi, a tunnel log of Pantheon or its pantheon_metadata.json, JSON of
    iperf3, data of flent, a packet capture (or two, of both ends) or a qlog, possibly compressed by
    gzip. The command writes runs.parquet, for `open_results`, table.csv, with means and standard
    deviations for each controller and network, and a figure of each run. Metrics that a file does
    not contain are listed as unknown. Nothing is written unless all files can be read.
    """
    if into.exists():
        raise KneepointError(f"{into}: exists already; choose another folder")
    runs = _placed(read_measurements(files), controller, network)
    for path, count in Counter(path.resolve() for path in files).items():
        if count > 1:
            raise KneepointError(f"{path}: given {count} times; give each file once")
    found: dict[str, object] = {"into": str(into), "runs": [_described(run) for run in runs]}
    parts = [_text(run) for run in runs]
    if compare:
        comparison, text = _compare(runs, compare, COMPARABLE[metric])
        found["comparison"] = comparison
        parts.append(text)
    try:
        into.mkdir(parents=True)
    except (FileNotFoundError, NotADirectoryError, PermissionError) as error:
        raise KneepointError(f"--into {into}: {error.strerror}; choose another folder") from None
    write(into / "runs.parquet", from_rows(RUNS, map(_row, runs)))
    table = _table(runs)
    write_whole(into / "table.csv", table)
    from kneepoint.reports.over_time import draw_series  # matplotlib takes a second

    for run in runs:
        name = f"{run.controller}-{run.network}-{run.number}.svg".replace("/", "-")
        overall = {k: v for k, v in (run.flows[0] if run.flows else {}).items() if v is not None}
        draw_series(
            run.series, {**overall, **run.metrics}, _title(run), into / name, with_queue=True
        )
    parts += [table.rstrip("\n"), f"{into}: runs.parquet, table.csv and figures"]
    print_result(found, "\n\n".join(parts), as_json)


def _placed(
    measurements: Sequence[Measurement], controller: str | None, network: str | None
) -> list[Measurement]:
    """Sets controller, network and number of runs whose files do not name them."""
    taken: dict[tuple[str, str], dict[int, Path]] = defaultdict(dict)
    found = []
    for each in measurements:
        stem = _SUFFIXES.sub("", each.path.name)
        counted = _COUNTED.fullmatch(stem)
        name = each.controller or controller or (counted["name"] if counted else stem)
        link = each.network or network or each.path.resolve().parent.name
        numbers = taken[name, link]
        said = each.number or (int(counted["number"]) if counted and not controller else None)
        number = max(numbers, default=0) + 1 if said is None else said
        if number in numbers:
            raise KneepointError(
                f"{each.path}: run {number} of {name} on {link} is also {numbers[number]}; "
                "give each file once, or --network for each folder"
            )
        numbers[number] = each.path
        found.append(replace(each, controller=name, network=link, number=number))
    return found


def _title(run: Measurement) -> str:
    return f"{run.controller} on {run.network}, run {run.number}"


def _row(run: Measurement) -> dict[str, object]:
    """Returns a run's row of runs.parquet; values missing in the file are NaN or null.

    The run's identifier is derived from the content of the file and the run's index in it.
    """
    with run.path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        **{"run_id": sha256_of(f"{content}/{run.number}".encode())[:32], "study": ENGINE},
        **{"trial": 0, "run": run.number, "parameters": "{}", "seed": run.number},
        **{"engine": ENGINE, "controller": run.controller, "network": run.network},
        **{"status": "ok", "reason": ""},
        **{name: run.metrics.get(name, math.nan) for name in RUN_METRICS},
        **{name: run.metrics.get(name) for name in COUNTS},
        "flows": run.flows or None,
    }


def _described(run: Measurement) -> dict[str, object]:
    return {
        **{"file": str(run.path), "format": run.format, "controller": run.controller},
        **{"network": run.network, "run": run.number, "duration_s": run.duration_s},
        **{"metrics": dict(run.metrics), "flows": list(run.flows)},
        **{"absent": list(run.absent), "notes": list(run.notes)},
    }


def _text(run: Measurement) -> str:
    known = METRICS | {"capacity_mbps": FIGURES["throughput_mbps"]} | FIGURES
    lines = [f"{run.path}: {run.format}, {run.duration_s:.1f} s", f"  {_title(run)}"]
    for name, value in run.metrics.items():
        if name in known and value == value:
            title = "Capacity" if name == "capacity_mbps" else known[name].title
            lines.append(f"  {title}: {known[name].text(value)} {known[name].unit}".rstrip())
    for flow in run.flows:
        figures = {k: v for k, v in flow.items() if isinstance(v, int | float) and v == v}
        said = ", ".join(f"{name} {value:.5g}" for name, value in figures.items())
        lines.append(f"  flow {flow['name']}: {said}")
    lines += [f"  note: {each}" for each in run.notes]
    return "\n".join([*lines, *(f"  unknown: {each}" for each in run.absent)])


def _table(runs: Sequence[Measurement]) -> str:
    """Returns means and standard deviations by controller and network, in published-table form."""
    keys, shown = ["controller", "network"], [*METRICS, "capacity_mbps", "utilization"]
    rows = [{"controller": run.controller, "network": run.network, **run.metrics} for run in runs]
    groups = pd.DataFrame(rows, columns=[*keys, *shown]).groupby(keys, sort=False)
    is_whole = groups[shown].count().eq(groups.size(), axis="index")
    means, spread = groups[shown].mean().where(is_whole), groups[shown].std().where(is_whole)
    named = {n: n.removesuffix("_ms") + "_sd" + "_ms" * n.endswith("_ms") for n in METRICS}
    table = groups.size().to_frame("runs").join(means)
    table = table.join(spread[list(METRICS)].rename(columns=named))
    return str(table.to_csv(float_format="%.4f"))


def _compare(
    runs: Sequence[Measurement], wanted: tuple[str, str], metric: str
) -> tuple[dict[str, object], str]:
    """Compares A and B, with runs paired by number, on each network that has runs of both."""
    of: dict[str, dict[str, dict[int, RunRecord]]] = defaultdict(lambda: defaultdict(dict))
    for run in runs:
        if metric in run.metrics:
            place = f"{run.controller}/{run.network}/{run.number}"
            told = {name: value for name, value in run.metrics.items() if value == value}
            record = RunRecord(place, "ok", "", **told)  # type: ignore[arg-type]
            of[run.controller][run.network][run.number or 0] = record
    for name in wanted:
        if name not in of:
            known = ", ".join(sorted(of)) or "none"
            raise KneepointError(
                f"--compare {name}: none of its runs has {metric}; it has: {known}"
            )
    a, b = (of[name] for name in wanted)
    pairs = {
        network: {n: (a[network][n], b[network][n]) for n in sorted(a[network]) if n in b[network]}
        for network in a
        if network in b
    }
    pairs = {network: each for network, each in pairs.items() if each}
    if not pairs:
        raise KneepointError(
            f"--compare {' '.join(wanted)}: no network has runs of both; add files with such runs"
        )
    settings = [_Setting(name) for name in wanted]
    found = compare_settings(settings, metric, pairs, [], seed=1, paired_by="number")
    return found, text_of(found, wanted)

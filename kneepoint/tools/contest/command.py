"""`kneepoint contest`: builds, runs and ranks a folder of entries."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import click

from kneepoint.cli import (
    PATH,
    common_options_anywhere,
    path_for_caller,
    print_result,
    results_here,
    subcommand,
)
from kneepoint.cli.entries import open_builder, trust_option
from kneepoint.cli.runs import description_of, engine_of, make_what_is_missing, prepared_network
from kneepoint.common.columns import columns
from kneepoint.common.config_file import read_config
from kneepoint.common.errors import KneepointError, fault_of
from kneepoint.common.files import read_json
from kneepoint.common.json_text import Json
from kneepoint.common.places import SHIPPED
from kneepoint.config.study import Setting
from kneepoint.engines.built import EMULATE, REPLAY
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.limits import LIMITS
from kneepoint.entries.build import Budget
from kneepoint.entries.collect import find_submissions, require_folder_of_entries
from kneepoint.entries.entries import Sender
from kneepoint.runs.load import load_workflow
from kneepoint.search.behaviour import Known, known_families
from kneepoint.tools.contest.aliases import read_key
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.run import PAGE, ContestRun, watch
from kneepoint.tools.contest.secret import SEED_FILE, digest_of, disguised, seed_of

_COLUMNS = (
    "table rank best_rank worst_rank name author score low high first other_host_score "
    "practice_score practice_rank places_lost arrived late digest reason"
).split()


@subcommand("""
    kneepoint contest entries/
    kneepoint contest entries/ --contest config/contests/offline.yaml
    kneepoint contest entries/ --watch
    kneepoint contest entries/ --json | jq '.ranking[] | [.rank, .name, .score]'
""")
@click.argument("entries", type=PATH)
@click.option(
    "--contest",
    "rules",
    type=PATH,
    default=SHIPPED / "contests/default.yaml",
    help="File of the contest: networks, runs, score, baselines.",
)
@click.option(
    "--into", type=PATH, help="Folder of the leaderboard.  [default: contests/NAME in the results]"
)
@click.option(
    "--names",
    type=PATH,
    help="CSV file of aliases, which replace the names of authors; missing aliases are added.",
)
@click.option(
    "--secret", type=PATH, help="File with the secret seed, to repeat a contest that is over."
)
@click.option(
    "--reveal",
    "is_revealed",
    is_flag=True,
    help="Publish the secret seed on the page, where it stays.",
)
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option("--watch", "is_watching", is_flag=True, help="Score new entries as they arrive.")
@trust_option
@common_options_anywhere
def command(
    entries: Path,
    rules: Path,
    into: Path | None,
    names: Path | None,
    secret: Path | None,
    is_revealed: bool,
    as_csv: bool,
    is_watching: bool,
    trust_entries: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Build, run and rank the entries in the folder ENTRIES.

    An entry is a source tree in the layout of the public kit, a git repository, an archive, or a
    Python file. If an entry cannot run, the leaderboard gives the reason. Running the command again
    runs only new or changed entries.
    """
    if as_csv and as_json:
        raise KneepointError("--csv --json: give only one of them")
    if is_watching and is_revealed:
        raise KneepointError("--watch --reveal: give --reveal alone, after the last entry")
    if names is not None:
        read_key(names)
    require_folder_of_entries(entries)
    if not is_watching:
        find_submissions(entries)
    contest = read_config(rules, Contest)
    folder = into or results_here(load_workflow(config).results) / "contests" / rules.stem
    contest_run = open_contest(
        contest,
        config,
        folder,
        str(rules),
        is_trusting=trust_entries,
        secret=secret,
    )
    contest_run = replace(contest_run, key=names, is_revealed=is_revealed)
    if contest_run.secret:
        click.echo(
            f"secret seed: {path_for_caller(folder / SEED_FILE)}, "
            f"SHA-256 {digest_of(contest_run.secret)}",
            err=True,
        )

    def score() -> None:
        try:
            found = contest_run.score(entries, lambda line: click.echo(line, err=True))
            print_result(
                found,
                csv_of(found) if as_csv else text_of(found, path_for_caller(folder / PAGE)),
                as_json,
            )
        except Exception as error:
            if not is_watching or isinstance(error, OSError):
                raise
            said = error if isinstance(error, KneepointError) else f"report it: {fault_of(error)}"
            click.echo(f"error: {said}", err=True)  # the next submission may correct the error

    if is_watching:
        watch(entries, score, interval_s=2, is_over=lambda: False)
    score()


def open_contest(
    contest: Contest,
    config: Path,
    folder: Path,
    where: str,
    *,
    is_trusting: bool,
    secret: Path | None = None,
) -> ContestRun:
    """Builds and prepares everything that a contest needs.

    Args:
        contest: its rules, from the file `where`.
        config: the workflow's configuration.
        folder: of the contest.
        where: for messages.
        is_trusting: whether entries run without a sandbox.
        secret: file with the secret seed of the final networks; None: the seed in the folder, or a
            new random seed.

    Raises:
        KneepointError: a network or a baseline is unknown, the secret seed is wrong, or a program
            or network cannot be made.
    """
    if secret is not None and not contest.is_disguised:
        raise KneepointError(f"--secret: {where} disguises no final network; omit it")
    seed = seed_of(folder, secret, contest.secret_sha256, where) if contest.is_disguised else ""
    builder = open_builder(
        config,
        contest.networks,
        list(dict.fromkeys(each.controller for each in contest.baselines)),
        is_trusting=is_trusting,
        is_real_time=LIMITS[contest.engine].is_real_time,
        where=where,
    )
    builder = replace(
        builder,
        compiler=replace(builder.compiler, budget=Budget(cpu_s=contest.build_cpu_s)),
        arguments=contest.arguments,
        environment=contest.environment,
        cpu_s=contest.cpu_s,
    )
    engine = engine_of(contest.engine, config)
    catalogue = load_catalogue(EMULATE)
    ours = []
    for each in contest.baselines:
        controller = catalogue.controller(each.controller, where)
        complete = controller.complete(each.parameters, where)
        ours.append(Sender(_name_of(each, contest), controller=(controller, complete)))
    networks = [prepared_network(name) for name in contest.networks]
    titles = {name: read_json(description_of(name))["title"] for name in contest.networks}
    if seed:
        networks = [
            disguised(each, seed, folder, where) if each.name in contest.final else each
            for each in networks
        ]
        titles |= {name: f"{titles[name]}, disguised" for name in contest.final}
    latency_us = contest.host_latency_us
    if latency_us is not None:
        networks = [each.with_host("host_latency_us", latency_us) for each in networks]
    results = load_workflow(config).results
    known: list[Known] = []
    if contest.behaviour:
        make_what_is_missing(config, [], [], [REPLAY])
        known += [(each, None) for each in known_families(catalogue)]
    return ContestRun(
        contest, networks, titles, ours, engine, builder, folder, results, known, seed
    )


def _name_of(baseline: Setting, contest: Contest) -> str:
    """Returns a baseline's name on the leaderboard, with parameters if the name is ambiguous."""
    alike = [each for each in contest.baselines if each.controller == baseline.controller]
    if len(alike) == 1:
        return f"{baseline.controller} (ours)"
    values = ", ".join(
        f"{value:g}" if len(baseline.parameters) == 1 else f"{name} {value:g}"
        for name, value in baseline.parameters.items()
    )
    return f"{baseline.controller} {values} (ours)"


def csv_of(found: Json) -> str:
    """Returns the whole leaderboard as CSV, without a final newline."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for kind in ("ranking", "baselines", "apart", "earlier", "failed"):
        writer.writerows(
            {name: _plain(value) for name, value in {"table": kind, **row}.items()}
            for row in found[kind]
        )
    return text.getvalue().rstrip("\n")


def _plain(value: object) -> object:
    """Escapes text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(tuple("=+-@")) else value


def text_of(found: Json, page: Path) -> str:
    """Returns the leaderboard as text for the terminal."""
    rows = [("rank", "95 %", "entry", found["score"]["name"], "95 %", "practice")]
    for row in sorted(found["ranking"] + found["baselines"], key=lambda row: -row["score"]):
        ranks = f"{row['best_rank']}-{row['worst_rank']}" if "rank" in row else ""
        interval = "" if row["low"] is None else f"{row['low']:.4g} to {row['high']:.4g}"
        score, practice = (f"{row[name]:.4g}" for name in ("score", "practice_score"))
        rows.append((str(row.get("rank", "-")), ranks, row["name"], score, interval, practice))
    lines = [columns(rows)]
    lines += [f"not ranked: {row['name']}, {row['score']:.4g}" for row in found["apart"]]
    lines += [f"not scored: {row['name']}: {row['reason']}" for row in found["failed"]]
    return "\n".join([*lines, "", str(page)])

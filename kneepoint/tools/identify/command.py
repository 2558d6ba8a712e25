"""`kneepoint identify`: finds the known rule that behaves most like a sender."""

from contextlib import closing
from pathlib import Path

import click

from kneepoint.cli import PATH, common_options_anywhere, print_result, seed_option, subcommand
from kneepoint.cli.compare import setting_of
from kneepoint.cli.entries import open_builder, trust_option
from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.common.columns import columns
from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import Json
from kneepoint.engines.built import EMULATE, REPLAY
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.behaviour import describe, watch
from kneepoint.entries.collect import submission_at
from kneepoint.entries.entries import Sender
from kneepoint.runs.executor import LocalExecutor
from kneepoint.search.behaviour import Known, identify, known_families
from kneepoint.search.language import rules_of


@subcommand("""
    kneepoint identify anna
    kneepoint identify timely:beta=0.9 --network constant-12mbps --unseen contest
    kneepoint identify one.log two.log --json | jq '.families[0]'
""")
@click.argument("senders", metavar="SENDER|LOG...", nargs=-1, required=True)
@click.option(
    "--network",
    "networks",
    multiple=True,
    default=("contest", "verizon-lte-driving-1", "tmobile-umts-driving-1"),
    help="Network on which SENDER is observed; may be repeated.",
)
@click.option(
    "--unseen",
    multiple=True,
    default=("att-lte-driving-1", "tmobile-lte-driving", "verizon-lte-driving-2"),
    help="Network on which the rule predicts the power; may be repeated.",
)
@click.option("--runs", type=click.IntRange(1), default=8, help="Runs on each network.")
@click.option("--rules", type=PATH, help="File of further known rules, one per line.")
@seed_option
@trust_option
@common_options_anywhere
def command(
    senders: tuple[str, ...],
    networks: tuple[str, ...],
    unseen: tuple[str, ...],
    runs: int,
    rules: Path | None,
    seed: int,
    trust_entries: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Find the known rule, with parameters, that behaves most like a sender.

    SENDER is an entry of a contest, or CONTROLLER:NAME=VALUE,NAME=VALUE. The command observes the
    sender on some networks and predicts its power on other networks by the rule. Alternatively,
    LOGs of `build/emulate --flow-log`, with names that end in .log, show one sender; nothing is
    predicted from logs.
    """
    are_logs = all(each.endswith(".log") for each in senders)
    if len(senders) > 1 and not are_logs:
        raise KneepointError(f"{' '.join(senders)}: give one sender, or logs that end in .log")
    if both := {*networks} & {*unseen}:
        raise KneepointError(f"--unseen {both.pop()}: --network names it, too; remove one")
    make_what_is_missing(config, [] if are_logs else [*networks, *unseen], ["rule"], [REPLAY])
    catalogue = load_catalogue(EMULATE)
    known: list[Known] = [(each, None) for each in known_families(catalogue)]
    if rules is not None:
        known += [(catalogue.controller("rule", "--rules"), each) for each in rules_of(rules)]
    if are_logs:
        found = describe(identify([Path(each) for each in senders], known, seed))
    else:
        engine = EmulatorSettings.of(EMULATE)
        sender = _sender(senders[0], config, trust_entries)
        watched, others = ([prepared_network(each) for each in some] for some in (networks, unseen))
        with closing(LocalExecutor(engine)) as executor:
            seeds = range(seed, seed + runs)
            found = watch(sender, known, watched, others, seeds, engine, executor)
    print_result(found, _text(found), as_json)


def _sender(text: str, config: Path, is_trusting: bool) -> Sender:
    """Returns a built entry, given its path, or a controller with its parameters."""
    if Path(text).exists():
        made = open_builder(config, [], is_trusting=is_trusting).make(submission_at(Path(text)))
        if made.reason:
            raise KneepointError(f"{text}: {made.reason}")
        return made
    name, parameters = setting_of(text)
    make_what_is_missing(config, [], [name])
    controller = load_catalogue(EMULATE).controller(name, text)
    return Sender(name, controller=(controller, controller.complete(parameters, text)))


def _text(found: Json) -> str:
    rows = [("rule", "distance", "explained (%)")]
    for each in found["families"]:
        explained = f"{100 * each['explained']:.1f}"
        rows.append((each["family"], f"{each['distance']:.4f}", explained))
    lines = [f"behaves like {found['behaves_like'] or 'none of these'}", "", columns(rows)]
    if predicted := found.get("prediction"):
        rows = [("predicted power / its own", "ratio", "[95 %]")]
        for name, each in predicted.items():
            ends = "-" if each["low"] is None else f"[{each['low']:.4f}, {each['high']:.4f}]"
            rows.append((name, f"{each['ratio']:.4f}", ends))
        lines += ["", columns(rows)]
    return "\n".join(lines)

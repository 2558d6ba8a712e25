"""How well each prepared recording distinguishes controllers, and the effect of its outages.

    python -m tests.tools.contest.benchmarks.links [--score RULE]

The default contest's baselines and our other controllers with their defaults run four times on
every network of .kneepoint/networks that replays one recording; prints a leaderboard's numbers on
its networks (docs/contest.md), and the best fixed window.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

from kneepoint.common.config_file import read_config
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.entries import Sender
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.runner import Runner
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.leaderboard import verdict
from kneepoint.tools.contest.scoring import run_all

EMULATE = Path("build/emulate")
RULES = Path("config/contests/default.yaml")
OTHERS = ("aimd_rtt", "aimd_soph", "aimd_timeout", "bounded_aimd", "delay_band", "delay_threshold")
RECORDINGS = ("att-", "contest-2026", "tmobile-", "verizon-")


def entries() -> list[Sender]:
    """Returns all controllers that run."""
    catalogue = load_catalogue(EMULATE)
    settings = [
        (each.controller, each.parameters) for each in read_config(RULES, Contest).baselines
    ]
    settings += [(name, {}) for name in OTHERS]
    found = []
    for name, parameters in settings:
        controller = catalogue.controller(name, str(RULES))
        complete = controller.complete(parameters, str(RULES))
        words = " ".join([name, *(f"{value:g}" for value in list(parameters.values())[:1])])
        found.append(Sender(words, controller=(controller, complete)))
    return found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--score", default="power", help="of a contest (%(default)s)")
    score = parser.parse_args().score
    paths = sorted(Path(".kneepoint/networks").glob("*/network.json"))
    paths = [path for path in paths if path.parent.name.startswith(RECORDINGS)]
    networks = [PreparedNetwork.load(path).with_host("host_latency_us", 0) for path in paths]
    first, *others = (network.name for network in networks)
    contest = Contest(title="Links", practice=(first,), final=tuple(others), runs=4, score=score)
    engine = EmulatorSettings.of(EMULATE)
    with TemporaryDirectory() as folder, RunJournal(Path(folder) / "runs.jsonl") as journal:
        runner = Runner(journal, lambda _: LocalExecutor(engine, 2), lambda _: None)
        scored = run_all(contest, entries(), networks, engine, runner)
        runner.close()
    found = verdict(contest, scored, networks, {each: each for each in contest.networks}, {})
    print(
        f"{'network':24} {'omniscient':>10} {'median':>8} {'delays share':>12} {'between':>8}"
        f" {'within':>7} {'share':>6}  best"
    )
    for network in found["networks"]:
        spread, name = network["spread"], network["name"]
        best = max(found["baselines"], key=lambda row: sum(row["networks"][name]["scores"]))
        print(
            f"{name:24} {network['omniscient']['signal_delay_p95_ms']:7} ms "
            f"{spread['signal_delay_p95_ms']:5.0f} ms {100 * spread['delay_share']:10.0f} % "
            f"{spread['between']:8.3f} {spread['within']:7.3f} {100 * spread['share']:4.0f} %  "
            f"{best['name']}"
        )


if __name__ == "__main__":
    main()

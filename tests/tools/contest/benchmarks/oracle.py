"""The gains of senders with the final recordings built in, with and without disguise.

    python -m tests.tools.contest.benchmarks.oracle [--secrets N]

One sender recognises the recording and sends just before each opportunity. A second tracks its
position in the recording, and fills the window that its forecast allows; the honest twin of the
second forecasts from its own measurements instead. Prints the power of each sender on the final
networks of the default contest, undisguised and disguised by N secret seeds, beside the power of
the best baseline and of the omniscient sender (docs/contest.md).
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from kneepoint.cli.entries import CONFINE, RUNNER, python_digest
from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.common.config_file import read_config
from kneepoint.common.files import sha256_of
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.build import Compiler
from kneepoint.entries.collect import find_submissions
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder, Sender
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.networks.traces import times_of
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.runner import Runner
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.scoring import run_all
from kneepoint.tools.contest.secret import disguised
from tests.tools.contest.benchmarks.links import EMULATE, RULES, entries
from tests.tools.contest.oracles.recordings import with_recordings

ENTRIES = {
    "recognising": ("recognising", ""),
    "tracking": ("tracking", ""),
    "its honest twin": ("tracking", "#define HONEST"),
}


def written(folder: Path, networks: Sequence[PreparedNetwork]) -> list[Sender]:
    """Returns the entries that know the networks' recordings, and the honest twin."""
    recordings = [times_of(Path(each.uplink.trace).read_bytes()) for each in networks]
    for name, (controller, macros) in ENTRIES.items():
        with_recordings(folder / "entries" / name, controller, recordings, macros)
    (folder / "kept").mkdir()
    compiler = Compiler(folder / "kept", Confined(CONFINE.resolve()))
    builder = EntryBuilder(compiler, sha256_of(RUNNER.read_bytes()), python_digest())
    return [builder.make(each) for each in find_submissions(folder / "entries")]


def powers(
    contest: Contest,
    senders: Sequence[Sender],
    networks: Sequence[PreparedNetwork],
    folder: Path,
) -> dict[str, dict[str, float]]:
    """Returns the mean score of each sender on each network."""
    engine = EmulatorSettings.of(EMULATE)
    with RunJournal(folder / "runs.jsonl") as journal:
        runner = Runner(journal, lambda _: LocalExecutor(engine, 2), lambda _: None)
        scored = run_all(contest, senders, networks, engine, runner)
        runner.close()
    if failed := [f"{each.name}: {each.reason} {each.message}" for each in scored if each.reason]:
        raise SystemExit("\n".join(failed))
    return {
        each.name: {name: float(np.exp(np.mean(np.log(of)))) for name, of in each.scores.items()}
        for each in scored
    }


def mean(on: Mapping[str, float], contest: Contest) -> float:
    """Returns the geometric mean over the final networks."""
    return float(np.exp(np.mean([np.log(on[name]) for name in contest.final])))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--secrets", type=int, default=3, help="secret seeds (%(default)s)")
    secrets = parser.parse_args().secrets
    contest = read_config(RULES, Contest).model_copy(update={"runs": 1})
    make_what_is_missing(Path("config/config.yaml"), contest.networks, [], [RUNNER, CONFINE])
    networks = [prepared_network(name).with_host("host_latency_us", 0) for name in contest.networks]
    with TemporaryDirectory() as made:
        folder = Path(made)
        senders = [*written(folder, networks), *entries()]
        print(f"{'':22} " + " ".join(f"{name[:14]:>14}" for name in contest.final) + "   mean")
        for number in range(-1, secrets):
            on = networks
            if number >= 0:
                secret = f"{number:032x}"
                others = [disguised(each, secret, folder / secret, "") for each in networks[1:]]
                on = [networks[0], *others]
            print("as recorded" if number < 0 else f"disguised by secret {number}")
            found = powers(contest, senders, on, folder)
            ours = sorted(set(found) - set(ENTRIES), key=lambda name: -mean(found[name], contest))
            bounds = {each.name: each.omniscient.power for each in on if each.omniscient}
            rows = {name: found[name] for name in (*ENTRIES, ours[0])} | {"omniscient": bounds}
            for name, row in rows.items():
                cells = " ".join(f"{row[each]:14.1f}" for each in contest.final)
                print(f"{name:22} {cells} {mean(row, contest):6.1f}", flush=True)


if __name__ == "__main__":
    main()

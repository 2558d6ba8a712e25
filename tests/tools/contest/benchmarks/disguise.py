"""Whether honest senders have the same ranks on disguised recordings as on the recordings
themselves.

    python -m tests.tools.contest.benchmarks.disguise [--secrets N]

The default contest's baselines and other controllers with their defaults run twice on the final
networks of the default contest, undisguised and disguised by N secret seeds. Prints for each seed
Spearman's rank correlation of the scores, and the omniscient bounds (docs/contest.md).
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy.stats import spearmanr

from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.common.config_file import read_config
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.runner import Runner
from kneepoint.stats import Floats
from kneepoint.stats.means import mean_of
from kneepoint.tools.contest.config import Contest
from kneepoint.tools.contest.scoring import run_all, table_of
from kneepoint.tools.contest.secret import disguised
from tests.tools.contest.benchmarks.links import EMULATE, RULES, entries


def scores_on(contest: Contest, networks: Sequence[PreparedNetwork], folder: Path) -> Floats:
    """Returns the scores of all controllers."""
    engine = EmulatorSettings.of(EMULATE)
    with RunJournal(folder / "runs.jsonl") as journal:
        runner = Runner(journal, lambda _: LocalExecutor(engine, 2), lambda _: None)
        scored = run_all(contest, entries(), networks, engine, runner)
        runner.close()
    if failed := [f"{each.name}: {each.reason}" for each in scored if each.reason]:
        raise SystemExit("\n".join(failed))
    table = table_of(scored, contest.final)
    return np.array([mean_of(each, contest.scored_by.is_ratio) for each in table])


def bounds_of(networks: Sequence[PreparedNetwork]) -> str:
    """Returns the omniscient powers on the final networks."""
    return " ".join(f"{each.omniscient.power:.1f}" for each in networks[1:] if each.omniscient)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--secrets", type=int, default=10, help="secret seeds (%(default)s)")
    secrets = parser.parse_args().secrets
    contest = read_config(RULES, Contest).model_copy(update={"runs": 2})
    make_what_is_missing(Path("config/config.yaml"), contest.networks, [])
    networks = [prepared_network(name).with_host("host_latency_us", 0) for name in contest.networks]
    with TemporaryDirectory() as made:
        folder = Path(made)
        honest = scores_on(contest, networks, folder)
        print("omniscient:", bounds_of(networks))
        for number in range(secrets):
            secret = f"{number:032x}"
            others = [
                networks[0],
                *(disguised(each, secret, folder / secret, str(RULES)) for each in networks[1:]),
            ]
            found = scores_on(contest, others, folder)
            rank = spearmanr(honest, found).statistic
            ratio = np.exp(np.mean(np.log(found / honest)))
            print(
                f"{number}: rank correlation {rank:.3f}, scores x {ratio:.3f}, {bounds_of(others)}"
            )


if __name__ == "__main__":
    main()

"""How often the interval of a recovery contains a planted parameter.

    python -m tests.questions.audit.recovery recover-aimd-000 rtt_limit_ms=200 keepalive_ms=3000

Needs the results of `make reproduce`. A planted table has the rows that the study fits, each
measured once by the emulator with the planted parameters (which may include host_latency_us); for
rows that are means of N runs in their report: --mean TABLE=N. The study's existing trials are
compared with the planted table instead of the published table.
"""

import argparse
import itertools
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pandas as pd

from kneepoint.analysis.frames import records
from kneepoint.analysis.metrics import METRICS
from kneepoint.analysis.recovery import fitted_rows, recovered, row_losses
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.config.study import Fit
from kneepoint.engines.base import RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.networks.scenario import PreparedNetwork
from tests.questions.audit.planted import stated

EMULATE = Path("build/emulate")


def planted_tables(
    study: StudyRuns, rows: pd.DataFrame, planted: Mapping[str, float], means: Mapping[str, int]
) -> Iterator[pd.DataFrame]:
    """Yields tables endlessly: rows of a study, measured with planted parameters.

    A row of a table in `means` is the mean of that number of runs.
    """
    settings = EmulatorSettings.of(EMULATE)
    controller = load_catalogue(EMULATE).controllers[study.config.controller]
    prepared = Path(".kneepoint/networks") / study.config.networks[0] / "network.json"
    network = PreparedNetwork.load(prepared)
    parameters = dict(planted)
    latency_us = parameters.pop("host_latency_us", network.host_latency_us)
    network = replace(network, host_latency_us=latency_us)
    with closing(settings.open()) as engine:
        for table in itertools.count():
            lines = []
            for row in records(rows):
                complete = controller.complete({**stated(row), **parameters}, "planted")
                first = 10**6 * table + 1000 * int(row["row"])
                runs = [
                    engine.run(RunSpec.on(settings, controller, complete, network, seed))
                    for seed in range(first, first + means.get(str(row["table"]), 1))
                ]
                found = pd.DataFrame(vars(run) for run in runs)[list(METRICS)].mean()
                lines.append(row | {m: found[m] for m in METRICS if row.get(m) == row.get(m)})
            yield pd.DataFrame(lines)


def _pairs(words: list[str]) -> dict[str, float]:
    return {name: float(value) for name, _, value in (word.partition("=") for word in words)}


def main() -> None:
    """Prints, for each planted parameter, how often the interval contained it, and the best
    trials."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("study", help="a study that fits published tables")
    parser.add_argument("planted", nargs="+", metavar="PARAMETER=VALUE")
    parser.add_argument("--mean", action="append", default=[], metavar="TABLE=N")
    parser.add_argument("--tables", type=int, default=30, help="planted tables (%(default)s)")
    parser.add_argument("--config", type=Path, default=Path("config/config.yaml"))
    arguments = parser.parse_args()
    results = Results.of(arguments.config)
    study = next(each for each in results.studies if each.name == arguments.study)
    goal = study.config.objective
    if not isinstance(goal, Fit):
        parser.error(f"{arguments.study} fits no table")
    rows = fitted_rows(results.published, goal.fit)
    planted = _pairs(arguments.planted)
    means = {name: int(count) for name, count in _pairs(arguments.mean).items()}
    found = []
    tables = planted_tables(study, rows, planted, means)
    for table in itertools.islice(tables, arguments.tables):
        losses = row_losses(study.runs, table, goal.robust)
        found.append(recovered(study.trials, losses, table, study.searched, study.record.seed))
    of_parameter = pd.concat(found).groupby("parameter", sort=False)
    print(f"{arguments.study}: {arguments.tables} planted tables")
    for name, lines in ((str(name), lines) for name, lines in of_parameter):
        if name in planted:
            low, high = lines["pinned_low"], lines["pinned_high"]
            held = ((low <= planted[name]) & (planted[name] <= high)).mean()
            print(
                f"{name:20}planted {planted[name]:g}: held by {100 * held:.0f} % of the intervals, "
                f"best {lines['best'].mean():.1f} (sd {lines['best'].std():.1f}), interval "
                f"{(high - low).mean():.1f} wide"
            )


if __name__ == "__main__":
    main()

"""Measures how many real-time runs this host sustains at once.

Makes single runs of the configured setting, then two runs at once, four, and so on, until results
differ from the results of single runs or the host is too busy for most of the runs. Other processes
may disturb the host meanwhile, so a spoiled single run is repeated, and so is a level whose results
differ. The trial number of a run is its level; `slots` of probe.json is the highest level that
agreed.
"""

import math
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean, stdev

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import EngineSettings, RunRecord
from kneepoint.questions.probe import HostProbe, Settings
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Outcome, Plan, Steps
from kneepoint.runs.results import FinishedRun, PlannedRun
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed

TOLERANCES = {"throughput_mbps": 0.01, "signal_delay_p95_ms": 0.02}
"""The tolerated relative differences of means, as for the agreement."""
_ERRORS = 3.0
"""The number of standard errors of a difference that chance may explain."""
_TRIES = 3
"""The number of tries of a level that must differ before the difference counts."""


@dataclass(frozen=True)
class Level:
    """A number of concurrent runs, their agreement with single runs, and the number of tries."""

    concurrency: int
    agrees: bool
    reason: str
    tries: int


def plan(job: Job, name: str) -> Plan:
    """Plans the probe of this host.

    Raises:
        KneepointError: mahimahi does not work here.
    """
    wanted = job.workflow.settings.part(Settings).real_time.probe
    assert wanted is not None
    engine = job.engine("mahimahi")

    def steps() -> Steps:
        levels, planned = yield from climb(
            wanted, lambda *place: _list_runs(job, engine, wanted, name, *place), engine.spoils
        )
        slots = max(level.concurrency for level in levels if level.agrees)
        outcome = {
            "slots": slots,
            "cores": os.cpu_count(),
            "levels": [asdict(level) for level in levels],
        }
        reason = levels[-1].reason or "higher levels were not tried"
        message = f"{slots} real-time slots: {reason}"
        return Outcome(planned, message, summaries={"probe.json": outcome})

    return Plan(engine, None, steps())


def climb(
    wanted: HostProbe,
    list_runs: Callable[[int, int, int], list[PlannedRun]],
    spoils: Callable[[RunRecord], bool],
) -> Generator[Batch, Iterator[FinishedRun], tuple[list[Level], list[PlannedRun]]]:
    """Doubles the number of concurrent runs until their results differ from single runs' results.

    Args:
        wanted: the configured probe.
        list_runs: returns the runs of a level, given its number, the number of runs, and the try.
        spoils: whether the host was too busy for a run.

    Returns:
        The levels, and the runs of each level's last try.

    Raises:
        KneepointError: a single run fails.
    """
    lone: list[RunRecord] = []
    planned = list_runs(0, wanted.alone, 0)
    for run in planned:
        (finished,) = yield Batch([run])
        lone.append(finished.record)
        if finished.record.status != "ok":
            raise KneepointError(f"probe: even a single run fails: {finished.record.reason}")
    levels = [Level(1, True, "", 1)]
    concurrency = 2
    while levels[-1].agrees and concurrency <= wanted.most:
        reason, tries = "untried", 0
        while reason and tries < _TRIES:
            runs = list_runs(len(levels), concurrency, tries)
            records = [each.record for each in (yield Batch(runs, together=True))]
            reason = difference(lone, records) or crowded(records, spoils)
            tries += 1
        levels.append(Level(concurrency, not reason, reason, tries))
        planned += runs
        concurrency *= 2
    return levels, planned


def difference(lone: Sequence[RunRecord], together: Sequence[RunRecord]) -> str:
    """Returns how concurrent runs differ from single runs, or "".

    A difference of means counts if it exceeds both the tolerance and the part that chance explains;
    the standard deviation of a run is estimated from the single runs.
    """
    for record in together:
        if record.status != "ok":
            return f"with {len(together)} at once a run fails: {record.reason}"
    for name, tolerance in TOLERANCES.items():
        alone = [float(getattr(record, name)) for record in lone]
        at_once = [float(getattr(record, name)) for record in together]
        gap = fmean(at_once) - fmean(alone)
        error = stdev(alone) * math.sqrt(1 / len(alone) + 1 / len(at_once))
        if abs(gap) > max(tolerance * fmean(alone), _ERRORS * error):
            return (
                f"with {len(together)} at once {name} is {fmean(at_once):.4g} "
                f"instead of {fmean(alone):.4g}"
            )
    return ""


def crowded(together: Sequence[RunRecord], spoils: Callable[[RunRecord], bool]) -> str:
    """Returns a message if the host was too busy for most concurrent runs, otherwise ""."""
    spoilt = sum(map(spoils, together))
    if 2 * spoilt <= len(together):
        return ""
    return f"with {len(together)} at once the host is too busy for {spoilt} of them"


def _list_runs(
    job: Job,
    engine: EngineSettings,
    wanted: HostProbe,
    name: str,
    level: int,
    runs: int,
    attempt: int,
) -> list[PlannedRun]:
    """Returns runs with seeds of this try, so that the journal has no results of an earlier try."""
    network = replace(job.network(wanted.network), duration_s=wanted.duration_s)
    root = derive_seed(job.workflow.settings.seed, name)
    seeds = [derive_seed(root, level, run, *([attempt] if attempt else [])) for run in range(runs)]
    placed = engine.place(network)
    specs = [job.spec(engine, wanted, placed, seed, "real_time.probe") for seed in seeds]
    return [PlannedRun(level, run, None, spec) for run, spec in enumerate(specs)]

"""Measures how many real-time runs this host takes at once.

    python -m experiments.probe --config config/config.yaml --out-dir results/probe

runs the configured setting alone, then two at once, four, and so on, until results differ from
those of the lone runs, or the host is too busy for most of the runs, which would be repeated then.
Something else may have kept it busy meanwhile: a lone run that suffered is repeated, and a level
that did is tried again. It writes runs.parquet, where trial counts the levels, and probe.json,
whose `slots` is the highest level at which all was well.
"""

import argparse
import json
import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from statistics import fmean, stdev
from threading import Lock

from common.errors import KneepointError, run_command_line
from common.files import write_whole
from engines.base import MachineFaultError, RunRecord, RunSpec
from engines.mahimahi.engine import MahimahiSettings
from experiments.config import Probe
from experiments.job import Job, add_arguments, open_job
from experiments.progress import RealTimeProgress
from experiments.results import FinishedRun, PlannedRun, runs_table, write_table
from experiments.seeds import derive_seed, study_seed

NAME = "probe"

TOLERANCES = {"throughput_mbps": 0.01, "signal_delay_p95_ms": 0.02}
"""Relative differences of the mean that do not count: those that agreement allows, too."""
_ERRORS = 3.0
"""Standard errors of the difference that chance explains."""
_TRIES = 3
"""How often a level differs before that is taken for its own doing."""

Run = Callable[[RunSpec], RunRecord]


@dataclass(frozen=True)
class Level:
    """So many runs at once, and whether they gave what lone runs give, after so many tries."""

    concurrency: int
    agrees: bool
    reason: str
    tries: int


def probe(job: Job) -> None:
    """Probes the host and writes the results.

    Raises:
        KneepointError: no probe is configured, mahimahi does not work, or not even lone runs do.
    """
    wanted = job.workflow.probe
    if wanted is None:
        raise KneepointError(f"{job.workflow.path}: real_time.probe is not set; name a run there")
    engine = job.engine("mahimahi")
    assert isinstance(engine, MahimahiSettings)
    progress = RealTimeProgress(NAME, None)
    with job.journal() as journal:
        one_at_a_time = Lock()

        def run_on(settings: MahimahiSettings) -> Run:
            def run(spec: RunSpec) -> RunRecord:
                with one_at_a_time:
                    record = journal.get(spec.run_id)
                record = record or _run(settings, spec)
                with one_at_a_time:
                    journal.add([record])
                    progress.add(1)
                return record

            return run

        levels, finished = climb(
            wanted,
            lambda *place: _plan(job, engine, wanted, *place),
            run_on(engine),
            # That runs keep the host busy is what the levels are to show.
            run_on(replace(engine, busy_us=math.inf)),
            engine.spoils,
        )
    slots = max(level.concurrency for level in levels if level.agrees)
    write_table(job.out_dir / "runs.parquet", runs_table(NAME, finished))
    outcome = {
        "slots": slots,
        "cores": os.cpu_count(),
        "levels": [asdict(level) for level in levels],
    }
    write_whole(job.out_dir / "probe.json", json.dumps(outcome, indent=2) + "\n")
    job.sign("experiments.probe", engine, "runs.parquet", "probe.json")
    progress.end(f"{slots} real-time slots: {levels[-1].reason or 'more were not tried'}")


def climb(
    wanted: Probe,
    plan: Callable[[int, int, int], list[PlannedRun]],
    run_alone: Run,
    run: Run,
    spoils: Callable[[RunRecord], bool] = lambda _: False,
) -> tuple[list[Level], list[FinishedRun]]:
    """Doubles the number of runs at once until their results differ from those of lone runs.

    Args:
        wanted: how far to go.
        plan: gives the runs of a level from its number, theirs, and that of the try.
        run_alone: executes a lone run.
        run: executes one among others; called from several threads.
        spoils: tells of a run that the host was too busy for it.

    Returns:
        The levels, and the runs of each one's last try.

    Raises:
        KneepointError: a lone run does not come to an end.
    """
    lone = [FinishedRun(planned, run_alone(planned.spec)) for planned in plan(0, wanted.alone, 0)]
    for each in lone:
        if each.record.status != "ok":
            raise KneepointError(f"probe: even a lone run fails: {each.record.reason}")
    levels, finished = [Level(1, True, "", 1)], list(lone)
    concurrency = 2
    while levels[-1].agrees and concurrency <= wanted.most:
        reason, tries = "untried", 0
        while reason and tries < _TRIES:
            planned = plan(len(levels), concurrency, tries)
            with ThreadPoolExecutor(concurrency) as pool:
                records = list(pool.map(run, [each.spec for each in planned]))
            reason = difference([each.record for each in lone], records) or crowded(records, spoils)
            tries += 1
        levels.append(Level(concurrency, not reason, reason, tries))
        finished += [
            FinishedRun(each, record) for each, record in zip(planned, records, strict=True)
        ]
        concurrency *= 2
    return levels, finished


def difference(lone: Sequence[RunRecord], together: Sequence[RunRecord]) -> str:
    """Returns how runs at once differ from lone ones, or nothing.

    A difference of means counts if it is beyond the tolerance and beyond what chance explains; the
    deviation of a single run is that of the lone runs.
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
    """Returns that the host was too busy for most runs at once, if it was, or nothing."""
    spoilt = sum(map(spoils, together))
    if 2 * spoilt <= len(together):
        return ""
    return f"with {len(together)} at once the host is too busy for {spoilt} of them"


def _run(settings: MahimahiSettings, spec: RunSpec) -> RunRecord:
    engine = settings.open()
    try:
        return engine.run(spec)
    except MachineFaultError as fault:
        return RunRecord(spec.run_id, "fault", str(fault))
    finally:
        engine.close()


def _plan(
    job: Job, engine: MahimahiSettings, wanted: Probe, level: int, runs: int, attempt: int
) -> list[PlannedRun]:
    """Each try has runs of its own: what the journal has of the one before is not to answer."""
    controller = job.controller(wanted.controller)
    network = replace(job.network(wanted.network), duration_s=wanted.duration_s)
    root = study_seed(job.workflow.settings.seed, NAME)
    return [
        PlannedRun(
            level,
            run,
            None,
            RunSpec.on(
                engine=engine,
                controller=controller,
                constants=controller.complete(wanted.constants, "real_time.probe"),
                network=engine.place(network),
                seed=derive_seed(root, level, run, *([attempt] if attempt else [])),
            ),
        )
        for run in range(runs)
    ]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_arguments(parser)
    probe(open_job(parser.parse_args()))


if __name__ == "__main__":
    run_command_line(main)

"""Fits the emulated host to real runs of fixed windows, then emulates every confirmed setting.

How long its processes wait for the processor is not fitted but taken over, as these runs measured
it. Then the latencies are fitted to the means of these runs, and to their differences how much the
host's lateness differs between runs: that moves results more than luck within a run.

    python -m search.calibrate --config config/config.yaml --out-dir results/calibration

writes delays.parquet, the waits; trials.parquet, runs.parquet and study.json of the first fit,
spread.parquet of the second, and agreement.parquet: the emulator's runs, on the host that was
found, of the settings that were run in real mahimahi.
"""

import argparse
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import optuna
import pyarrow as pa

from common.errors import KneepointError, run_command_line
from engines.base import PreparedNetwork
from experiments.config import Confirm, Objective, Study
from experiments.confirm import NAME as CONFIRM
from experiments.confirm import ConfirmedSetting, configured, plan_settings, read_confirmed
from experiments.job import Job, add_arguments, open_job
from experiments.published import Column, PublishedRow, PublishedTable, TableDescription
from experiments.results import make_table, runs_table, write_table
from experiments.seeds import study_seed
from search.objective import FIT_METRICS
from search.plan import StudyPlan, plan_study
from search.study import FILES, carry_out

NAME = "calibration"
CONTROLLER = "fixed_window"
LEAST_DELAYS, MOST_DELAYS = 2, 32
"""How many delays the emulated host takes (see MeasuredTable in network/random.hh)."""

DELAYS_SCHEMA = pa.schema(
    [
        pa.field("one_in", pa.int64(), nullable=False),  # wake-ups waits so long, or longer
        pa.field("delay_us", pa.float64(), nullable=False),  # mean over the runs
        pa.field("least_us", pa.float64(), nullable=False),
        pa.field("greatest_us", pa.float64(), nullable=False),
        pa.field("n_runs", pa.int64(), nullable=False),  # that were long enough to tell
    ]
)
SPREAD_SCHEMA = pa.schema(
    [
        pa.field("wake_spread", pa.float64(), nullable=False),
        # Pooled over the windows: standard deviation of a run's throughput over its mean.
        pa.field("emulated_deviation", pa.float64(), nullable=False),
        pa.field("real_deviation", pa.float64(), nullable=False),
        pa.field("is_best", pa.bool_(), nullable=False),
    ]
)


def calibrate(job: Job) -> None:
    """Fits the host, emulates the confirmed settings on it, and writes the results.

    Raises:
        KneepointError: there are no real runs yet, or a run cannot be executed.
    """
    wanted = configured(job)
    settings, real = read_confirmed(job)
    table = measured_table(settings, real)
    host = _take_delays(job, job.network(wanted.network), settings, real)
    plan = plan_calibration(job, wanted, table, host)
    best = carry_out(job, plan)
    network = plan.runs_of(best.number, best.searched)[0].spec.network
    _emulate(job, wanted, settings, _fit_spread(job, wanted, settings, real, network))
    tables = ("delays.parquet", "spread.parquet", "agreement.parquet")
    job.sign("search.calibrate", plan.engine, *FILES, *tables)


def measured_table(
    settings: Sequence[ConfirmedSetting], real: Sequence[dict[str, Any]]
) -> PublishedTable:
    """Returns the means of the real runs of each calibrating setting, as a table to be fitted.

    Raises:
        KneepointError: none of these runs came to an end.
    """
    rows: list[PublishedRow] = []
    for setting, runs in _calibrating(settings, real):
        if runs:
            metrics = {
                name: math.fsum(run[name] for run in runs) / len(runs) for name in FIT_METRICS
            }
            rows.append(PublishedRow(len(rows), setting.constants, metrics, {}, True))
    if not rows:
        raise KneepointError("calibration: no real run of a fixed window came to an end; confirm")
    description = TableDescription(
        source="real runs of this host",
        controller=CONTROLLER,
        columns={"window": Column(constant="window", unit="packets")},
    )
    return PublishedTable(CONFIRM, description, rows)


def pooled_delays(runs: Iterable[Sequence[float]]) -> list[dict[str, float]]:
    """Returns how long processes waited for the processor, pooled over runs.

    Args:
        runs: the scheduling delays (us) of each: element k is the one that one datagram in 2^k
            reached.

    Returns:
        Rows of DELAYS_SCHEMA. A longer run tells of rarer delays; these never become shorter.
    """
    measured = list(runs)
    rows: list[dict[str, float]] = []
    for k in range(max(map(len, measured), default=0)):
        delays = [delays_us[k] for delays_us in measured if k < len(delays_us)]
        mean = math.fsum(delays) / len(delays)
        rows.append(
            {
                "one_in": 2**k,
                "delay_us": max(mean, rows[-1]["delay_us"]) if rows else mean,
                "least_us": min(delays),
                "greatest_us": max(delays),
                "n_runs": len(delays),
            }
        )
    return rows


def plan_calibration(
    job: Job, wanted: Confirm, table: PublishedTable, network: PreparedNetwork
) -> StudyPlan:
    """Returns the fit as a study like any other."""
    study = Study(
        title="The emulated host, fitted to real fixed windows",
        controller=CONTROLLER,
        networks=(wanted.network,),
        host=wanted.calibration.host,
        objective=Objective(fit=(CONFIRM,)),
        runs_per_trial=wanted.calibration.runs_per_trial,
    )
    return plan_study(
        NAME,
        study,
        job.controller(CONTROLLER),
        {CONFIRM: table},
        [network],
        job.engine(),
        study_seed(job.workflow.settings.seed, NAME),
    )


def pooled_deviation(samples: Iterable[Sequence[float]]) -> float:
    """Returns the standard deviation over the mean, pooled over samples by degrees of freedom.

    NaN where no sample has two values.
    """
    squares, freedom = 0.0, 0
    for sample in samples:
        if len(sample) > 1:
            mean = math.fsum(sample) / len(sample)
            squares += math.fsum((value / mean - 1) ** 2 for value in sample)
            freedom += len(sample) - 1
    return math.sqrt(squares / freedom) if freedom else math.nan


def _calibrating(
    settings: Sequence[ConfirmedSetting], real: Sequence[dict[str, Any]]
) -> Iterator[tuple[ConfirmedSetting, list[dict[str, Any]]]]:
    """Each setting that the host is fitted to, with its real runs that came to an end."""
    for trial, setting in enumerate(settings):
        if setting.calibrates:
            yield (
                setting,
                [run for run in real if run["trial"] == trial and run["status"] == "ok"],
            )


def _take_delays(
    job: Job,
    network: PreparedNetwork,
    settings: Sequence[ConfirmedSetting],
    real: Sequence[dict[str, Any]],
) -> PreparedNetwork:
    """Returns the network on a host as late as the real one was; writes how late that is.

    Its timers, too, wait as measured, and not for an exponential time.
    """
    rows = pooled_delays(
        run["scheduling_delays_us"] or []
        for _, runs in _calibrating(settings, real)
        for run in runs
    )
    write_table(job.out_dir / "delays.parquet", make_table(rows, DELAYS_SCHEMA))
    if len(rows) < LEAST_DELAYS:
        return network
    delays_us = "+".join(f"{row['delay_us']:.0f}" for row in rows[:MOST_DELAYS])
    return network.with_host("wake_mean_us", 0).with_host("delays_us", delays_us)


def _fit_spread(
    job: Job,
    wanted: Confirm,
    settings: Sequence[ConfirmedSetting],
    real: Sequence[dict[str, Any]],
    network: PreparedNetwork,
) -> PreparedNetwork:
    """Returns the network on the host whose runs differ as the real ones do; writes what was tried.

    Signal delay has no say: it is whole milliseconds, and single runs hardly differ in it.
    """
    calibrating = [setting for setting in settings if setting.calibrates]
    measured = pooled_deviation(
        [run["throughput_mbps"] for run in runs] for _, runs in _calibrating(settings, real)
    )
    spreads = wanted.calibration.wake_spread
    hosts = [network.with_host("wake_spread", each) if each else network for each in spreads]
    engine = job.engine()
    planned = [
        plan_settings(job, calibrating, engine, host, wanted.emulated, "spread") for host in hosts
    ]
    with job.runner("spread", engine, sum(map(len, planned))) as (runner, progress):
        finished = [list(runner.finish(runs)) for runs in planned]
        progress.end(f"{len(spreads)} spreads")
    emulated = [
        pooled_deviation(
            [
                run.record.throughput_mbps
                for run in runs
                if run.planned.trial == trial and run.record.throughput_mbps is not None
            ]
            for trial in range(len(calibrating))
        )
        for runs in finished
    ]
    # Without repeats there is nothing to compare, and the first is taken.
    best = min(range(len(spreads)), key=lambda i: (abs(emulated[i] - measured), i))
    rows = [
        {
            "wake_spread": spread,
            "emulated_deviation": deviation,
            "real_deviation": measured,
            "is_best": i == best,
        }
        for i, (spread, deviation) in enumerate(zip(spreads, emulated, strict=True))
    ]
    write_table(job.out_dir / "spread.parquet", make_table(rows, SPREAD_SCHEMA))
    return hosts[best]


def _emulate(
    job: Job, wanted: Confirm, settings: list[ConfirmedSetting], network: PreparedNetwork
) -> None:
    engine = job.engine()
    planned = plan_settings(job, settings, engine, network, wanted.emulated, "agreement")
    with job.runner("agreement", engine, len(planned)) as (runner, progress):
        finished = runner.finish(planned)
        write_table(job.out_dir / "agreement.parquet", runs_table("agreement", finished))
        progress.end(f"{len(settings)} settings, {wanted.emulated} emulated runs each")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_arguments(parser)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    calibrate(open_job(arguments))


if __name__ == "__main__":
    run_command_line(main)

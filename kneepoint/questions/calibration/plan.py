"""Fits the emulated host to real runs of fixed windows.

Scheduling delays are not fitted but measured in these runs (delays.parquet). A study then fits the
latencies to the means of the runs. Last, the variation of the host's latency between runs is fitted
to the spread of the runs (spread.parquet), because this variation affects results more than chance
within a run. network.json is the network on the fitted host.
"""

import math
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import flag, from_rows, real, table, whole
from kneepoint.config.confirm import Confirm
from kneepoint.config.published import Column, PublishedRow, PublishedTable, TableDescription
from kneepoint.networks.measured_delays import pooled_delays, with_delays
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.questions.calibration import study_of_calibration
from kneepoint.runs.confirmed import NAME as CONFIRM
from kneepoint.runs.confirmed import ConfirmedSetting, configured, plan_settings, read_confirmed
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Plan, Steps
from kneepoint.runs.results import RESULTS, FinishedRun
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.objective import FIT_METRICS
from kneepoint.search.plan import plan_study
from kneepoint.search.study import search

CONTROLLER = "fixed_window"

DELAYS = table(
    "calibration/delays",
    "the delay that one wake-up in `one_in` reaches or exceeds: the mean and the range over runs "
    "that were long enough",
    whole("one_in"),
    real("delay_us", "least_us", "greatest_us"),
    whole("n_runs"),
    version=RESULTS,
)
SPREAD = table(
    "calibration/spread",
    "a spread of the host's latency; deviations: the standard deviation of a run's throughput over "
    "its mean, pooled over windows",
    real("wake_spread", "emulated_deviation", "real_deviation"),
    flag("is_best"),
    version=RESULTS,
)
TABLES = (DELAYS, SPREAD)


def plan(job: Job, name: str) -> Plan:
    """Plans the calibration.

    Raises:
        KneepointError: there are no real runs yet.
    """
    wanted = configured(job)
    settings, real = read_confirmed(job)
    calibrating = [each for each in settings if each.calibrates]
    table = measured_table(settings, real)
    samples = [runs for _, runs in _calibrating(settings, real)]
    delays = pooled_delays(run["scheduling_delays_us"] or [] for runs in samples for run in runs)
    measured = pooled_deviation([run["throughput_mbps"] for run in runs] for runs in samples)
    host = with_delays(job.network(wanted.network), delays)
    study = study_of_calibration(wanted)
    fit = plan_study(
        name,
        study,
        job.controller(study.controller),
        {CONFIRM: table},
        [host],
        job.engine(),
        derive_seed(job.workflow.settings.seed, name),
    )

    def steps() -> Steps:
        outcome, best = yield from search(job.out_dir, fit)
        if best is None:
            raise KneepointError(f"calibration: {outcome.message}; run `make confirm` again")
        found = fit.runs_of(best.trial, best.searched)[0].spec.network
        network, spread = yield from _fit_spread(job, wanted, calibrating, measured, found)
        tables = {
            **outcome.tables,
            "delays.parquet": from_rows(DELAYS, delays),
            "spread.parquet": from_rows(SPREAD, spread),
        }
        summaries = {**outcome.summaries, "network.json": network.described()}
        return replace(outcome, tables=tables, summaries=summaries)

    return Plan(fit.engine, None, steps())


def measured_table(
    settings: Sequence[ConfirmedSetting], real: Sequence[dict[str, Any]]
) -> PublishedTable:
    """Returns the means of each calibrating setting's real runs, as a table to fit.

    Raises:
        KneepointError: none of these runs finished.
    """
    rows: list[PublishedRow] = []
    for setting, runs in _calibrating(settings, real):
        if runs:
            metrics = {
                name: math.fsum(run[name] for run in runs) / len(runs) for name in FIT_METRICS
            }
            rows.append(PublishedRow(len(rows), setting.parameters, metrics, {}, True))
    if not rows:
        raise KneepointError(
            "calibration: no real run of a fixed window finished; run `make confirm` again"
        )
    description = TableDescription(
        source="real runs of this host",
        controller=CONTROLLER,
        columns={"window": Column(parameter="window", unit="packets")},
    )
    return PublishedTable(CONFIRM, description, rows)


def pooled_deviation(samples: Iterable[Sequence[float]]) -> float:
    """Returns the standard deviation over the mean, pooled over samples by degrees of freedom.

    NaN if no sample has two values.
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
    """Yields each setting to which the host is fitted, with its finished real runs."""
    for trial, setting in enumerate(settings):
        if setting.calibrates:
            runs = [run for run in real if run["trial"] == trial and run["status"] == "ok"]
            yield setting, runs


def _fit_spread(
    job: Job,
    wanted: Confirm,
    calibrating: list[ConfirmedSetting],
    measured: float,
    network: PreparedNetwork,
) -> Generator[Batch, Iterator[FinishedRun], tuple[PreparedNetwork, list[dict[str, Any]]]]:
    """Returns the network on the host whose spread is nearest to real runs, and all candidates.

    Signal delay does not enter the fit: it is in whole milliseconds and hardly varies between runs.
    """
    spreads = wanted.calibration.wake_spread
    hosts = [network.with_host("wake_spread", each) if each else network for each in spreads]
    emulated: list[float] = []
    for host in hosts:
        runs = plan_settings(job, calibrating, job.engine(), host, wanted.emulated, "spread")
        samples: list[list[float]] = [[] for _ in calibrating]
        for run in (yield Batch(runs)):
            if run.record.throughput_mbps is not None:
                samples[run.planned.trial].append(run.record.throughput_mbps)
        emulated.append(pooled_deviation(samples))
    # Without replicates, deviations are NaN and the first candidate is used.
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
    return hosts[best], rows

"""Adds runs of published rows to those of the studies until the verdict on each is clear.

This joins the analysis, which decides what is unclear, and the pipeline, which runs it:
the plan yields the runs that `analysis.until_clear` requests. settings.parquet has a row for each
setting, which is one trial; another host makes another setting.
"""

import json
from collections.abc import Iterable, Sequence

import pandas as pd
import pyarrow as pa

from analysis.frames import with_constants
from analysis.results import Results
from analysis.until_clear import Wanted, until_clear
from engines.base import EngineSettings, RunSpec
from experiments.job import Job
from experiments.pipeline import Outcome, Plan, Steps
from experiments.results import FinishedRun, PlannedRun, make_table, runs_table
from experiments.runner import Batch
from experiments.seeds import derive_seed, study_seed
from networks.fitted_host import setting_of

SETTINGS_SCHEMA = pa.schema(
    [
        pa.field("trial", pa.int64(), nullable=False),
        pa.field("controller", pa.string(), nullable=False),
        pa.field("constants", pa.string(), nullable=False),
        pa.field("network", pa.string(), nullable=False),
        pa.field("host", pa.string(), nullable=False),  # JSON; "" for the network's own
    ]
)
Setting = tuple[str, str, str, str]
"""As in settings.parquet: controller, constants, network, host."""


def plan(job: Job, name: str) -> Plan:
    """Plans runs that depend on those of the audited studies, and on each other.

    Raises:
        KneepointError: a study has no results, or a network is not prepared.
    """
    results = Results(job.workflow, job.catalogue)
    studies = results.studies(only=job.workflow.audited)
    engine = job.engine()
    seed = study_seed(job.workflow.settings.seed, name)

    def steps() -> Steps:
        planned: dict[Setting, list[PlannedRun]] = {}
        asking = until_clear(results, studies, job.workflow.settings.audit.runs)
        try:
            wanted = next(asking)
            while True:
                for each in wanted:
                    setting = each.controller, each.constants, each.network, each.host
                    of_setting = planned.setdefault(setting, [])
                    trial = list(planned).index(setting)
                    of_setting += _runs(job, engine, each, trial, seed)
                finished = yield Batch(_in_order(planned.values()))
                wanted = asking.send(_frame(name, finished, list(planned)))
        except StopIteration:
            runs = _in_order(planned.values())
            message = f"{len(runs)} runs of {len(planned)} settings"
            return Outcome(runs, message, {"settings.parquet": _settings(planned)})

    return Plan(engine, None, steps())


def _runs(
    job: Job, engine: EngineSettings, wanted: Wanted, trial: int, seed: int
) -> list[PlannedRun]:
    """A seed depends on the setting and the run's number, not on other runs."""
    controller = job.controller(wanted.controller)
    network = job.network(wanted.network)
    for name, value in (json.loads(wanted.host) if wanted.host else {}).items():
        value = round(value) if name.endswith("_us") else value
        network = network.with_host(setting_of(name), value)
    parts = (wanted.controller, wanted.constants, wanted.network, wanted.host)
    return [
        PlannedRun(
            trial,
            run,
            None,
            RunSpec.on(
                engine=engine,
                controller=controller,
                constants=controller.complete(json.loads(wanted.constants), "added_runs"),
                network=network,
                seed=derive_seed(seed, *parts, run),
            ),
        )
        for run in range(wanted.first, wanted.first + wanted.runs)
    ]


def _in_order(planned: Iterable[Sequence[PlannedRun]]) -> list[PlannedRun]:
    return [run for of_setting in planned for run in of_setting]


def _frame(name: str, finished: Iterable[FinishedRun], settings: Sequence[Setting]) -> pd.DataFrame:
    """The runs as `Results.added_runs` reads them."""
    runs = with_constants(runs_table(name, finished).to_pandas())
    return runs.assign(host=[settings[trial][-1] for trial in runs["trial"]])


def _settings(settings: Iterable[Setting]) -> pa.Table:
    names = SETTINGS_SCHEMA.names
    rows = [dict(zip(names, (trial, *each), strict=True)) for trial, each in enumerate(settings)]
    return make_table(rows, SETTINGS_SCHEMA)

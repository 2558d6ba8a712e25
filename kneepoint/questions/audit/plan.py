"""Adds runs of published rows to the studies' runs until every row has a clear verdict.

Each step audits all runs so far and adds runs to the rows whose verdicts are unclear. The added
runs follow from results alone, independent of the order of execution. settings.parquet has a row
for each setting, which is one trial; another host makes another setting.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import pandas as pd
import pyarrow as pa

from kneepoint.analysis.frames import Record, records
from kneepoint.analysis.results import Results
from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import from_rows
from kneepoint.engines.base import EngineSettings, RunSpec
from kneepoint.networks.fitted_host import setting_of
from kneepoint.questions.audit import Settings, tables
from kneepoint.questions.audit.beside import host_ends, replayed
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Outcome, Plan, Steps
from kneepoint.runs.results import FinishedRun, PlannedRun, runs_table
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed

TABLES = (tables.SETTINGS,)
Setting = tuple[str, str, str, str]
"""A setting as in settings.parquet: controller, parameters, network, host."""


def plan(job: Job, name: str) -> Plan:
    """Plans runs that depend on the audited studies' runs, and on each other.

    Raises:
        KneepointError: a study has no results, or a network is not prepared.
    """
    results = Results(job.workflow, job.catalogue)
    results.part(replayed)  # raises its errors before anything runs
    engine = job.engine()
    seed = derive_seed(job.workflow.settings.seed, name)

    def steps() -> Steps:
        planned: dict[Setting, list[PlannedRun]] = {}
        finished: Sequence[FinishedRun] = ()

        def current() -> Results:
            runs = runs_table(name, finished).to_pandas()
            return results.with_part(
                tables.added_runs, tables.added_frame(runs, [host for *_, host in planned])
            )

        for wanted in until_clear(current, job.workflow.settings.part(Settings).audit.runs):
            for setting, more in wanted.items():
                of_setting = planned.setdefault(setting, [])
                trial, first = list(planned).index(setting), len(of_setting)
                numbers = range(first, first + more)
                of_setting += _runs(job, engine, setting, trial, numbers, seed)
            finished = list((yield Batch([*chain(*planned.values())])))
        runs = [*chain(*planned.values())]
        message = f"{len(runs)} runs of {len(planned)} settings"
        return Outcome(runs, message, {"settings.parquet": _settings(planned)})

    return Plan(engine, None, steps())


def until_clear(
    current: Callable[[], Results], steps: Sequence[int]
) -> Iterator[Mapping[Setting, int]]:
    """Yields the number of further runs of each setting, step by step.

    At each step, rows that are unclear or off get the step's number of runs: few runs may have
    missed a tail that explains a row. Rows that are still off also get the runs of the first step
    on the hosts at the ends of the intervals to which a fit narrows their network's host.

    Args:
        current: returns the results with all runs added so far.
        steps: numbers of runs, in ascending order.
    """
    rows = _audited(current())
    for step in steps:
        is_unclear = ~rows["clear"] | _are_off(rows)
        if wanted := _lacking(rows[is_unclear & (rows["runs"] < step)], step):
            yield wanted
            rows = _audited(current())
    if wanted := _on_other_hosts(rows[_are_off(rows)], current(), steps[0]):
        yield wanted


def _audited(results: Results) -> pd.DataFrame:
    columns = ["clear", "verdict", "checks", "runs", "controller", "parameters", "network"]
    return tables.compute(results, {})["audit"].reindex(columns=columns)


def _are_off(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Returns which rows are off on the evidence of our runs alone."""
    return (rows["verdict"] == "unexplained") | (rows["checks"] == "replay")


def _lacking(rows: pd.DataFrame, step: int) -> dict[Setting, int]:
    """Returns the number of runs that each setting lacks; rows of one setting share its runs."""
    wanted: dict[Setting, int] = {}
    for row in records(rows):
        setting = _setting_of(row)
        wanted[setting] = max(step - int(row["runs"]), wanted.get(setting, 0))
    return wanted


def _on_other_hosts(rows: pd.DataFrame, results: Results, runs: int) -> dict[Setting, int]:
    """Returns runs of each row on the hosts of `host_ends`."""
    ends = {network: host_ends(str(network), results) for network in rows["network"].unique()}
    settings = (_setting_of(row, end) for row in records(rows) for end in ends[row["network"]])
    return dict.fromkeys(settings, runs)


def _setting_of(row: Record, host: Mapping[str, float] | None = None) -> Setting:
    return row["controller"], row["parameters"], row["network"], json.dumps(host) if host else ""


def _runs(
    job: Job, engine: EngineSettings, setting: Setting, trial: int, numbers: range, seed: int
) -> list[PlannedRun]:
    """Returns the runs of a setting; seeds depend on the setting and the run's number only."""
    controller, network = job.controller(setting[0]), job.network(setting[2])
    for name, value in parse_json(setting[3] or "{}").items():
        value = round(value) if name.endswith("_us") else value
        network = network.with_host(setting_of(name), value)
    parameters = controller.complete(parse_json(setting[1]), "added_runs")
    return [
        PlannedRun(
            trial,
            run,
            None,
            RunSpec.on(
                engine=engine,
                controller=controller,
                parameters=parameters,
                network=network,
                seed=derive_seed(seed, *setting, run),
            ),
        )
        for run in numbers
    ]


def _settings(settings: Iterable[Setting]) -> pa.Table:
    names = tables.SETTINGS.names
    rows = [dict(zip(names, (trial, *each), strict=True)) for trial, each in enumerate(settings)]
    return from_rows(tables.SETTINGS, rows)

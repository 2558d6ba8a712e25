"""Tables with known honest and wrong rows, printed from our own runs with other seeds.

A pool has many runs of every setting: runs of a study, runs that may be added, and runs of which
one is printed as in reports: rounded or truncated, and in some tables as the best or the worst of
several runs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from kneepoint.analysis.frames import PARAMETER, STEP, Record, records
from kneepoint.analysis.further_run import Selection
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT, resolution
from kneepoint.analysis.results import Results
from kneepoint.questions.audit.plan import until_clear
from kneepoint.questions.audit.tables import added_runs, compute
from tests.analysis import synthetic

STUDIED, ADDED, PRINTED = 5, 30, 20
"""The numbers of runs of each setting that a study has, that may be added, and that may be
printed."""
POOL = STUDIED + ADDED + PRINTED
STEPS = (10, 30)
"""As in kneepoint.questions.audit.Audit."""
SELECTED_OF = 5
SIZES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
ALONE, FOLLOWS, ONLY = "alone", "with its power", "printed alone"
WAYS = (
    *((metric, ALONE) for metric in (THROUGHPUT, SIGNAL_DELAY, POWER)),
    *((metric, FOLLOWS) for metric in (THROUGHPUT, SIGNAL_DELAY)),
    (POWER, ONLY),
)
"""The wrong number: one of three, one of two that determine power, or the only number."""
EVERY = 8
"""One in EVERY rows of a table is made wrong, but at least one row."""

Setting = tuple[str, str, str]
"""Controller, parameters as JSON, network."""
Pool = Mapping[Setting, pd.DataFrame]
"""POOL runs of each setting."""


@dataclass(frozen=True)
class Fault:
    """The error planted in a row, and its size; none in an honest row."""

    metric: str = ""
    way: str = ""
    size: float = 0.0


def with_all(pool: Pool, setting: Setting, **figures: float) -> Pool:
    """Returns the pool with these further figures in every run of a setting."""
    return {**pool, setting: pool[setting].assign(**figures)}


def setting_of(row: Record) -> Setting:
    """Returns the setting of a published row, which has a column parameters."""
    return row["controller"], row["parameters"], row["network"]


def stated(row: Record) -> dict[str, float]:
    """Returns the parameters that a published row prints."""
    return {
        name.removeprefix(PARAMETER): value
        for name, value in row.items()
        if name.startswith(PARAMETER) and value == value
    }


def verdicts(published: pd.DataFrame, pool: Pool, seed: int, wrong: bool) -> pd.DataFrame:
    """Returns the audit of one printing of the tables.

    Args:
        published: their rows, as `Results.published`, with the parameters of each as JSON.
        pool: runs of the setting of each row.
        seed: of all random draws.
        wrong: whether some rows are made wrong.

    Returns:
        The table audit with columns selected, metric, way and size (see Fault).
    """
    random = np.random.default_rng(seed)
    shuffled = {each: runs.iloc[random.permutation(POOL)] for each, runs in pool.items()}
    tables, studies, sources, faults = [], [], {}, []
    for table, rows in ((str(name), each) for name, each in published.groupby("table", sort=False)):
        selection = _selection(random)
        if selection:
            of = (selection.least, selection.most)
            sources[table] = synthetic.DESCRIPTION.model_copy(
                update={"selected": selection.extreme, "selected_of": of}
            )
        chosen = _chosen(rows, random) if wrong else set()
        cuts_off = random.random() < 1 / 3
        printed, studied = [], []
        for place, row in enumerate(records(_with_steps(rows))):
            runs = shuffled[setting_of(row)]
            fault = _fault(row, random) if place in chosen else Fault()
            run = _one_of(runs[STUDIED + ADDED :], selection, random)
            printed.append(_print(row, run, fault, random.random() < 0.5, cuts_off))
            faults.append({"table": table, "row": row["row"], **vars(fault)})
            studied += records(runs[:STUDIED].assign(trial=place))
        tables.append(pd.DataFrame(printed))
        studies.append(synthetic.study(table, studied, compare=(table,)))
    results = synthetic.MadeUp(
        published=pd.concat(tables, ignore_index=True), sources=sources, studies=studies
    )
    found = compute(_with_added(results, shuffled), {})["audit"]
    found = found.assign(selected=found["table"].isin(sources))
    return found.merge(pd.DataFrame(faults), on=["table", "row"])


def _with_added(results: Results, pool: Pool) -> Results:
    """Returns the results with the requested runs, from the part of the pool that may be added."""
    added: dict[Setting, pd.DataFrame] = {}

    def current() -> Results:
        runs = [runs.assign(host="") for runs in added.values()]
        return (
            results.with_part(added_runs, pd.concat(runs, ignore_index=True)) if runs else results
        )

    for wanted in until_clear(current, STEPS):
        for (*setting, _), more in wanted.items():
            controller, parameters, network = setting
            key = controller, parameters, network
            number = len(added.get(key, ())) + more
            added[key] = pool[key][STUDIED : STUDIED + ADDED][:number]
    return current()


def _selection(random: np.random.Generator) -> Selection | None:
    """Returns a selection for a quarter of the tables; half of the selections state the number of
    runs."""
    if random.random() < 3 / 4:
        return None
    extreme: Literal["best", "worst"] = "best" if random.random() < 1 / 2 else "worst"
    stated = (SELECTED_OF, SELECTED_OF) if random.random() < 1 / 2 else ()
    return Selection(extreme, *stated)


def _one_of(runs: pd.DataFrame, selection: Selection | None, random: np.random.Generator) -> Record:
    """Returns the printed run."""
    tried = runs.iloc[random.permutation(len(runs))[: SELECTED_OF if selection else 1]]
    order = tried.sort_values(POWER, kind="stable")
    return records(order)[-1 if selection is None or selection.extreme == "best" else 0]


def _with_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows with one unit of each last digit, counting dropped zeros as digits."""
    shown = rows.rename(columns={metric: f"published_{metric}" for metric in METRICS})
    steps = {STEP + m: resolution(shown, m) for m in METRICS if m in rows}
    return rows.assign(**steps)


def _chosen(rows: pd.DataFrame, random: np.random.Generator) -> set[int]:
    number = max(1, len(rows) // EVERY)
    return {int(each) for each in random.choice(len(rows), number, replace=False)}


def _fault(row: Record, random: np.random.Generator) -> Fault:
    prints = {metric for metric in METRICS if row.get(metric) == row.get(metric, np.nan)}
    all_three = {THROUGHPUT, SIGNAL_DELAY, POWER} <= prints
    fitting = [
        (metric, way)
        for metric, way in WAYS
        if (way == ONLY and prints == {POWER}) or (way != ONLY and all_three)
    ]
    if not fitting:
        return Fault()
    metric, way = fitting[int(random.integers(len(fitting)))]
    return Fault(metric, way, SIZES[int(random.integers(len(SIZES)))])


def _print(row: Record, run: Record, fault: Fault, is_more: bool, cuts_off: bool) -> Record:
    """Returns the row with the run's numbers, one of which may be wrong."""
    numbers = {metric: float(run[metric]) for metric in METRICS}
    if fault.metric:
        numbers[fault.metric] *= 1 + fault.size if is_more else 1 / (1 + fault.size)
    if fault.way == FOLLOWS:
        numbers[POWER] = 1e3 * numbers[THROUGHPUT] / numbers[SIGNAL_DELAY]
    shown = dict(row)
    for metric, number in numbers.items():
        if row.get(metric) == row.get(metric, np.nan):
            step = float(row[STEP + metric])
            digits = np.floor(number / step + 1e-9) if cuts_off else np.round(number / step)
            shown[metric] = float(digits) * step
    return shown

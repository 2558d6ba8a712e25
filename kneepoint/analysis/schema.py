"""The stages of the analysis, what each reads, and the schema of each table that it writes.

Delays are 95th percentiles. A relative difference is ours over theirs, less one.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import get_args

import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.metrics import METRICS, POWER
from kneepoint.common.notes import require_sealed
from kneepoint.common.tables import (
    Column,
    Kind,
    Table,
    TableFolder,
)
from kneepoint.runs.exchanged import AGREEMENT
from kneepoint.runs.question import Stage, counts, stages

NAMES = "names"
"""The table that every figure reads besides its own."""

_KINDS: Mapping[Kind, str] = {
    "text": (
        "comparison table verdict report kind controller network constants nearest failure name "
        "agreement checks wrong metric along other_table remark source held unstated selected "
        "network_title sweep constant unit best_study grid title x_name y_name x_unit y_unit "
        "search engine sampler objective traffic expression keeping "
        "published_table published_report published_constants origin study label "
        "published_study tuned_study tuned_table tuned_constants nearest_label "
        "specialist generalist whose setting why reason run flow quantity traffic_title "
        "parameter place position extreme opponent hardening printed status "
        "run_id"
    ),
    "texts": (
        "tables network_titles fit searched_by origins conflicts controllers "
        "wanted_engines traffic_titles"
    ),
    "whole": (
        "row mark runs settings failed other_row rows compared studies values best_trial "
        "best_runs networks group searched trials pairs ties near fitted_rows published_row "
        "trial rank line study_runs training_rank held_out_rank gap repeats published_trial "
        "tuned_trial tuned_row better worse other ahead succeeded published_n "
        "real_n emulated_n level concurrency slots cores one_in n_runs n emulator_n kernel_n "
        "flows repeat round worst_case_trials busy seed"
    ),
    "flag": (
        "replayable clear own host_fitted best tied agrees tunes stopped beyond logarithmic "
        "improved measured fresh on_front knee is_training inside is_best shown under_study"
    ),
}
"""What columns hold by their names; all others hold real numbers."""
_KIND_OF: Mapping[str, Kind] = {name: k for k, names in _KINDS.items() for name in names.split()}


def _table(
    name: str,
    meaning: str,
    *columns: str | Column,
    told: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> Table:
    """A table; a text names columns in order.

    `name?` may lack values, `<metric>` stands for each metric, and `name:whole` and
    `name:Mbit/s/s` differ in kind or unit from what their name says.
    """
    named = [[each] if isinstance(each, Column) else _columns(each) for each in columns]
    return Table(name, meaning, tuple(chain.from_iterable(named)), told)


def _columns(names: str) -> Iterator[Column]:
    for word in names.split():
        name, _, given = word.removesuffix("?").partition(":")
        kind = next((k for k in get_args(Kind) if k == given), _KIND_OF.get(name, "real"))
        for each in dict.fromkeys(name.replace("<metric>", metric) for metric in METRICS):
            unit = given if given != kind else ""
            yield Column(each, kind, unit or _unit(each), optional=word.endswith("?"))


def _unit(name: str) -> str:
    """The unit that a column's name says; a ratio has none."""
    if name.startswith(("relative_", "median_", "worst_", "log_")):
        return ""
    return METRICS[POWER].unit if name.endswith(POWER) else labels.unit(name).replace("µ", "u")


_AGREEMENT = (
    *AGREEMENT,
    "controller network constants origins rows:texts name label metric real_n emulated_n real_mean "
    "real_low real_high real_half_width emulated_mean expected_low expected_high "
    "expected_half_width difference relative inside? scheduling_ms usual_ms",
)

_REAL = (
    _table(
        "agreement",
        "the emulator against real mahimahi in a metric of a setting (constants are JSON), and "
        "why a real mean lies outside",
        *_AGREEMENT,
    ),
)

_AGAIN = (
    _table(
        "again",
        "a real mean outside its prediction interval, and the mean of further runs",
        *_AGREEMENT,
        "again_mean",
    ),
)

_HOST = (
    _table(
        "probe",
        "a run of the probe, its differences from runs alone, and its level: so many runs at "
        "once, and whether they agree with runs alone; slots: what the host takes of its cores; "
        "a run beyond busy_us is repeated",
        "level concurrency agrees reason controller failed:flag relative_throughput_mbps "
        "relative_signal_delay_p95_ms scheduling_delay_p99_us busy_us slots cores",
    ),
    _table(
        "scheduling_delays",
        "the scheduling delay that one wake-up in `one_in` reaches or exceeds",
        "one_in delay_us least_us greatest_us n_runs",
    ),
    _table(
        "calibration",
        "a trial of the fit of the emulated host to so many rows, the best first",
        "trial value controller rows constant_*",
    ),
    _table(
        "wake_spread",
        "how much runs vary, by the spread of the host's scheduling delay",
        "wake_spread emulated_deviation real_deviation is_best",
    ),
)

_INVENTORY = (
    _table(
        "inventory",
        "runs of a study, a comparison or the like; busy ones met a busy host before; of the "
        "kind `not run`: an experiment in real mahimahi that has not run; source, "
        "wanted_engines, traffic_titles: of a comparison",
        "name kind engine title controllers network_titles settings runs failed busy source? "
        "wanted_engines traffic_titles",
    ),
    _table(
        "constants",
        "the unit of a controller's parameter, as declared",
        "controller constant unit",
    ),
    _table(
        NAMES,
        "a parameter or controller as the report prints it",
        "name printed",
    ),
    _table(
        "exclusions",
        "runs that gave no result, grouped by reason",
        "study controller network constants status reason runs",
    ),
    _table(
        "settings_run",
        "a trial's setting on a network, and the first of its runs; table, row: what it replays; "
        "constants are JSON",
        "study trial table? row? engine controller constants network traffic? runs seed run_id",
        told=lambda rows: rows[:0],  # for `kneepoint again`, which asks which run made a number
    ),
)


def _stage(
    name: str,
    results: tuple[str, ...],
    reads: tuple[str, ...],
    tables: tuple[Table, ...],
    is_alone: bool = False,
) -> tuple[str, Stage, tuple[Table, ...]]:
    names = tuple(table.name for table in tables)
    return name, Stage(results, names, reads, is_alone, f"kneepoint.analysis.{name}"), tables


_STAGES = (
    _stage("agreement", ("confirm", "calibration"), (), _REAL, is_alone=True),
    _stage("again", ("calibration", "again"), ("agreement",), _AGAIN),
    _stage("host", ("probe", "calibration"), (), _HOST),
    _stage(
        "inventory",
        (
            *("studies", "published"),
            *("probe", "confirm", "real_studies"),
            *(group for counted in counts() for group in counted.results),
        ),
        (),
        _INVENTORY,
    ),
)

STAGES = {name: stage for name, stage, _ in _STAGES} | dict(stages())
"""Every stage, by its name; none reads a table of a later one."""
_OWN = {table.name: table for _, _, tables in _STAGES for table in tables}
_STAGE_OF = {table: name for name, stage in STAGES.items() for table in stage.tables}


class _Tables(Mapping[str, Table]):
    """The schemas, each from the module of its stage when it is first asked for."""

    def __getitem__(self, name: str) -> Table:
        if name in _OWN:
            return _OWN[name]
        module = import_module(STAGES[_STAGE_OF[name]].module)
        found: Table = next(table for table in module.TABLES if table.name == name)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_STAGE_OF)

    def __len__(self) -> int:
        return len(_STAGE_OF)


TABLES: Mapping[str, Table] = _Tables()
"""Every table, by its name."""


def tables_in(results: Path) -> TableFolder:
    """Returns the tables in a folder of results; refuses a table that has changed since."""

    def check(path: Path) -> None:
        require_sealed(sealed_as(path.parent, _STAGE_OF[path.stem]), path)

    return TableFolder(results, TABLES, check)


def sealed_as(results: Path, stage: str) -> str:
    """Returns the name under which a stage records the digests of its tables."""
    return f"{results}/stages/{stage}"

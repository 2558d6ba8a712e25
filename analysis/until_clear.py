"""Which runs a published row still needs: more of its own until its verdict is clear.

What is needed follows from results alone: it is the same whoever runs it, and in whatever order.
"""

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass

import pandas as pd

from analysis import audit
from analysis.frames import Record, records
from analysis.host_fits import host_ends
from analysis.results import Results, StudyRuns


@dataclass(frozen=True)
class Wanted:
    """Further runs of a setting: the numbers `first` to `first` + `runs` - 1.

    `constants` is the JSON of a run's; `host` that of the settings in which the host differs from
    the network's, "" for none.
    """

    controller: str
    constants: str
    network: str
    host: str
    first: int
    runs: int


def until_clear(
    results: Results, studies: Sequence[StudyRuns], steps: Sequence[int]
) -> Generator[list[Wanted], pd.DataFrame, pd.DataFrame]:
    """Yields what is needed next; is sent all the runs added so far; returns them at the end.

    At each step a row whose verdict is unclear gets as many runs as the step says, and so does one
    that is off: a few runs may have missed a tail that explains it. Rows that are off even then run
    as often as the first step says at either end of what a fit leaves open of their network's host.

    Args:
        results: what was published, and on which networks and hosts.
        studies: those that replay a table, or that fit a host.
        steps: numbers of runs, in ascending order.
    """
    added = pd.DataFrame()
    rows = audit.tables_of(results, studies, added)["audit"]
    if rows.empty:
        return added
    for step in steps:
        is_unclear = ~rows["clear"] | _are_off(rows)
        if wanted := _more(rows[is_unclear & (rows["runs"] < step)], added, step):
            added = yield wanted
            rows = audit.tables_of(results, studies, added)["audit"]
    if wanted := _on_other_hosts(rows[_are_off(rows)], results, studies, steps[0]):
        added = yield wanted
    return added


def _are_off(rows: pd.DataFrame) -> "pd.Series[bool]":
    """Which rows are off, and only our runs say so."""
    return (rows["verdict"] == "unexplained") | (rows["checks"] == "replay")


def _more(rows: pd.DataFrame, added: pd.DataFrame, step: int) -> list[Wanted]:
    """The runs that each row lacks; rows of one setting share its runs."""
    keys = ["controller", "constants", "network"]
    done = added.groupby(keys).size().to_dict() if len(added) else {}
    wanted: dict[tuple[str, str, str], Wanted] = {}
    for row in records(rows):
        setting = controller, constants, network = _setting_of(row)
        first = int(done.get(setting, 0))
        one = Wanted(controller, constants, network, "", first, step - int(row["runs"]))
        wanted[setting] = max(one, wanted.get(setting, one), key=lambda each: each.runs)
    return list(wanted.values())


def _on_other_hosts(
    rows: pd.DataFrame, results: Results, studies: Sequence[StudyRuns], runs: int
) -> list[Wanted]:
    """Runs of each row at the ends that a fit leaves its network's host."""
    published = results.published()
    ends = {
        network: host_ends(str(network), studies, results.hosts, published)
        for network in rows["network"].unique()
    }
    wanted = [
        Wanted(*_setting_of(row), json.dumps(end), 0, runs)
        for row in records(rows)
        for end in ends[row["network"]]
    ]
    return list(dict.fromkeys(wanted))


def _setting_of(row: Record) -> tuple[str, str, str]:
    return row["controller"], row["constants"], row["network"]

"""`kneepoint status`: the progress of a running workflow, experiment by experiment."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from common import made_by
from common.errors import KneepointError
from common.files import hold_lock
from experiments.config import load_workflow
from experiments.progress import read_counted
from experiments.registry import experiments_of
from experiments.workflow import Workflow
from kneepoint.cli import columns, config_option, examples, json_option, print_result

_Best = tuple[int, float | None]
"""Number of trials, and the best value."""


@dataclass(frozen=True)
class State:
    """Progress of an experiment; None stands for a value that is unknown or does not apply.

    Args:
        name: folder in the results.
        state: done, running or waiting.
        trials: finished trials.
        best_in_search: best value among them.
        runs: finished runs.
        total: planned runs.
        rate: runs per second.
        left_s: estimated time for the remaining runs (s).
    """

    name: str
    state: str
    trials: int | None = None
    best_in_search: float | None = None
    runs: int | None = None
    total: int | None = None
    rate: float | None = None
    left_s: float | None = None


@click.command()
@examples("""
    kneepoint status
    watch kneepoint status
    kneepoint status --json --config config/offline.yaml
""")
@click.option("--all", "all_", is_flag=True, help="Include real-time experiments.")
@config_option
@json_option
def command(all_: bool, config: Path, as_json: bool) -> None:
    """Show which experiments are done, running and waiting, and their progress."""
    states = Watch(load_workflow(config), all_).look()
    print_result([asdict(each) for each in states], _text(states), as_json)


class Watch:
    """Polls the experiments of a workflow.

    Args:
        workflow: the configuration.
        with_real: whether to include real-time experiments without results.
    """

    def __init__(self, workflow: Workflow, with_real: bool = False) -> None:
        self._results = workflow.results
        self._experiments = {
            name: experiment.is_real and not with_real
            for name, experiment in experiments_of(workflow).items()
        }
        self._known: dict[str, tuple[float, _Best]] = {}

    def look(self) -> list[State]:
        """Returns the current state of each experiment."""
        return [
            self._state_of(name, *self._searched(name))
            for name, is_optional in self._experiments.items()
            if not is_optional or (self._results / name).exists()
        ]

    def _state_of(self, name: str, trials: int | None, best: float | None) -> State:
        folder = self._results / name
        if _is_running(folder):
            counted = read_counted(name)
            if counted is None:
                return State(name, "running", trials, best)
            figures = counted.done, counted.total, counted.rate, counted.left_s
            return State(name, "running", trials, best, *figures)
        is_done = (folder / made_by.NAME).exists()
        return State(name, "done" if is_done else "waiting", trials, best)

    def _searched(self, name: str) -> tuple[int | None, float | None]:
        """Number of trials and best value of a study; None for no study or several objectives."""
        from search.trial_log import LOG, read_trials  # pyarrow takes a quarter of a second

        path = self._results / name / LOG
        if not path.exists():
            return None, None
        changed_s = path.stat().st_mtime
        if self._known.get(name, (None,))[0] != changed_s:
            self._known[name] = changed_s, _best_of(*read_trials(path.parent))
        return self._known[name][1]


def _best_of(study: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> _Best:
    from experiments.results import OBJECTIVES

    if not rows or OBJECTIVES[0] in rows[0]:
        return len(rows), None
    choose = min if study["direction"] == "minimize" else max
    values = (row["value"] for row in rows if row["state"] == "COMPLETE")
    return len(rows), choose(values, default=None)


def _is_running(folder: Path) -> bool:
    """Whether a process holds the folder's lock."""
    if not (folder / ".lock").exists():
        return False
    try:
        hold_lock(folder / ".lock").close()
    except KneepointError:
        return True
    return False


def cells_of(states: Sequence[State]) -> list[tuple[str, ...]]:
    """Returns a table of experiments, header first."""
    rows: list[tuple[str, ...]] = [
        ("experiment", "state", "trials", "best in search", "runs", "runs/s", "left")
    ]
    rows += [
        (
            each.name,
            each.state,
            _number(each.trials, "d"),
            _number(each.best_in_search, ".5g"),
            _number(each.runs, "d") + (f" of {each.total}" if each.total else ""),
            _number(each.rate, ".1f"),
            "" if each.left_s is None else f"{each.left_s:.0f} s",
        )
        for each in states
    ]
    return rows


def summary_of(states: Sequence[State]) -> str:
    """Returns how many experiments are in each state."""
    counts = [
        f"{sum(each.state == state for each in states)} {state}"
        for state in ("done", "running", "waiting")
    ]
    return ", ".join(counts)


def _text(states: Sequence[State]) -> str:
    left = [each for each in states if each.state != "done"]
    return f"{columns(cells_of(left))}\n\n{summary_of(states)}" if left else summary_of(states)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)

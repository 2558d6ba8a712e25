"""The progress of a running workflow, experiment by experiment."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kneepoint.common import made_by
from kneepoint.common.columns import columns
from kneepoint.common.files import is_held
from kneepoint.common.study_record import StudyRecord, natural_value
from kneepoint.config.workflow import Workflow
from kneepoint.runs.progress import read_progress
from kneepoint.runs.registry import experiments_of


@dataclass(frozen=True)
class State:
    """Progress of an experiment: done, running or waiting.

    None stands for a value that is unknown or does not apply; `rate` is in runs per second. Once a
    study is done, `best` is its best setting's value with fresh seeds. `failed` counts runs while
    it is running, then trials.
    """

    name: str
    state: str
    trials: int | None = None
    best_in_search: float | None = None
    runs: int | None = None
    total: int | None = None
    rate: float | None = None
    left_s: float | None = None
    best: float | None = None
    failed: int = 0
    reason: str = ""


def states_of(workflow: Workflow, with_real: bool = False) -> list[State]:
    """Returns the current state of each experiment.

    `with_real` includes real-time experiments without results.
    """
    return [
        _state_of(name, workflow.results / name)
        for name, experiment in experiments_of(workflow).items()
        if with_real or not experiment.needs_confirm or (workflow.results / name).exists()
    ]


def _state_of(name: str, folder: Path) -> State:
    trials, best = _searched(folder)
    lock = folder / ".lock"
    if lock.exists() and is_held(lock):
        counted = read_progress(name)
        if counted is None:
            return State(name, "running", trials, best)
        figures = counted.done, counted.total, counted.rate, counted.left_s
        return State(
            name, "running", trials, best, *figures, failed=counted.failed, reason=counted.reason
        )
    if not (folder / made_by.NAME).exists():
        return State(name, "waiting", trials, best)
    path = folder / "study.json"
    if trials is None or not path.exists():
        return State(name, "done", trials, best)
    stated, failed, reason = outcome_of(path, path.stat().st_mtime)
    return State(name, "done", trials, best, best=stated, failed=failed, reason=reason)


@cache
def outcome_of(path: Path, _changed_s: float) -> tuple[float | None, int, str]:
    """Returns the best value of a finished study, and the number of failed trials with reasons."""
    found = StudyRecord.load(path)
    best = (
        None if found.table or not found.best else natural_value(found.objective, found.best.value)
    )
    return best, found.failed.trials, str(found.failed) if found.failed.trials else ""


def _searched(folder: Path) -> tuple[int | None, float | None]:
    """Number of trials and best value of a study; None for no study or several objectives."""
    from kneepoint.search.trial_log import TRIAL_LOG  # pyarrow takes a quarter of a second

    try:
        changed_s = (folder / TRIAL_LOG).stat().st_mtime
    except FileNotFoundError:
        return None, None
    return _read_searched(folder, changed_s)


@cache
def _read_searched(folder: Path, _changed_s: float) -> tuple[int, float | None]:
    from kneepoint.runs.results import OBJECTIVES
    from kneepoint.search.trial_log import read_trials

    study, rows = read_trials(folder)
    if not rows or OBJECTIVES[0] in rows[0] or study.get("table"):
        return len(rows), None
    choose = min if study["direction"] == "minimize" else max
    values = [row["value"] for row in rows if row["state"] == "COMPLETE" and row["power"] >= 0]
    return len(rows), natural_value(study.get("objective", ""), choose(values)) if values else None


def table_of(states: Sequence[State]) -> str:
    """Returns experiments and their progress, with a header."""
    rows: list[tuple[str, ...]] = [
        ("experiment", "state", "trials", "best in search", "runs", "failed", "runs/s", "left")
    ]
    rows += [
        (
            each.name,
            each.state,
            _number(each.trials, "d"),
            _number(each.best_in_search, ".5g"),
            _number(each.runs, "d") + (f" of {each.total}" if each.total else ""),
            str(each.failed or ""),
            _number(each.rate, ".1f"),
            "" if each.left_s is None else f"{each.left_s:.0f} s",
        )
        for each in states
    ]
    return columns(rows)


def summary_of(states: Sequence[State]) -> str:
    """Returns the number of experiments in each state, as text."""
    counts = [
        f"{sum(each.state == state for each in states)} {state}"
        for state in ("done", "running", "waiting")
    ]
    return ", ".join(counts)


def failure_of(state: State) -> str:
    """Returns the number of failed runs or trials of an experiment, and a reason, or ""."""
    if not state.failed:
        return ""
    runs = "a run" if state.failed == 1 else f"{state.failed} runs"
    what = runs if state.state == "running" else f"{state.failed} of {state.trials} trials"
    return f"{state.name}: {what} failed: {state.reason}"


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)

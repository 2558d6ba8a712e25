"""`kneepoint status`: the progress of a running workflow, experiment by experiment."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from common.errors import KneepointError
from common.files import hold_lock
from experiments.config import load_workflow
from experiments.progress import read_counted
from experiments.registry import experiments_of
from kneepoint.cli import columns, config_option, examples, json_option, say


@dataclass(frozen=True)
class State:
    """Progress of an experiment; None stands for a value that is unknown or does not apply.

    Args:
    name: folder in the results.
        state: done, running or waiting.
    trials: trials told so far.
    best: best value among them.
    runs: finished runs.
    total: planned runs.
    rate: runs per second.
    left_s: estimated time for the remaining runs (s).
    """

    name: str
    state: str
    trials: int | None = None
    best: float | None = None
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
    """Show which experiments are done, running and waiting, and how far they have come."""
    states = list(look(config, all_))
    say([asdict(each) for each in states], _text(states), as_json)


def look(config: Path, with_real: bool) -> Iterator[State]:
    """Yields the current state of each experiment of a configuration."""
    workflow = load_workflow(config)
    told = _told(workflow.results)
    for name, experiment in experiments_of(workflow).items():
        folder = workflow.results / name
        if experiment.is_real and not (with_real or folder.exists()):
            continue
        trials, best = told.get(name, (None, None))
        if _is_running(folder):
            counted = read_counted(name)
            if counted is None:
                yield State(name, "running", trials, best)
            else:
                figures = counted.done, counted.total, counted.rate, counted.left_s
                yield State(name, "running", trials, best, *figures)
        else:
            is_done = (folder / "made_by.json").exists()
            yield State(name, "done" if is_done else "waiting", trials, best)


def _is_running(folder: Path) -> bool:
    """Whether a process holds the folder's lock."""
    if not (folder / ".lock").exists():
        return False
    try:
        hold_lock(folder / ".lock").close()
    except KneepointError:
        return True
    return False


def _told(results: Path) -> dict[str, tuple[int, float | None]]:
    """Number of trials and best value of each study."""
    from optuna.study import StudyDirection

    from search.all_studies import AllStudies  # optuna takes a third of a second

    studies = AllStudies(results)
    found = {}
    for study in studies.get_all_studies():
        trials = studies.get_all_trials(study._study_id, deepcopy=False)
        values = [trial.values[0] for trial in trials if trial.values]
        choose = min if study.direction == StudyDirection.MINIMIZE else max
        found[study.study_name] = len(trials), choose(values, default=None)
    return found


def _text(states: list[State]) -> str:
    rows = [("experiment", "state", "trials", "best", "runs", "runs/s", "left")]
    rows += [
        (
            each.name,
            each.state,
            _number(each.trials, "d"),
            _number(each.best, ".5g"),
            _number(each.runs, "d") + (f" of {each.total}" if each.total else ""),
            _number(each.rate, ".1f"),
            "" if each.left_s is None else f"{each.left_s:.0f} s",
        )
        for each in states
        if each.state != "done"
    ]
    counts = {
        state: sum(each.state == state for each in states)
        for state in ("done", "running", "waiting")
    }
    summary = ", ".join(f"{count} {state}" for state, count in counts.items())
    return f"{columns(rows)}\n\n{summary}" if len(rows) > 1 else summary


def _number(value: float | None, form: str) -> str:
    return "" if value is None else format(value, form)

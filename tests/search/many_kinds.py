"""Logs with everything that a study may have: values, a front, constraints, stopped trials."""

from pathlib import Path
from typing import Any

from kneepoint.runs.results import FinishedTrial
from kneepoint.search.trial_log import open_log


def trial(number: int, value: float = 0.0, **changes: Any) -> FinishedTrial:
    """Returns a trial of delay_threshold's alpha: `number` + 1."""
    alpha = number + 1.0
    means = {
        "throughput_mbps": alpha,
        "queueing_delay_p95_ms": 60 * alpha,
        "signal_delay_p95_ms": 100 * alpha,
        "power": 10.0,
    }
    searched = {"parameter_rtt_threshold_ms": 10 * alpha, "parameter_alpha": alpha}
    return FinishedTrial(number, searched, value, "", means, 1, **changes)


def add(results: Path, name: str, trials: list[FinishedTrial], **known: Any) -> None:
    """Writes the log of a study."""
    (results / name).mkdir(parents=True, exist_ok=True)
    searched = [
        {"column": "parameter_rtt_threshold_ms", "low": 1.0, "high": 1000.0, "log": False},
        {"column": "parameter_alpha", "low": 0.1, "high": 100.0, "log": False},
    ]
    attributes = {
        "name": name,
        "title": f"The {name}",
        "controller": "delay_threshold",
        "engine": "emulator",
        "networks": ["contest", "steady"],
        "objective": "mean power",
        "direction": "maximize",
        "searched": searched,
        "units": {"parameter_rtt_threshold_ms": "ms", "parameter_alpha": "packets"},
        **known,
    }
    with open_log(results / name, name, attributes) as record:
        for each in trials:
            record(each)


def write(results: Path) -> None:
    """Writes two studies: a race with a stopped trial, and a front with a constraint."""
    raced = [
        trial(0, 20.5, reports=[21.0, 20.5]),
        trial(1, 1.25, reports=[1.5, 1.25], is_stopped=True),
        trial(2, 0.0),
    ]
    add(results, "raced", raced, title="Delay threshold, raced")
    front = [
        trial(0, objectives=(1.0, 90.0), violation=-10.0),
        trial(1, objectives=(2.0, 100.0), violation=0.0),
        trial(2, objectives=(1.5, 120.0), violation=20.0),
    ]
    title = "Throughput against delay"
    add(results, "front", front, title=title, objective="throughput, signal delay")

"""Journals with everything that a study may have: values, a front, constraints, pruned trials."""

from pathlib import Path
from typing import Any

from optuna.distributions import FloatDistribution
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial

MAXIMIZE, MINIMIZE = StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE


def trial(alpha: float, **changes: Any) -> FrozenTrial:
    """Returns a trial of delay_threshold's alpha."""
    return create_trial(
        params={"constant_rtt_threshold_ms": 10 * alpha, "constant_alpha": alpha},
        distributions={
            "constant_rtt_threshold_ms": FloatDistribution(1, 1000),
            "constant_alpha": FloatDistribution(0.1, 100),
        },
        user_attrs={"throughput_mbps": alpha, "signal_delay_p95_ms": 100 * alpha},
        **changes,
    )


def write(results: Path) -> None:
    """Writes two studies: of power with pruned trials, and of two objectives with a constraint."""
    pruned = {"state": TrialState.PRUNED, "intermediate_values": {0: 1.5, 1: 1.25}, "value": 1.25}
    _write(
        results / "raced",
        [MAXIMIZE],
        {"objective": "mean power", "title": "Delay threshold, raced"},
        [
            trial(1, value=20.5, intermediate_values={0: 21.0, 1: 20.5}),
            trial(2, **pruned),
            trial(3, value=0.0),
        ],
        {},
    )
    _write(
        results / "front",
        [MAXIMIZE, MINIMIZE],
        {"objective": "throughput, signal delay", "title": "Throughput against delay"},
        [
            trial(1, values=[1, 90], system_attrs={"constraints": [-10.0]}),
            trial(2, values=[2, 100], system_attrs={"constraints": [0.0]}),
            trial(3, values=[1.5, 120], system_attrs={"constraints": [20.0]}),
        ],
        {"study:metric_names": ["throughput (Mbit/s)", "signal delay (ms)"]},
    )


def _write(
    folder: Path,
    directions: list[StudyDirection],
    known: dict[str, Any],
    trials: list[FrozenTrial],
    system: dict[str, Any],
) -> None:
    folder.mkdir(parents=True)
    storage = JournalStorage(JournalFileBackend(str(folder / "optuna.journal")))
    study_id = storage.create_new_study(directions, folder.name)
    attributes = {
        "controller": "delay_threshold",
        "engine": "emulator",
        "networks": ["contest", "steady"],
        "units": {"constant_rtt_threshold_ms": "ms", "constant_alpha": "packets"},
        **known,
    }
    for key, value in attributes.items():
        storage.set_study_user_attr(study_id, key, value)
    for key, value in system.items():
        storage.set_study_system_attr(study_id, key, value)
    for each in trials:
        storage.create_new_trial(study_id, each)

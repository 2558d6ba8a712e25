"""Copies all studies into a database of Optuna's, such as its browser-only dashboard opens.

    python -m search.storage_copy --config config/config.yaml            results/studies.sqlite3

Nothing is ever read from it to go on with a study.
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, RDBStorage
from optuna.study._frozen import FrozenStudy

from common.config_file import read_config
from common.errors import run_command_line
from experiments.config import Settings
from search.readable import ReadableStudies

FILE = "studies.sqlite3"


def copy_studies(source: BaseStorage, target: BaseStorage) -> int:
    """Copies every study that is not there as it is; returns how many it copied.

    An older study of the same name gives way. A trial takes some milliseconds.
    """
    there = {study.study_name: study for study in target.get_all_studies()}
    copied = 0
    for study in source.get_all_studies():
        older = there.get(study.study_name)
        if older and _content(source, study) == _content(target, older):
            continue
        if older:
            target.delete_study(older._study_id)
        copied += 1
        study_id = target.create_new_study(study.directions, study.study_name)
        for key, value in study.user_attrs.items():
            target.set_study_user_attr(study_id, key, value)
        for key, value in study.system_attrs.items():
            target.set_study_system_attr(study_id, key, value)
        for trial in source.get_all_trials(study._study_id, deepcopy=False):
            target.create_new_trial(study_id, trial)
    return copied


def _content(storage: BaseStorage, study: FrozenStudy) -> tuple[Any, ...]:
    """Returns all that is copied."""
    trials = storage.get_all_trials(study._study_id, deepcopy=False)
    kept = ("state", "values", "params", "user_attrs", "system_attrs", "intermediate_values")
    of_trials = [[getattr(trial, name) for name in kept] for trial in trials]
    return study.directions, study.user_attrs, study.system_attrs, of_trials


def write_sqlite(results: Path) -> Path:
    """Writes one file of all studies, which appears whole; returns its path."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    path = results / FILE
    part = path.with_name(f".{path.name}.new")
    part.unlink(missing_ok=True)
    if path.is_file():
        shutil.copyfile(path, part)
    storage = RDBStorage(f"sqlite:///{part}")
    copy_studies(ReadableStudies(results), storage)
    storage.engine.dispose()
    part.replace(path)
    return path


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    arguments = parser.parse_args()
    print(write_sqlite(read_config(arguments.config, Settings).results))


if __name__ == "__main__":
    run_command_line(main)

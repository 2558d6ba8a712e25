"""Copies all studies into a database of Optuna's, such as its browser-only dashboard opens.

    python -m search.storage_copy --config config/config.yaml            results/studies.sqlite3
    python -m search.storage_copy --config config/config.yaml --url postgresql+psycopg://HOST/NAME

No study resumes from it.
"""

import argparse
import shutil
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, RDBStorage
from optuna.study._frozen import FrozenStudy
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from common.config_file import read_config
from common.errors import KneepointError, run_command_line
from experiments.models.settings import Settings
from search.readable import ReadableStudies
from search.rebuild import rebuild_missing

FILE = "studies.sqlite3"


def copy_studies(source: BaseStorage, target: BaseStorage) -> int:
    """Copies every study that is new or has changed; returns their number.

    It replaces an older study of the same name. A trial takes some milliseconds.
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
    """Writes one file of all studies atomically; returns its path."""
    path = results / FILE
    part = path.with_name(f".{path.name}.new")
    part.unlink(missing_ok=True)
    if path.is_file():
        shutil.copyfile(path, part)
    storage = open_storage(f"sqlite:///{part}")
    copy_studies(_studies(results), storage)
    storage.engine.dispose()
    part.replace(path)
    return path


def write_to(results: Path, url: str) -> int:
    """Copies all studies to the database at a URL; returns how many were new or had changed.

    Raises:
        KneepointError: it cannot be reached.
    """
    storage = open_storage(url)
    copied = copy_studies(_studies(results), storage)
    storage.engine.dispose()
    return copied


def open_storage(url: str) -> RDBStorage:
    """Opens a database, and creates Optuna's tables if they are missing.

    Raises:
        KneepointError: it cannot be reached.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    shown, secrets = _public_part(url)
    try:
        literal = url.replace("{", "{{").replace("}", "}}")  # Optuna formats it
        return RDBStorage(literal, engine_kwargs={"pool_pre_ping": True})
    except ImportError:
        raise KneepointError(
            f"storage {shown}: its driver is missing; install it: pip install 'psycopg[binary]'"
        ) from None
    except (SQLAlchemyError, ValueError, TypeError) as error:  # the latter of a driver's options
        reason = str(error).partition("\n")[0]
        for secret in secrets:
            reason = reason.replace(secret, "***")
        raise KneepointError(
            f"storage {shown}: cannot be used ({reason}); start the server or correct the URL"
        ) from None


def _public_part(url: str) -> tuple[str, list[str]]:
    """Returns a URL's driver, host and database, and all else in it, which may be secret.

    Raises:
        KneepointError: it is not a URL.
    """
    try:
        parts = make_url(url)
        host = (parts.host or "").rpartition("@")[2]  # of a password with an @ in it
        shown = URL.create(parts.drivername, host=host or None, database=parts.database)
    except (ArgumentError, ValueError):
        raise KneepointError(
            "storage: not a URL such as postgresql+psycopg://HOST/NAME; correct it in storage or "
            "KNEEPOINT_STORAGE"
        ) from None
    options = (value for values in parts.normalized_query.values() for value in values)
    secrets = [url, parts.password or "", (parts.host or "").rpartition("@")[0], *options]
    return shown.render_as_string(), [secret for secret in map(str, secrets) if secret]


def _studies(results: Path) -> ReadableStudies:
    """Returns the studies; those that have only tables get their journals back."""
    rebuild_missing(results)
    return ReadableStudies(results)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--check", action="store_true", help="only open the storage")
    parser.add_argument(
        "--url", help="of a database; none: storage in the configuration, or the SQLite file"
    )
    arguments = parser.parse_args()
    settings = read_config(arguments.config, Settings)
    url = arguments.url or settings.storage_url
    if arguments.check:
        open_storage(url or "sqlite://").engine.dispose()
    elif url:
        print(f"{write_to(settings.results, url)} studies copied")
    else:
        print(write_sqlite(settings.results))


if __name__ == "__main__":
    run_command_line(main)

"""Copies all studies into an Optuna storage, for its dashboard and other tools.

    python -m kneepoint.search.storage_copy --config FILE            results/studies.sqlite3
    python -m kneepoint.search.storage_copy --config FILE --url postgresql+psycopg://HOST/NAME

Studies never resume from the copy.
"""

import argparse
import shutil
import warnings
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, RDBStorage
from optuna.trial import FrozenTrial
from optuna_dashboard import get_note, save_note  # type: ignore[import-untyped]
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from kneepoint.common.errors import KneepointError, run_command_line, unusable
from kneepoint.common.files import require_folder
from kneepoint.common.project import enter
from kneepoint.runs.settings import read_settings
from kneepoint.search.readable import BEST, REPORT, readable_study
from kneepoint.search.trial_log import TRIAL_LOG, read_trials

FILE = "studies.sqlite3"


def sync(results: Path, storage: BaseStorage) -> int:
    """Copies new studies and trials into a storage, and replaces studies that have changed.

    Returns:
        The number of studies that were new or changed.

    Raises:
        KneepointError: a file of a study is damaged.
    """
    report = results / REPORT
    text = report.read_text(encoding="utf-8") if report.is_file() else ""
    folders = {
        path.parent for name in (TRIAL_LOG, "study.json") for path in results.glob(f"*/{name}")
    }
    there = set(optuna.get_all_study_names(storage))
    return sum(_sync_study(folder, storage, there, text) for folder in sorted(folders))


def _sync_study(folder: Path, storage: BaseStorage, there: Container[str], report: str) -> bool:
    known, rows = read_trials(folder)
    if not rows or known.get("table"):  # a replay searches nothing
        return False
    try:
        new = readable_study(folder.name, known, rows, report)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise unusable(folder / "trials.parquet", f"or {TRIAL_LOG} beside it: {error!r}") from None
    copied: list[FrozenTrial] = []
    if new.name in there:
        study = optuna.load_study(study_name=new.name, storage=storage)
        copied = study.get_trials(deepcopy=False)
        is_same = _lasting(study.user_attrs) == _lasting(new.attributes)
        is_same = is_same and len(copied) <= len(new.trials)
        if not is_same or not all(map(_is_copy, copied, new.trials)):
            optuna.delete_study(study_name=new.name, storage=storage)
            copied = []
    if not copied:
        study = optuna.create_study(
            storage=storage, study_name=new.name, directions=new.directions, load_if_exists=True
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            study.set_metric_names(new.value_names)
        for key, value in new.attributes.items():
            study.set_user_attr(key, value)
    is_noted = study.user_attrs[BEST] == new.attributes[BEST]
    if not is_noted:
        study.set_user_attr(BEST, new.attributes[BEST])
    number = storage.get_study_id_from_name(new.name)
    for trial in new.trials[len(copied) :]:  # study.add_trial would require times
        storage.create_new_trial(number, template_trial=trial)
    if get_note(study) != new.note:
        is_noted = False
        save_note(study, new.note)
    return len(copied) < len(new.trials) or not is_noted


def _lasting(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the attributes that do not change when a study ends."""
    return {key: value for key, value in attributes.items() if key != BEST}


def _is_copy(trial: FrozenTrial, source: FrozenTrial) -> bool:
    kept = ("state", "values", "params", "user_attrs", "system_attrs", "intermediate_values")
    return all(getattr(trial, name) == getattr(source, name) for name in kept)


def write_sqlite(results: Path) -> Path:
    """Writes all studies into one SQLite file, atomically; returns its path."""
    path = results / FILE
    require_folder(results)
    results.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.new")
    part.unlink(missing_ok=True)
    if path.is_file():
        shutil.copyfile(path, part)
    write_to(results, f"sqlite:///{part}")
    part.replace(path)
    return path


def write_to(results: Path, url: str) -> int:
    """Copies all studies to the database at a URL; returns the number of new or changed studies.

    Raises:
        KneepointError: the database cannot be reached, or a file of a study is damaged.
    """
    storage = open_storage(url)
    changed = sync(results, storage)
    storage.engine.dispose()
    return changed


def open_storage(url: str) -> RDBStorage:
    """Opens a database, and creates Optuna's tables if they are missing.

    Raises:
        KneepointError: the database cannot be reached.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    shown, secrets = _public_part(url)
    try:
        literal = url.replace("{", "{{").replace("}", "}}")  # Optuna calls str.format on it
        return RDBStorage(literal, engine_kwargs={"pool_pre_ping": True})
    except ImportError:
        raise KneepointError(
            f"storage {shown}: its driver is missing; install it: pip install 'psycopg[binary]'"
        ) from None
    except (SQLAlchemyError, ValueError, TypeError) as error:  # drivers raise the last two
        reason = str(error).partition("\n")[0]
        for secret in secrets:
            reason = reason.replace(secret, "***")
        raise KneepointError(
            f"storage {shown}: cannot be used ({reason}); start the server or correct the URL"
        ) from None


def _public_part(url: str) -> tuple[str, list[str]]:
    """Returns driver, host and database of a URL, and its other parts, which may be secret.

    Raises:
        KneepointError: the text is not a URL.
    """
    try:
        parts = make_url(url)
        host = (parts.host or "").rpartition("@")[2]  # a password may contain an @
        shown = URL.create(parts.drivername, host=host or None, database=parts.database)
    except (ArgumentError, ValueError):
        raise KneepointError(
            "storage: not a URL such as postgresql+psycopg://HOST/NAME; correct it in storage or "
            "KNEEPOINT_STORAGE"
        ) from None
    options = (value for values in parts.normalized_query.values() for value in values)
    secrets = [url, parts.password or "", (parts.host or "").rpartition("@")[0], *options]
    return shown.render_as_string(), [secret for secret in map(str, secrets) if secret]


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument(
        "--url", help="URL of a database (default: storage in the configuration, or a SQLite file)"
    )
    arguments = parser.parse_args()
    settings = read_settings(enter(arguments.config))
    url = arguments.url or settings.storage_url
    if url:
        print(f"{write_to(settings.results, url)} studies copied")
    else:
        print(write_sqlite(settings.results).absolute())


if __name__ == "__main__":
    run_command_line(main)

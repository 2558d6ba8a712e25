"""The file that Optuna's dashboard opens: a copy of the study in Optuna's journal format.

No study resumes from it, so it may lag behind, or be lost.
"""

import copy
import json
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial

BOUND = "signal delay"
"""The name of the constraint of a search under a bound."""


class OptunaJournal:
    """Writes a study's finished trials to a file for the dashboard.

    A study that is resumed writes a new file under a temporary name, which takes the place of the
    old one when the study has caught up, so that a reader never sees it shrink.

    Args:
        path: the file.
        name: name of the study.
        directions: of its objectives.
        attributes: its further attributes on the dashboard.
    """

    def __init__(
        self,
        path: Path,
        name: str,
        directions: Sequence[StudyDirection],
        attributes: Mapping[str, Any],
    ) -> None:
        self._path = path
        self._temporary = path.with_name(f".{path.name}.new")
        self._temporary.unlink(missing_ok=True)
        self._file = _OneWriterFile(self._temporary)
        self._storage = JournalStorage(self._file)
        self._study_id = self._storage.create_new_study(directions, name)
        for key, value in attributes.items():
            self._storage.set_study_user_attr(self._study_id, key, value)
        self._is_published = False

    def add(
        self, trial: FrozenTrial, attributes: Mapping[str, Any], violation: float | None = None
    ) -> None:
        """Appends a finished trial, with its further attributes on the dashboard.

        Optuna reads a constraint by its name, the dashboard from a list: the copy has both.
        """
        copied = copy.copy(trial)
        copied.user_attrs = {**trial.user_attrs, **attributes}
        if violation is not None:
            copied.system_attrs = {**trial.system_attrs, "constraints": [violation]}
        self._storage.create_new_trial(self._study_id, copied)
        self._file.is_read = False  # the storage needs no more

    def publish_if_caught_up(self) -> None:
        """Publishes as soon as the file is no shorter than the one that it replaces."""
        try:
            older_bytes = 0 if self._is_published else self._path.stat().st_size
        except FileNotFoundError:
            older_bytes = 0
        if self._file.path.stat().st_size >= older_bytes:
            self.publish()

    def publish(self) -> None:
        """Puts the file in place; later trials are appended to it there."""
        if not self._is_published:
            self._temporary.replace(self._path)
            self._file.path = self._path
            self._is_published = True


class _OneWriterFile(JournalFileBackend):
    """A journal file with one writer needs no lock, and a copy needs no fsync.

    Entries that are read stay in the storage's memory: none, unless `is_read`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path
        self.is_read = True

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any], None, None]:
        """Yields the appended entries, if `is_read`."""
        if self.is_read:
            yield from super().read_logs(log_number_from)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        """Appends in one write."""
        with self.path.open("ab") as file:
            file.write("".join(f"{json.dumps(log)}\n" for log in logs).encode())

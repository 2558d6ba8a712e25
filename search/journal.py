"""The journal of finished runs: one line of JSON each, on disk before a trial is told."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from search.engines.base import RunRecord
from search.errors import KneepointError


class RunJournal:
    """Finished runs by run_id, in a file that survives a kill at any moment.

    Runs are content-addressed: those of an older configuration or binary do no harm. A torn or
    damaged end is cut off when the file is opened; the runs that were in it are run again.

    Args:
        path: the file; made if absent.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = path.open("ab", buffering=0)
        self._records: dict[str, RunRecord] = {}
        self._load()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._records)

    def get(self, run_id: str) -> RunRecord | None:
        """Returns a run's record, or None if it has not finished yet."""
        return self._records.get(run_id)

    def add(self, records: Iterable[RunRecord]) -> None:
        """Adds records; when it returns they are on disk. A machine's fault is not kept.

        Raises:
            KneepointError: the disk is full, or broken; what was in the journal is as it was.
        """
        kept = [record for record in records if record.status != "fault"]
        if kept:
            self._append("".join(f"{record.to_json()}\n" for record in kept).encode())
            self._records |= {record.run_id: record for record in kept}

    def _append(self, text: bytes) -> None:
        sound = self._file.seek(0, os.SEEK_END)
        try:
            while text:
                text = text[self._file.write(text) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(sound)
            raise KneepointError(
                f"{self._path}: {error.strerror}; make room and start it again: finished runs are "
                "kept"
            ) from None

    def _load(self) -> None:
        sound = 0
        with self._path.open("rb") as file:
            for line in file:
                try:
                    if not line.endswith(b"\n"):
                        raise ValueError("torn")
                    record = RunRecord.from_json(line)
                except (ValueError, KeyError, TypeError):
                    self._file.truncate(sound)
                    break
                self._records[record.run_id] = record
                sound += len(line)

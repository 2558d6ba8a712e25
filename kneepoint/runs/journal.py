"""The journal of finished runs: a JSON line per run, on disk before the sampler has the result."""

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import LOCK_PATIENCE_S, hold_lock, write_whole
from kneepoint.engines.base import RunRecord

VERSION = 2

_HEADER = f'{{"kneepoint_journal":{VERSION}}}\n'.encode()
_OPENING, _MIDDLE, _CLOSING = b'{"record":', b',"sha256":"', b'"}\n'
_DIGEST_BYTES = 64
_LONGEST_LINE = 2**20


class RunJournal:
    """Finished runs by run_id, in a file that stays intact if the process is killed at any moment.

    Runs are content-addressed: runs of an older configuration or binary are never used. Every line
    carries the SHA-256 of its record; opening the file removes torn and damaged lines, whose runs
    are repeated. Records stay on disk; memory holds only their offsets.

    Args:
        path: the file; created if absent.
        mode: mode of a new file (see write_whole).

    Raises:
        KneepointError: the file is not a journal of this version.
    """

    def __init__(self, path: Path, mode: int = 0o666) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._mode = path, mode
        self._places: dict[bytes, tuple[int, int]] = {}  # offset and length of a run's last line
        self._repair()
        self._file = path.open("a+b", buffering=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._places)

    def __contains__(self, run_id: str) -> bool:
        return _key(run_id) in self._places

    def get(self, run_id: str) -> RunRecord | None:
        """Returns the record of a run, or None if the run has not finished."""
        place = self._places.get(_key(run_id))
        if place is None:
            return None
        offset, length = place
        record = _parse(os.pread(self._file.fileno(), length, offset))
        if record is None:
            raise KneepointError(
                f"{self._path}: another program changed the file; run the command again"
            )
        return record

    def add(self, records: Iterable[RunRecord]) -> None:
        """Adds records and flushes them to disk; faults of the machine are left out.

        Raises:
            KneepointError: the disk is full or broken; the journal's earlier records are intact.
        """
        lines = [(_key(r.run_id), _line(r)) for r in records if r.status != "fault"]
        if lines:
            offset = self._append(b"".join(line for _, line in lines))
            for key, line in lines:
                self._places[key] = (offset, len(line))
                offset += len(line)

    def keep(self, run_ids: Iterable[str]) -> None:
        """Removes all runs except the runs with these identifiers."""
        wanted = set(map(_key, run_ids))
        self._places = {key: place for key, place in self._places.items() if key in wanted}
        self._file.close()
        self._rewrite()
        self._file = self._path.open("a+b", buffering=0)

    def _append(self, text: bytes) -> int:
        """Appends a text; returns its offset."""
        sound = self._file.seek(0, os.SEEK_END)
        try:
            while text:
                text = text[self._file.write(text) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            self._file.truncate(sound)
            raise KneepointError(
                f"{self._path}: {error.strerror}; free some space and run the command again: "
                "finished runs are kept"
            ) from None
        return sound

    def _repair(self) -> None:
        """Finds all valid lines; rewrites the file if it has invalid lines."""
        damaged = self._scan()
        if damaged == 0:
            return
        print(
            f"{self._path}: {damaged} line{'s are' if damaged > 1 else ' is'} damaged and "
            "skipped; these runs are executed again",
            file=sys.stderr,
            flush=True,
        )
        self._rewrite()

    def _rewrite(self) -> None:
        """Rewrites the file with the known lines only."""
        content = self._path.read_bytes()
        lines = [content[offset : offset + length] for offset, length in self._places.values()]
        write_whole(self._path, _HEADER + b"".join(lines), self._mode)
        self._places.clear()
        self._scan()

    def _scan(self) -> int:
        """Records the offset of each valid line; returns the number of damaged lines."""
        if not self._path.exists() or not self._path.stat().st_size:
            write_whole(self._path, _HEADER, self._mode)
        damaged, offset = 0, 0
        with self._path.open("rb") as file:
            while line := file.readline(_LONGEST_LINE):
                if offset == 0 and line.endswith(b"\n"):
                    if line != _HEADER:
                        raise KneepointError(
                            f"{self._path}: is not a journal of version {VERSION}; remove the "
                            "file, and its runs are executed again"
                        )
                elif record := _parse(line):
                    self._places[_key(record.run_id)] = (offset, len(line))
                else:
                    damaged += 1
                offset += len(line)
        return damaged


@contextmanager
def open_journal(folder: Path, patience_s: float = LOCK_PATIENCE_S) -> Iterator[RunJournal]:
    """Opens a folder's journal, which stays locked (see hold_lock)."""
    with hold_lock(folder / ".lock", patience_s), RunJournal(folder / "runs.jsonl") as journal:
        yield journal


def _key(run_id: str) -> bytes:
    """Returns a run's id as bytes, which take half the memory of its hexadecimal digits."""
    try:
        return bytes.fromhex(run_id)
    except ValueError:
        return run_id.encode()


def _line(record: RunRecord) -> bytes:
    text = record.to_json().encode()
    return _OPENING + text + _MIDDLE + hashlib.sha256(text).hexdigest().encode() + _CLOSING


def _parse(line: bytes) -> RunRecord | None:
    """Returns the record of a line that `_line` wrote, or None if it is damaged."""
    end = len(line) - _DIGEST_BYTES - len(_CLOSING)
    text = line[len(_OPENING) : end - len(_MIDDLE)]
    digest = hashlib.sha256(text).hexdigest().encode()
    if line != _OPENING + text + _MIDDLE + digest + _CLOSING:
        return None
    try:
        return RunRecord.from_json(text)
    except (ValueError, KeyError, TypeError, AttributeError):  # a version with other metrics
        return None

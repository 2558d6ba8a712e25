"""Collects the errors of failed jobs from their logs; a failed workflow prints them last."""

import errno
import os
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_FSIZE, getrlimit

from kneepoint.common.errors import MachineError, lack_in, of_file

_LOG = re.compile(r"^    log: (.*) \(check log file\(s\) for error details\)$", re.MULTILINE)
_ERROR = re.compile(r"^((\S[^\n]*:\d+:\d+: )?(fatal )?error: |CMake Error).*$", re.MULTILINE)
_FOLDER = re.compile(r"^Skipped removing non-empty directory (.*)$", re.MULTILINE)
"""A folder at the path of a job's output file."""
_PROTECTED = re.compile(
    r"^Write-protected output(?:.|\n)*?affected files:\n((?: {8}\S.*\n?)+)", re.MULTILINE
)
"""Files that a job would overwrite, but may not."""
_MOST = 10
_LAST = 40
_MIN_FREE_BYTES = 2**16
"""With less free space, a log may lack its last lines."""


def errors_of_jobs(snakemake_logs: Iterable[str]) -> list[str]:
    """Returns the errors of compilers and programs in the logs of failed jobs.

    If a log has no error, for example because a program was killed, the message names the log.
    """
    texts = [_read(Path(path)) for path in snakemake_logs]
    logs = [log for text in texts for log in _LOG.findall(text)]
    found: list[str] = []
    for log in dict.fromkeys(logs):
        text = _read(Path(log))
        errors = [match[0] for match in _ERROR.finditer(text)]
        why = f"{lack_in(text) or 'a job failed'}; see {log}"
        found += errors or [f"error: {_no_room(Path(log)) or why}"]
    if not found:
        folders = dict.fromkeys(path for text in texts for path in _FOLDER.findall(text))
        in_the_way = (
            IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), f) for f in folders
        )
        found = [f"error: {of_file(error)}" for error in in_the_way]
    return found[:_MOST] or ["error: the workflow failed; see Snakemake's messages above"]


def errors_in(log: Path) -> list[str]:
    """Returns the errors in a log, each once; if there are none, its last lines and its name."""
    text = _read(log)
    errors = list(dict.fromkeys(match[0] for match in _ERROR.finditer(text)))
    if (full := _no_room(log)) and not any(map(lack_in, errors)):
        return [f"error: {full}"]
    if errors:
        return errors
    if log.is_file() and log.stat().st_size >= getrlimit(RLIMIT_FSIZE)[0] != RLIM_INFINITY:
        text = os.strerror(errno.EFBIG)  # the log had no room for this message
    if protected := _PROTECTED.search(text):
        paths = map(str.strip, protected[1].splitlines())
        denied = (PermissionError(errno.EACCES, os.strerror(errno.EACCES), path) for path in paths)
        return [f"error: {of_file(error)}" for error in denied][:_MOST]
    if lack := lack_in(text):
        return [f"error: {lack}; see {log}"]
    return [*text.splitlines()[-_LAST:], f"error: Snakemake failed; see {log}"]


def _no_room(log: Path) -> MachineError | None:
    """Returns the error of a full disk, if a log's disk is full; the log need not exist."""
    if not log.parent.is_dir() or shutil.disk_usage(log.parent).free >= _MIN_FREE_BYTES:
        return None
    return of_file(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(log)))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

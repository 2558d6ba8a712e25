"""Collects the errors of failed jobs, which a failed workflow prints last."""

import re
from collections.abc import Iterable
from pathlib import Path

from common.errors import lack_in

_LOG = re.compile(r"^    log: (.*) \(check log file\(s\) for error details\)$", re.MULTILINE)
_ERROR = re.compile(r"^((\S[^\n]*:\d+:\d+: )?(fatal )?error: |CMake Error).*$", re.MULTILINE)
_MOST = 10
_LAST = 40


def complaints(snakemake_logs: Iterable[str]) -> list[str]:
    """Returns the errors in the logs of the jobs that failed: a compiler's, and those of programs.

    If a log has none, as when a program was killed, the log's name replaces it.
    """
    logs = [log for path in snakemake_logs for log in _LOG.findall(_read(Path(path)))]
    found: list[str] = []
    for log in dict.fromkeys(logs):
        text = _read(Path(log))
        errors = [match[0] for match in _ERROR.finditer(text)]
        found += errors or [f"error: {lack_in(text) or 'a job failed'}; see {log}"]
    return found[:_MOST] or ["error: the workflow failed; see Snakemake's messages above"]


def errors_in(log: Path) -> list[str]:
    """Returns the errors in a log, each once; without any, its end and its name."""
    text = _read(log)
    errors = list(dict.fromkeys(match[0] for match in _ERROR.finditer(text)))
    if errors:
        return errors
    if lack := lack_in(text):
        return [f"error: {lack}; see {log}"]
    return [*text.splitlines()[-_LAST:], f"error: Snakemake failed; see {log}"]


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""

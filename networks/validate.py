"""The rules of a trace file: those of mahimahi's mm-link."""

import re
from pathlib import Path

from search.errors import KneepointError

_MOST_DIGITS = 15


def parse_trace(content: bytes, name: str) -> list[int]:
    """Returns the delivery opportunities of a trace: times in ms, not decreasing, the last not 0.

    Raises:
        KneepointError: a rule is broken; the message names the trace and the line.
    """
    if not content:
        raise KneepointError(f"trace {name} is empty; it needs at least one line")
    lines = content.removesuffix(b"\n").split(b"\n")
    # All at once first: a trace has up to a million lines.
    if all(lines) and b"".join(lines).isdigit() and max(map(len, lines)) <= _MOST_DIGITS:
        times_ms = list(map(int, lines))
        if times_ms[-1] > 0 and times_ms == sorted(times_ms):
            return times_ms
    return _parse_lines(lines, name)


def _parse_lines(lines: list[bytes], name: str) -> list[int]:
    """Goes line by line, so that the first one that is wrong can be named."""
    times_ms: list[int] = []
    for number, line in enumerate(lines, start=1):
        where = f"trace {name}, line {number}"
        if not line:
            raise KneepointError(f"{where}: is empty; remove it")
        if not re.fullmatch(rb"[0-9]{1,%d}" % _MOST_DIGITS, line):
            text = line[:40].decode(errors="replace")
            raise KneepointError(f"{where}: {text!r} is not a whole number of milliseconds")
        time_ms = int(line)
        if times_ms and time_ms < times_ms[-1]:
            raise KneepointError(
                f"{where}: {time_ms} ms follows {times_ms[-1]} ms; times must not decrease"
            )
        times_ms.append(time_ms)
    if times_ms[-1] == 0:
        raise KneepointError(
            f"trace {name}, line {len(times_ms)}: the last time is 0 ms; "
            "a trace must take some time"
        )
    return times_ms


def read_trace(path: Path) -> list[int]:
    """Reads and checks a trace file; returns the times of its opportunities (ms).

    Raises:
        KneepointError: the file cannot be read, or a rule is broken.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise KneepointError(
            f"trace {path} cannot be read: {error.strerror}; check the path"
        ) from None
    return parse_trace(content, str(path))


def format_trace(times_ms: list[int]) -> bytes:
    """Returns the content of a trace file with these opportunities (ms)."""
    return "".join(f"{time_ms}\n" for time_ms in times_ms).encode()

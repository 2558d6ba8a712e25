"""Reads a link's log while it is being written."""

import re
from collections.abc import Callable, Mapping
from typing import BinaryIO

# A line begins with its time; in a departure its size and its delay follow. (The numbers are
# short: the log is the user's, who may write anything into it.)
_LINE = re.compile(rb"^(\d{1,12}) (?:- (\d{1,9}) (\d{1,12}))?", re.MULTILINE)
_MOST_BYTES = 1 << 24
"""Bytes read at a time."""
_NOTHING: Mapping[str, float | None] = {"throughput_mbps": None, "queueing_delay_ms": None}


class LogTail:
    """Reads an mm-link log from where the last call stopped."""

    def __init__(self, open_log: Callable[[], BinaryIO]) -> None:
        self._open = open_log
        self._position = 0
        self._time_ms = 0

    def read(self) -> Mapping[str, float | None]:
        """Returns the rate of departures and the mean queueing delay since the last call.

        They are None if nothing departed.
        """
        try:
            with self._open() as file:
                file.seek(self._position)
                content = file.read(_MOST_BYTES)
        except OSError:
            return _NOTHING
        whole = content[: content.rfind(b"\n") + 1]
        self._position += len(whole)
        bits, delay_ms, packets, time_ms = 0, 0, 0, self._time_ms
        for line in _LINE.finditer(whole):
            time_ms = int(line[1])
            if line[2]:
                bits += 8 * int(line[2])
                delay_ms += int(line[3])
                packets += 1
        elapsed_ms, self._time_ms = time_ms - self._time_ms, time_ms
        if not packets or elapsed_ms <= 0:
            return _NOTHING
        return {
            "throughput_mbps": round(bits / elapsed_ms / 1000, 3),
            "queueing_delay_ms": round(delay_ms / packets, 1),
        }

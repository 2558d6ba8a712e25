"""What a link's log says while it is being written."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Recent:
    """The rate of departures and the mean delay in the queue since the last look."""

    throughput_mbps: float | None
    queueing_delay_ms: float | None


class LogTail:
    """Reads on in a log of mm-link from where it stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._time_ms = 0

    def read(self) -> Recent:
        """Returns what has happened since the last call; None where nothing departed."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._position)
                content = file.read()
        except FileNotFoundError:
            return Recent(None, None)
        whole = content[: content.rfind(b"\n") + 1]
        self._position += len(whole)
        bits, delay_ms, packets, time_ms = 0, 0, 0, self._time_ms
        for line in whole.splitlines():
            words = line.split()
            if words[0].isdigit():
                time_ms = int(words[0])
                if words[1] == b"-":
                    bits += 8 * int(words[2])
                    delay_ms += int(words[3])
                    packets += 1
        elapsed_ms, self._time_ms = time_ms - self._time_ms, time_ms
        if not packets or elapsed_ms <= 0:
            return Recent(None, None)
        return Recent(round(bits / elapsed_ms / 1000, 3), round(delay_ms / packets, 1))

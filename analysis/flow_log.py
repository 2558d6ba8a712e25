"""Reads the emulator's flow log: a sender's acknowledgments and windows.

After a header line, one event a line, times in microseconds:

    T_US FLOW sent SEQUENCE
    T_US FLOW ack SEQUENCE RTT_MS WINDOW
    T_US FLOW keepalive WINDOW
"""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from common.errors import KneepointError

Floats = NDArray[np.float64]

_HEADER = b"# kneepoint flow log, version 1"
_TOLD = re.compile(rb"^(\d+) (\d+) (?:ack \d+ (\d+)|keepalive) (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class FlowLog:
    """The windows of one flow, and the RTTs of its acknowledgments, in time order.

    A window is the controller's after an acknowledgment or a keepalive, in packets.
    """

    window_s: Floats
    window_packets: Floats
    rtt_s: Floats
    rtt_ms: Floats

    def windows(self) -> dict[str, Floats]:
        """The window wherever it changes, and at the end: columns time_s, window_packets."""
        changed = np.append(True, np.diff(self.window_packets) != 0)
        changed[-1] = True
        return {
            "time_s": self.window_s[changed],
            "window_packets": self.window_packets[changed],
        }

    def mean_window(self, end_s: float) -> float:
        """The window's mean over time, from the first event to `end_s`."""
        lasts = np.diff(np.append(self.window_s, max(end_s, self.window_s[-1])))
        total = float(lasts.sum())
        return float((self.window_packets * lasts).sum()) / total if total else float("nan")


def read_flow_log(path: Path, flow: int = 0) -> FlowLog:
    """Reads the events of one flow, by its number.

    Raises:
        KneepointError: the file is missing or no flow log, or the flow learned nothing.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise KneepointError(f"{path}: {error.strerror}; name a flow log of emulate") from None
    if not data.startswith(_HEADER):
        raise KneepointError(f"{path}: does not begin with {_HEADER.decode()!r}; name a flow log")
    told = [event for event in _TOLD.findall(data) if int(event[1]) == flow]
    if not told:
        raise KneepointError(f"{path}: flow {flow} has no acknowledgment and no keepalive")
    times_us, _, rtts_ms, windows = zip(*told, strict=True)
    seconds = np.array(times_us).astype(float) / 1e6
    is_ack = np.array([len(rtt) > 0 for rtt in rtts_ms])
    return FlowLog(
        window_s=seconds,
        window_packets=np.array(windows).astype(float),
        rtt_s=seconds[is_ack],
        rtt_ms=np.array([rtt for rtt in rtts_ms if rtt]).astype(float),
    )

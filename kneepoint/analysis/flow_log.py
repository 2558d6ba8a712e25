"""Reads the emulator's flow log: a sender's acknowledgments and windows.

After a header line, each line is an event, with the time in microseconds:

    T_US FLOW sent SEQUENCE
    T_US FLOW ack SEQUENCE RTT_MS WINDOW
    T_US FLOW keepalive WINDOW
"""

import re
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

from kneepoint.common.errors import KneepointError

FlowLog: TypeAlias = pd.DataFrame
"""The acknowledgments and keepalives of a flow in order: columns time_s, rtt_ms (NaN for a
keepalive), and window_packets, the controller's window after the event."""

_HEADER = b"# kneepoint flow log, version 1"
_TOLD = re.compile(rb"^(\d+) (\d+) (?:ack \d+ (\d+)|keepalive) (\S+)$", re.MULTILINE)


def read_flow_log(path: Path, flow: int = 0) -> FlowLog:
    """Reads the events of one flow, by its number.

    Raises:
        KneepointError: the file is missing or not a flow log, or the flow has no event.
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
    return pd.DataFrame(
        {
            "time_s": np.array(times_us).astype(float) / 1e6,
            "rtt_ms": np.array([rtt or b"nan" for rtt in rtts_ms]).astype(float),
            "window_packets": np.array(windows).astype(float),
        }
    )


def mean_window(log: FlowLog, end_s: float) -> float:
    """Returns the time average of the window (packets), from the first event to `end_s`."""
    times_s = log["time_s"].to_numpy()
    lasts = np.diff(np.append(times_s, max(end_s, times_s[-1])))
    total = float(lasts.sum())
    return float((log["window_packets"] * lasts).sum()) / total if total else float("nan")

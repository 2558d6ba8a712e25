from pathlib import Path

import pytest

from analysis.flow_log import FlowLog, mean_window, read_flow_log
from common.errors import KneepointError

HEADER = "# kneepoint flow log, version 1: T_US FLOW sent SEQUENCE | ...\n"
EVENTS = """\
0 0 sent 0
43637 0 ack 0 43 10.25
43637 0 sent 1
50000 1 ack 0 9 77
1000000 0 keepalive 5
3000000 0 ack 1 46 2.5e+01
"""


def read(path: Path, text: str, flow: int = 0) -> FlowLog:
    path.write_text(text)
    return read_flow_log(path, flow)


def test_windows_and_rtts_are_those_of_one_flow(tmp_path: Path) -> None:
    log = read(tmp_path / "log", HEADER + EVENTS)
    assert log["time_s"].tolist() == [0.043637, 1, 3]
    assert log["window_packets"].tolist() == [10.25, 5, 25]
    assert log["rtt_ms"].dropna().to_dict() == {0: 43, 2: 46}
    assert read(tmp_path / "log", HEADER + EVENTS, flow=1)["window_packets"].tolist() == [77]


def test_mean_window_is_over_time(tmp_path: Path) -> None:
    log = read(tmp_path / "log", HEADER + "0 0 ack 0 4 10\n1000000 0 ack 1 4 40\n")
    assert mean_window(log, end_s=4) == pytest.approx((10 * 1 + 40 * 3) / 4)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "No such file or directory; name a flow log"),
        ("0 0 sent 0\n", "does not begin with '# kneepoint flow log, version 1'"),
        (HEADER + "0 0 sent 0\n", "flow 0 has no acknowledgment and no keepalive"),
    ],
)
def test_bad_logs_are_refused(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "log"
    if text is not None:
        path.write_text(text)
    with pytest.raises(KneepointError, match=message):
        read_flow_log(path)

"""Logs of links and flows: figures by hand, and errors of one line for other files."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis import link_log
from kneepoint.analysis.flow_log import mean_window, read_flow_log
from kneepoint.analysis.link_log import LinkLog, read_link_log
from kneepoint.common.errors import KneepointError

HEADER = """\
# mahimahi mm-link (Uplink) [a/trace] > a/log
# command line: mm-link a/trace b/trace --once
# queue: droptail [packets=2]
# init timestamp: 1491000000123
# base timestamp: 100
"""
EVENTS = """\
100 # 1504
101 + 1504
101 + 1504
103 # 1504
103 - 1504 2
105 + 80
106 # 1504
106 - 1504 5
108 # 1504
108 - 80 3
110 d 2 3008
"""
FLOW_HEADER = "# kneepoint flow log, version 1: T_US FLOW sent SEQUENCE | ...\n"
FLOW_EVENTS = """\
0 0 sent 0
43637 0 ack 0 43 10.25
43637 0 sent 1
50000 1 ack 0 9 77
1000000 0 keepalive 5
3000000 0 ack 1 46 2.5e+01
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "uplink.log"


@pytest.fixture
def log(path: Path) -> LinkLog:
    path.write_text(HEADER + EVENTS)
    return read_link_log(path)


def test_a_link_log_begins_at_its_base_and_has_its_packets_and_queue(log: LinkLog) -> None:
    assert log["time_ms"].tolist() == [0, 1, 1, 3, 3, 5, 6, 6, 8, 8, 10]
    assert "".join(log["kind"]) == "#++#-+#-#-d"
    packets = link_log.departures(log)[["time_ms", "delay_ms"]]
    assert packets.to_numpy().tolist() == [[3, 2], [6, 5], [8, 3]]
    queue = link_log.queue_length(log)
    assert queue["time_ms"].tolist() == [1, 3, 5, 6, 8, 10]
    assert queue["packets"].tolist() == [
        2,
        1,
        2,
        1,
        0,
        -2,
    ]  # the log lacks the dropped packets' arrivals


def test_metrics_are_those_worked_by_hand(log: LinkLog) -> None:
    found = link_log.metrics(log)
    # 3088 bytes departed and 6016 could have, in the 10 ms from first to last event.
    assert found["throughput_mbps"] == pytest.approx(2.4704)
    assert found["capacity_mbps"] == pytest.approx(4.8128)
    # Delays 2, 3, 5: element floor(0.95 * 3) = 2 of the sorted delays.
    assert found["queueing_delay_p95_ms"] == 5
    # Arrivals at 1 (minimum delay 2) and 5 (3): 2, 6, 5, 4, 3 from 1 to 5; element floor(4.75) = 4.
    assert found["signal_delay_p95_ms"] == 6
    assert found["power"] == pytest.approx(2.4704 / 0.006)
    rates = link_log.rates(log, bin_ms=5)  # every bin divided by its full width
    assert rates["start_s"].tolist() == [0, 0.005, 0.01]
    assert rates["capacity_mbps"].tolist() == pytest.approx([4.8128, 4.8128, 0])
    assert rates["ingress_mbps"].tolist() == pytest.approx([4.8128, 0.128, 0])
    assert rates["egress_mbps"].tolist() == pytest.approx([2.4064, 2.5344, 0])


@pytest.mark.parametrize("seed", range(20))
def test_quantiles_of_the_signal_delay_are_elements_of_its_series(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = rng.integers(0, 300, 1 + seed)
    delays = rng.integers(0, 80, 1 + seed)
    packets = pd.DataFrame(
        {"time_ms": times + delays, "kind": "-", "amount": 1504, "delay_ms": delays}
    )
    least = {int(t): int(delays[times == t].min()) for t in times}
    series = link_log.signal_delay(packets)["delay_ms"]
    for q in (0.0, 0.5, 0.95, 0.999):
        assert link_log.signal_delay_quantile(least, q) == link_log.percentile(series, q)


def test_windows_and_rtts_are_those_of_one_flow_and_a_mean_is_over_time(path: Path) -> None:
    path.write_text(FLOW_HEADER + FLOW_EVENTS)
    flow = read_flow_log(path)
    assert flow["time_s"].tolist() == [0.043637, 1, 3]
    assert flow["window_packets"].tolist() == [10.25, 5, 25]
    assert flow["rtt_ms"].dropna().to_dict() == {0: 43, 2: 46}
    assert read_flow_log(path, 1)["window_packets"].tolist() == [77]
    weighted = 10.25 * (1 - 0.043637) + 5 * 2 + 25 * 2
    assert mean_window(flow, end_s=5) == pytest.approx(weighted / (5 - 0.043637))


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (None, "No such file"),
        ("", "# base timestamp: N"),
        (HEADER, "no event"),
        (HEADER + "100 # 1504\n\n101 + 1504\n", ":7: ''"),
        (HEADER + "100 # 1504\nnonsense\n", ":7: 'nonsense'"),
        (HEADER + "100 ! 1504\n", ":6: '100 ! 1504'"),
        (HEADER + "100 - 1504\n", ":6: '100 - 1504'"),
        (HEADER + "100 # 1504 3\n", ":6: '100 # 1504 3'"),
        (HEADER + "100 - 1504 2 4\n", ":6: '100 - 1504 2 4'"),
        (HEADER + "100 # 1504\n101 +", ":7: '101 +'"),
        (HEADER + "100 # 1504\n99 # 1504\n", ":7: the time goes backward"),
        (HEADER + f"100 # {10**30}\n", "too large"),
        (FLOW_EVENTS, "# kneepoint flow log, version 1"),
        (FLOW_HEADER + "0 0 sent 0\n", "flow 0"),
    ],
)
def test_what_is_no_log_is_named_with_its_line(path: Path, text: str | None, named: str) -> None:
    if text is not None:
        path.write_text(text)
    of_text = read_flow_log if "0 0 sent" in (text or "") else read_link_log
    for read in (of_text,) if text is not None else (read_link_log, read_flow_log):
        with pytest.raises(KneepointError) as error:
            read(path)
        assert str(path) in str(error.value) and named in str(error.value)


def test_a_last_line_without_its_end_counts(path: Path) -> None:
    path.write_text(HEADER + "100 # 1504\n101 + 15")
    assert read_link_log(path)["amount"].tolist() == [1504, 15]

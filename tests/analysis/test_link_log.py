from pathlib import Path

import pytest

from analysis import link_log
from analysis.link_log import LinkLog, read_link_log
from common.errors import KneepointError

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "uplink.log"


def read(path: Path, text: str) -> LinkLog:
    path.write_text(text)
    return read_link_log(path)


@pytest.fixture
def log(path: Path) -> LinkLog:
    return read(path, HEADER + EVENTS)


def test_read_link_log_takes_the_base_off(log: LinkLog) -> None:
    assert log["time_ms"].tolist() == [0, 1, 1, 3, 3, 5, 6, 6, 8, 8, 10]
    assert "".join(log["kind"]) == "#++#-+#-#-d"
    assert log["amount"].tolist() == [1504] * 5 + [80] + [1504] * 3 + [80, 2]
    packets = link_log.departures(log)
    assert packets["time_ms"].tolist() == [3, 6, 8]
    assert packets["delay_ms"].tolist() == [2, 5, 3]


def test_metrics_are_those_worked_by_hand(log: LinkLog) -> None:
    found = link_log.metrics(log)
    # 3088 bytes departed and 6016 could have, in the 10 ms from first to last event.
    assert found.throughput_mbps == pytest.approx(2.4704)
    assert found.capacity_mbps == pytest.approx(4.8128)
    # Delays 2, 3, 5: element floor(0.95 * 3) = 2 of the sorted ones.
    assert found.queueing_delay_p95_ms == 5
    # Arrivals at 1 (least delay 2) and 5 (3): 2, 6, 5, 4, 3 from 1 to 5; element floor(4.75) = 4.
    assert found.signal_delay_p95_ms == 6
    assert found.power == pytest.approx(2.4704 / 0.006)


def test_rates_divide_every_bin_by_its_full_width(log: LinkLog) -> None:
    rates = link_log.rates(log, bin_ms=5)
    per_byte = 8 / 5000
    assert rates["start_s"].tolist() == [0, 0.005, 0.01]
    assert rates["capacity_mbps"].tolist() == pytest.approx([3008 * per_byte, 3008 * per_byte, 0])
    assert rates["ingress_mbps"].tolist() == pytest.approx([3008 * per_byte, 80 * per_byte, 0])
    assert rates["egress_mbps"].tolist() == pytest.approx([1504 * per_byte, 1584 * per_byte, 0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line '# base timestamp: N'"),
        (HEADER, "holds no event"),
        (HEADER + "100 # 1504\n\n101 + 1504\n", r"7: '' is not an event"),
        (HEADER + "100 # 1504\nnonsense\n", "7: 'nonsense' is not an event"),
        (HEADER + "100 ! 1504\n", "6: '100 ! 1504' is not an event"),
        (HEADER + "100 - 1504\n", "6: '100 - 1504' is not an event"),
        (HEADER + "100 # 1504 3\n", "6: '100 # 1504 3' is not an event"),
        (HEADER + "100 - 1504 3 4 5\n", "6: '100 - 1504 3 4 5' is not an event"),
        (HEADER + "100 - 1504 2 4\n", "6: '100 - 1504 2 4' is not an event"),
        (HEADER + "100 # 1504\n101 + 15", None),
        (HEADER + "100 # 1504\n101 +", "7: '101 [+]' is not an event"),
        (HEADER + "100 # 1504\n99 # 1504\n", "7: the time goes backward"),
        (HEADER + f"100 # {10**30}\n", "a number of the log is too large"),
    ],
)
def test_read_link_log_names_the_bad_line(path: Path, text: str, message: str | None) -> None:
    if message is None:
        assert read(path, text)["amount"].tolist() == [1504, 15]
        return
    with pytest.raises(KneepointError, match=message) as error:
        read(path, text)
    assert str(path) in str(error.value)


def test_read_link_log_names_a_missing_file(path: Path) -> None:
    with pytest.raises(KneepointError, match=r"uplink\.log: No such file"):
        read_link_log(path)


def test_queue_length_follows_the_events(path: Path) -> None:
    queue = link_log.queue_length(read(path, HEADER + EVENTS))
    assert queue["time_ms"].tolist() == [1, 3, 5, 6, 8, 10]
    assert queue["packets"].tolist() == [2, 1, 2, 1, 0, -2]  # the drop's arrivals are not here

"""What is known of a link while its log grows."""

from pathlib import Path

import pytest

from engines.mahimahi.tail import LogTail

NOTHING = {"throughput_mbps": None, "queueing_delay_ms": None}


def test_log_is_read_on_from_where_it_stopped(tmp_path: Path) -> None:
    log = tmp_path / "uplink.log"
    tail = LogTail(lambda: log.open("rb"))
    assert tail.read() == NOTHING
    with log.open("a") as file:
        file.write("# mahimahi mm-link (Uplink) [trace] > log\n# base timestamp: 0\n")
        file.write("1 + 1504\n2 # 1504\n2 - 1504 1\n6 + 1504\n10 # 1504\n10 - 1504 4\n10 # 15")
        file.flush()
        assert tail.read() == {"throughput_mbps": 2.406, "queueing_delay_ms": 2.5}
        assert tail.read() == NOTHING
        file.write("04\n14 # 1504\n")
        file.flush()
        assert tail.read() == NOTHING
        file.write("18 - 1504 9\n18 d 1 1504\n")
        file.flush()
        assert tail.read() == {"throughput_mbps": 3.008, "queueing_delay_ms": 9.0}


@pytest.mark.parametrize(
    "line",
    ["", "-", "7", "7 -", "7 - x 1", "7 - 1504", f"{10**400} - {10**400} {10**400}", "\0 \0 \0"],
)
def test_log_that_is_not_mm_links_says_nothing(tmp_path: Path, line: str) -> None:
    log = tmp_path / "uplink.log"
    log.write_text(f"{line}\n")
    tail = LogTail(lambda: log.open("rb"))
    assert tail.read() == NOTHING

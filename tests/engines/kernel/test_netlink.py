import struct

import pytest

from kneepoint.engines.kernel.netlink import tcp_info

STATE, RTT, SSTHRESH, CWND, RETRANSMITS = 1, 68, 76, 80, 100  # offsets, linux/tcp.h
BYTES_RECEIVED, SEGMENTS_IN, SEGMENTS_OUT = 128, 152, 156


def of_kernel() -> bytearray:
    content = bytearray(280)
    for offset, value in (
        (RTT, 413_633),
        (SSTHRESH, 104),
        (CWND, 156),
        (RETRANSMITS, 17),
        (SEGMENTS_IN, 5),
        (SEGMENTS_OUT, 424),
    ):
        struct.pack_into("=I", content, offset, value)
    struct.pack_into("=Q", content, BYTES_RECEIVED, 1 << 33)
    return content


def test_tcp_info_is_read_where_the_kernel_puts_it() -> None:
    assert tcp_info(bytes(of_kernel())) == {
        "is_repairing": False,
        "rtt_ms": 413.633,
        "ssthresh_packets": 104,
        "window_packets": 156,
        "retransmissions": 17,
        "bytes_received": 1 << 33,
        "packets_received": 5,
        "packets_sent": 424,
    }


@pytest.mark.parametrize(("state", "is_repairing"), [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)])
def test_recovery_and_loss_repair(state: int, is_repairing: int) -> None:
    content = of_kernel()
    content[STATE] = state
    assert tcp_info(bytes(content))["is_repairing"] == is_repairing


def test_older_kernels_say_less() -> None:
    assert tcp_info(bytes(of_kernel()[:104]))["window_packets"] == 156
    assert tcp_info(b"")["bytes_received"] == 0

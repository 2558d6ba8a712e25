import pytest

from common.errors import KneepointError
from engines.kernel.traffic import Answers, answers_of, require_control

PING = """\
PING 10.0.1.2 (10.0.1.2) 56(84) bytes of data.
64 bytes from 10.0.1.2: icmp_seq=1 ttl=63 time=20.7 ms
64 bytes from 10.0.1.2: icmp_seq=3 ttl=63 time=726 ms
64 bytes from 10.0.1.2: icmp_seq=3 ttl=63 time=727 ms (DUP!)

--- 10.0.1.2 ping statistics ---
4 packets transmitted, 2 received, +1 duplicates, 50% packet loss, time 3004ms
"""


def test_answers_of_ping() -> None:
    assert answers_of(PING) == Answers([20.7, None, 727.0, None])


def test_ping_that_was_killed_has_said_what_came() -> None:
    assert answers_of(PING.partition("\n\n")[0]) == Answers([20.7, None, 727.0])
    assert answers_of("PING 10.0.1.2 (10.0.1.2) 56(84) bytes of data.\n") == Answers([])


def test_congestion_control_that_the_kernel_lacks() -> None:
    require_control("cubic", "reno cubic\n")
    with pytest.raises(KneepointError) as raised:
        require_control("timely", "reno cubic\n")
    assert str(raised.value) == (
        "this kernel has no congestion control 'timely', but reno, cubic; load it "
        "(modprobe tcp_timely), or use the emulator for controllers of ours"
    )

import subprocess
from http.client import HTTPConnection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.kernel.rig import SERVER, Rig, data_port
from kneepoint.engines.kernel.scenario import MAX_FLOWS, REQUEST_BYTES, Flow, Probe
from kneepoint.engines.kernel.traffic import Ping, require_buffers, require_control, rtts_of
from kneepoint.engines.supervision import RunEndedError

PING = """\
PING 10.0.1.2 (10.0.1.2) 56(84) bytes of data.
64 bytes from 10.0.1.2: icmp_seq=1 ttl=63 time=20.7 ms
64 bytes from 10.0.1.2: icmp_seq=3 ttl=63 time=726 ms
64 bytes from 10.0.1.2: icmp_seq=3 ttl=63 time=727 ms (DUP!)

--- 10.0.1.2 ping statistics ---
4 packets transmitted, 2 received, +1 duplicates, 50% packet loss, time 3004ms
"""


def test_download_is_requested_with_as_many_bytes_as_scenarios_say() -> None:
    for number in (0, MAX_FLOWS - 1):
        sent: list[bytes] = []
        connection = HTTPConnection(SERVER, data_port(number))
        connection.sock = cast(Any, SimpleNamespace(sendall=sent.append))
        connection.request("GET", "/")
        assert len(b"".join(sent)) == REQUEST_BYTES


def test_answers_of_ping() -> None:
    assert rtts_of(PING) == [20.7, None, 727.0, None]


def test_ping_that_was_killed_has_said_what_came() -> None:
    assert rtts_of(PING.partition("\n\n")[0]) == [20.7, None, 727.0]
    assert rtts_of("PING 10.0.1.2 (10.0.1.2) 56(84) bytes of data.\n") == []


class Shell:
    """A stand-in for the rig's server, where ping ends at once with a status."""

    def __init__(self, status: int) -> None:
        self.status = status

    def start(self, _: object, **streams: Any) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(["sh", "-c", f"exit {self.status}"], **streams)
        process.wait()
        return process


@pytest.mark.parametrize(
    ("count", "status", "is_fine"), [(3, 0, True), (3, 1, True), (3, 2, False), (None, 0, False)]
)
def test_ping_may_end_after_its_count_only(count: int | None, status: int, is_fine: bool) -> None:
    ping = Ping(cast(Rig, SimpleNamespace(server=Shell(status))), Probe(count=count))
    ping.check()
    ping.start()
    if is_fine:
        ping.check()
    else:
        with pytest.raises(RunEndedError, match="ping ended during the run"):
            ping.check()


def test_congestion_control_that_the_kernel_lacks() -> None:
    require_control("cubic", "reno cubic\n")
    with pytest.raises(KneepointError, match=r"'timely', but reno, cubic; .*modprobe tcp_timely"):
        require_control("timely", "reno cubic\n")


def test_buffer_that_the_kernel_does_not_grant(tmp_path: Path) -> None:
    tcp = {"receive_buffer_bytes": 400_000}
    flows = [Flow.model_validate({"controller": "reno", "transport": "tcp", "tcp": tcp})]
    for name in ("rmem_max", "wmem_max"):
        (tmp_path / name).write_text("200000\n")
    require_buffers(flows, tmp_path)
    (tmp_path / "rmem_max").write_text("199999\n")
    with pytest.raises(KneepointError, match=r"400000 .*net\.core\.rmem_max=200000$"):
        require_buffers(flows, tmp_path)

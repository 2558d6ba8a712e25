"""Sender and receiver over loopback: whole exchanges, bad datagrams, and every way to end."""

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.controllers.test_shared_objects import in_c
from tests.engines.live_run import lives, wait_until

SENDER, RECEIVER = ROOT / "build" / "sender", ROOT / "build" / "receiver"
PATIENCE_S = 60
WIDEST_WINDOW = 1048576
"""The maximum window of algorithms/decisions.hh."""
NONE = 2**64 - 1
"""The number that stands for no acknowledgment."""

HEADER = struct.Struct(">6Q")
DATA = HEADER.pack(7, 3, NONE, NONE, NONE, NONE)
ACK = HEADER.pack(0, 1, 0, 0, 4, 1424)

# Starts the receiver, prints its process id, and waits to be killed.
PARENT = """
import subprocess, sys, time
receiver = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE)
receiver.stdout.readline()
print(receiver.pid, flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module", autouse=True)
def _programs_are_built() -> None:
    for program in (SENDER, RECEIVER):
        assert program.exists(), f"{program} is missing: run `make build`"


class Receiver:
    """A receiver on any free port."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        assert process.stdout is not None
        self._output = process.stdout
        words = self._output.readline().split()
        assert words[:3] == ["listening", "on", "port"]
        self.port = int(words[3])

    def end(self, number: int = signal.SIGTERM) -> dict[str, Any]:
        """Ends it and returns its report."""
        self._process.send_signal(number)
        report: dict[str, Any] = json.loads(self._output.read())
        assert self._process.wait(PATIENCE_S) == 0
        return report


@contextmanager
def receiving(*options: str) -> Iterator[Receiver]:
    process = subprocess.Popen([RECEIVER, "0", *options], stdout=subprocess.PIPE, text=True)
    try:
        yield Receiver(process)
    finally:
        process.kill()
        process.communicate()


def send(
    port: int, *options: str, controller: str = "fixed_window", **parameters: float
) -> "subprocess.Popen[str]":
    settings = [word for item in parameters.items() for word in ("--set", f"{item[0]}={item[1]}")]
    return subprocess.Popen(
        [SENDER, "127.0.0.1", str(port), "--controller", controller, *settings, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def answer(sender: "subprocess.Popen[str]") -> tuple[int, dict[str, Any]]:
    """Returns the sender's exit status and its report."""
    output, said = sender.communicate(timeout=PATIENCE_S)
    assert said == ""
    return sender.returncode, json.loads(output)


@contextmanager
def udp(address: str = "127.0.0.1") -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind((address, 0))
        made.settimeout(PATIENCE_S)
        yield made


def unread_bytes(port: int) -> int:
    """Returns the bytes in the receive queue of the UDP socket at 127.0.0.1 (/proc/net/udp)."""
    rows = map(str.split, Path("/proc/net/udp").read_text().splitlines())
    (queues,) = (row[4] for row in rows if row[1] == f"0100007F:{port:04X}")
    return int(queues.rpartition(":")[2], 16)


def test_a_whole_exchange_is_reported_by_both_sides() -> None:
    with receiving() as receiver:
        status, sent = answer(send(receiver.port, "--duration-s", "0.5", window=10))
        wait_until(lambda: unread_bytes(receiver.port) == 0)
        received = receiver.end()
    assert (status, sent["status"], sent["reason"]) == (0, "ok", "")
    assert sent["packets_sent"] - 10 <= sent["acknowledgments"] <= sent["packets_sent"]
    assert sent["packets_sent"] > 100
    assert received["packets_received"] == sent["packets_sent"]
    counts = ("malformed", "foreign")
    assert [received[name] for name in counts] == [0, 0]
    assert sent["malformed"] == 0
    for report in (sent, received):
        delays_us = report["read_delays_us"]
        assert delays_us == sorted(delays_us)
        assert delays_us[0] < report["read_delay_p99_us"] <= delays_us[-1]
    assert len(delays_us) == received["packets_received"].bit_length()


def test_a_paced_sender_sends_no_more_than_one_datagram_a_gap(tmp_path: Path) -> None:
    """In 0.5 s with gaps of 50 ms, at most 11 datagrams leave; on a slow machine, fewer."""
    paced = in_c(tmp_path, "paced", gap_us="50000")
    with receiving() as receiver:
        sender = send(receiver.port, "--duration-s", "0.5", controller=str(paced), window=100)
        status, sent = answer(sender)
    assert status == 0
    assert 2 <= sent["packets_sent"] <= 11


def test_receiver_counts_and_ignores_what_is_no_datagram_of_a_sender() -> None:
    bad = [b"", b"x", DATA[:47], ACK, b"\0" * 65507, b"\1" * 65507]
    with receiving() as receiver, udp() as peer:
        to = ("127.0.0.1", receiver.port)
        for datagram in bad:
            peer.sendto(datagram, to)
        peer.sendto(DATA + b"p" * 1424, to)
        numbers = HEADER.unpack(peer.recv(65536))
        report = receiver.end()
    assert (numbers[0], numbers[2], numbers[3], numbers[5]) == (0, 7, 3, 1424)
    assert numbers[1] == numbers[4] < 1000 * PATIENCE_S
    assert (report["packets_received"], report["malformed"]) == (1, len(bad))


def test_receiver_answers_its_peers_only() -> None:
    with (
        receiving("--address", "0.0.0.0", "--peers", "127.0.0.2/32") as receiver,
        udp("127.0.0.1") as stranger,
        udp("127.0.0.2") as peer,
    ):
        stranger.sendto(DATA, ("127.0.0.1", receiver.port))
        peer.sendto(DATA, ("127.0.0.1", receiver.port))
        assert HEADER.unpack(peer.recv(65536))[2] == 7
        stranger.settimeout(0.1)
        with pytest.raises(TimeoutError):
            stranger.recv(65536)
        report = receiver.end()
    assert (report["packets_received"], report["foreign"], report["malformed"]) == (1, 1, 0)


def test_sender_counts_and_ignores_what_is_no_acknowledgment_of_its_own() -> None:
    bad = [b"", b"x", ACK[:47], DATA, b"\xff" * 65507]
    with udp() as receiver, udp() as stranger:
        sender = send(receiver.getsockname()[1], "--duration-s", "1", window=3, keepalive_ms=60000)
        _, address = receiver.recvfrom(65536)
        stranger.sendto(ACK, address)  # the sender accepts datagrams of its receiver only
        for datagram in bad:
            receiver.sendto(datagram, address)
        receiver.sendto(ACK, address)
        status, report = answer(sender)
    assert (status, report["status"]) == (0, "ok")
    assert (report["malformed"], report["acknowledgments"]) == (len(bad), 1)
    assert report["packets_sent"] == 3 + 1  # one more after the acknowledgment


def test_sender_sends_the_contest_kits_datagrams() -> None:
    with udp() as receiver:
        sender = send(receiver.getsockname()[1], "--duration-s", "0.3", window=3)
        datagrams = [receiver.recv(65536) for _ in range(3)]
        answer(sender)
    assert [len(each) for each in datagrams] == [48 + 1424] * 3
    for number, datagram in enumerate(datagrams):
        header = HEADER.unpack(datagram[:48])
        assert header[0] == number
        assert header[1] < 1000 * PATIENCE_S
        assert header[2:] == (NONE,) * 4


def test_sender_without_a_receiver_says_that_no_acknowledgment_came() -> None:
    with udp() as closed:
        port = closed.getsockname()[1]
    status, report = answer(send(port, "--duration-s", "0.3", window=3))
    assert (status, report["status"]) == (3, "failed")
    assert report["reason"] == "no acknowledgment arrived"


@pytest.mark.parametrize(
    ("acknowledgment", "words"),
    [
        (HEADER.pack(0, 1, 10**6, 3, 4, 1424), "1000000, which was never sent"),
        (HEADER.pack(0, 1, NONE - 1, 3, 4, 1424), f"{NONE - 1}, which was never sent"),
        *((HEADER.pack(0, 1, 0, ms, 4, 1424), str(ms)) for ms in (10**6, 2**63 - 1, 2**63, NONE)),
        *((HEADER.pack(0, 1, 0, 0, ms, 1424), str(ms)) for ms in (2**63, NONE)),
    ],
)
def test_a_receiver_that_acknowledges_what_cannot_be_ends_the_run(
    acknowledgment: bytes, words: str
) -> None:
    with udp() as receiver:
        sender = send(receiver.getsockname()[1], "--duration-s", "60", controller="delay_threshold")
        _, address = receiver.recvfrom(65536)
        receiver.sendto(acknowledgment, address)
        status, report = answer(sender)
    assert (status, report["status"]) == (3, "failed")
    assert words in report["reason"]


@pytest.mark.parametrize("controller", ["c4", "bbr3", "cubic"])
def test_duplicates_of_an_acknowledgment_are_heard_once(controller: str) -> None:
    """Losses are packets sent minus packets delivered: no duplicate may make them negative."""
    with udp() as receiver:
        sender = send(receiver.getsockname()[1], "--duration-s", "1", controller=controller)
        for _ in range(4):
            datagram, address = receiver.recvfrom(65536)
            number, sent_ms, *_ = HEADER.unpack(datagram[:48])
            for _ in range(20):
                receiver.sendto(HEADER.pack(0, 1, number, sent_ms, 4, 1424), address)
        status, report = answer(sender)
    assert (status, report["status"], report["reason"]) == (0, "ok", "")


def test_controller_that_sends_without_end_ends_with_its_duration() -> None:
    with receiving() as receiver:
        start = time.monotonic()
        sender = send(receiver.port, "--duration-s", "0.3", window=WIDEST_WINDOW, keepalive_ms=1)
        _, report = answer(sender)
        assert 0.3 <= time.monotonic() - start < PATIENCE_S
    assert 1000 < report["packets_sent"] < WIDEST_WINDOW, "not even a burst outlives it"


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_signal_ends_both_with_their_reports(number: int) -> None:
    with receiving() as receiver, udp() as peer:
        peer.sendto(DATA, ("127.0.0.1", receiver.port))
        peer.recv(65536)
        received = receiver.end(number)
        sender = send(peer.getsockname()[1], window=1)
        _, address = peer.recvfrom(65536)
        peer.sendto(ACK, address)
        peer.recv(65536)  # it sends again after the acknowledgment
        sender.send_signal(number)
        status, sent = answer(sender)
    assert received["packets_received"] == 1
    assert (status, sent["status"], sent["acknowledgments"]) == (0, "ok", 1)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ([RECEIVER], "PORT is missing"),
        ([RECEIVER, "65536"], "port 65536 is outside [0, 65535]"),
        ([RECEIVER, "0", "--peers", "127.0.0.1"], "is not like 100.64.0.0/10"),
        ([RECEIVER, "0", "--adress", "x"], "unknown option '--adress'"),
        ([RECEIVER, "0", "--address"], "--address needs a value"),
        ([RECEIVER, "0", "--clock-epoch-ms", "-1"], "--clock-epoch-ms"),
        ([SENDER, "127.0.0.1"], "HOST PORT is missing"),
        ([SENDER, "127.0.0.1", "0"], "port 0 is outside [1, 65535]"),
        ([SENDER, "127.0.0.1", "9", "--controller", "fixed_windw"], "fixed_windw"),
        ([SENDER, "127.0.0.1", "9", "--set", "window"], "window is not PARAMETER=VALUE"),
        ([SENDER, "127.0.0.1", "9", "--set", "window=nan"], "'nan' is not a number"),
        ([SENDER, "127.0.0.1", "9", "--set", "a=1", "--set", "a=2"], "--set a is given twice"),
        *(
            ([SENDER, "127.0.0.1", "9", "--duration-s", text], f"--duration-s {text} is outside")
            for text in ("0", "86401")
        ),
        (
            [SENDER, "127.0.0.1", "9", "--controller", "abc"],
            "abc needs a count of marks in acknowledgments, which transport datagrams in real time",
        ),
        ([RECEIVER, "-1"], "is not a whole number"),
        ([RECEIVER, "0", "--peers", "1.2.3.4/33"], "bits 33 is outside [0, 32]"),
    ],
)
def test_bad_arguments_are_one_line(command: list[str], message: str) -> None:
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_receiver_ends_with_a_parent_that_was_killed() -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, RECEIVER, "0", "--end-with-parent"], stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    receiver = int(parent.stdout.readline())
    os.kill(receiver, 0)
    parent.kill()
    parent.communicate()
    wait_until(lambda: not lives(receiver))

"""Verifies that real mahimahi works here: a short run through a delay and a link."""

import os
import socket
import subprocess
import time
from dataclasses import dataclass

from common.errors import KneepointError
from engines.mahimahi.diagnosis import User
from engines.mahimahi.processes import delete_rules, end_session, start_as_ordinary_user
from engines.mahimahi.run_folder import RunFolder

DATAGRAMS = 10
DELAY_MS = 20
_PATIENCE_MS = 500  # for a busy machine; a link without its delay, or seconds late, is broken
_TIME_LIMIT_S = 20
_HEADERS_BYTES = 32  # IP 20, UDP 8, TUN 4
_OPPORTUNITY_MS = 10

# bash can send datagrams and read the time in microseconds.
_SENDER = """
for _ in {{1..{datagrams}}}; do
  echo "$EPOCHREALTIME" > "/dev/udp/$MAHIMAHI_BASE/{port}"
  sleep 0.1
done
"""


@dataclass(frozen=True)
class Arrival:
    """A datagram received from mahimahi."""

    size_bytes: int
    delay_ms: float


def prove(user: User | None) -> None:
    """Runs mahimahi for about a second, as `user` if one is given; leaves nothing behind.

    Raises:
        KneepointError: the run failed, or its datagrams do not match its link.
    """
    folder = RunFolder.make("kneepoint-proof-", user)
    try:
        arrivals = _run(user, folder)
        check_delays(arrivals)
        check_log(folder.read("work/uplink.log"), arrivals)
    finally:
        folder.remove()


def check_delays(arrivals: list[Arrival]) -> None:
    """Raises KneepointError unless enough datagrams arrived in time."""
    if not arrivals:
        raise KneepointError(
            "mahimahi runs, but no datagram from inside reached a socket outside; "
            "check the firewall of this machine (allow UDP from 100.64.0.0/10)"
        )
    least = min(arrival.delay_ms for arrival in arrivals)
    if not DELAY_MS <= least <= DELAY_MS + _PATIENCE_MS:
        raise KneepointError(
            f"mahimahi runs, but a delay of {DELAY_MS} ms takes {least:.1f} ms; try again "
            "when this machine is less busy and its clock is not being adjusted"
        )


def check_log(log: str, arrivals: list[Arrival]) -> None:
    """Raises KneepointError unless the uplink's log contains the datagrams that arrived."""
    departures = [line.split() for line in log.splitlines() if " - " in line and line[0] != "#"]
    sizes = [int(fields[2]) for fields in departures]
    missing = [a for a in arrivals if a.size_bytes + _HEADERS_BYTES not in sizes]
    if missing or len(sizes) < len(arrivals):
        raise KneepointError(
            f"mahimahi runs, but {len(arrivals)} datagrams came out of it and its log has "
            f"{len(sizes)} departures; another program called mm-link may be on the PATH"
        )


def _run(user: User | None, folder: RunFolder) -> list[Arrival]:
    trace = folder.add("trace", f"{_OPPORTUNITY_MS}\n".encode())
    log, output = folder.work / "uplink.log", folder.path / "output"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside, output.open("xb") as file:
        outside.bind(("", 0))
        sender = _SENDER.format(datagrams=DATAGRAMS, port=outside.getsockname()[1])
        link = ["mm-link", str(trace), str(trace), f"--uplink-log={log}"]
        process = start_as_ordinary_user(
            ["mm-delay", str(DELAY_MS), *link, "--", "bash", "-c", sender],
            user,
            folder.work,
            output=file,
            environment=os.environ | {"LC_ALL": "C"},
        )
        try:
            arrivals = _receive(outside, process)
            ended = process.poll() is not None
        finally:
            if not end_session(process):
                delete_rules(process.pid)
    if not ended:
        raise KneepointError(
            f"a run of mahimahi did not end within {_TIME_LIMIT_S} s; "
            "try again when this machine is less busy"
        )
    if process.returncode != 0:
        words = folder.read("output").strip().splitlines()[-1:]
        raise KneepointError(
            f"a run of mahimahi fails ({''.join(words) or f'exit status {process.returncode}'}); "
            "docs/real-runs.md, Install it, lists its requirements"
        )
    return arrivals


def _receive(outside: socket.socket, process: "subprocess.Popen[bytes]") -> list[Arrival]:
    """Receives datagrams until the process has ended or its time is over."""
    arrivals: list[Arrival] = []
    end = time.monotonic() + _TIME_LIMIT_S
    outside.settimeout(0.05)
    running = True
    while running and time.monotonic() < end:
        running = process.poll() is None  # before the socket is read: no datagram is missed
        try:
            datagram = outside.recv(1500)
        except TimeoutError:
            continue
        running = True
        arrivals.append(Arrival(len(datagram), (time.time() - float(datagram)) * 1000))
    return arrivals

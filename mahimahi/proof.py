"""The proof that the real mahimahi works here: a short run through a delay and a link."""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from mahimahi.diagnosis import User
from mahimahi.processes import delete_rules, end_session, start_as_ordinary_user
from search.errors import KneepointError

DATAGRAMS = 10
DELAY_MS = 20
_PATIENCE_MS = 500  # of a busy machine; a link that loses the delay or adds seconds is broken
_TIME_LIMIT_S = 20
_HEADERS_BYTES = 32  # IP 20, UDP 8, TUN 4
_OPPORTUNITY_MS = 10

# bash sends datagrams by itself, and knows the time in microseconds.
_SENDER = """
for _ in {{1..{datagrams}}}; do
  echo "$EPOCHREALTIME" > "/dev/udp/$MAHIMAHI_BASE/{port}"
  sleep 0.1
done
"""


@dataclass(frozen=True)
class Arrival:
    """A datagram that came out of mahimahi."""

    size_bytes: int
    delay_ms: float


def prove(user: User | None) -> None:
    """Runs mahimahi for about a second, as `user` if one is given; leaves nothing behind.

    Raises:
        KneepointError: the run failed, or what came out of it is not what its link says.
    """
    # Root's own TMPDIR may be closed to others.
    parent = None if user is None else "/tmp"  # noqa: S108 (mkdtemp makes it safe)
    folder = Path(tempfile.mkdtemp(prefix="kneepoint-proof-", dir=parent))
    try:
        if user is not None:
            os.chown(folder, *user)
        arrivals = _run(user, folder)
        check_delays(arrivals)
        check_log((folder / "uplink.log").read_text(), arrivals)
    finally:
        shutil.rmtree(folder)


def check_delays(arrivals: list[Arrival]) -> None:
    """Raises KneepointError unless enough datagrams came, and in time."""
    if not arrivals:
        raise KneepointError(
            "mahimahi runs, but no datagram from within it reached a socket outside; "
            "check the firewall of this machine (UDP from 100.64.0.0/10 must be let in)"
        )
    least = min(arrival.delay_ms for arrival in arrivals)
    if not DELAY_MS <= least <= DELAY_MS + _PATIENCE_MS:
        raise KneepointError(
            f"mahimahi runs, but a delay of {DELAY_MS} ms takes {least:.1f} ms; try again "
            "when this machine has less to do, and when its clock is not being set"
        )


def check_log(log: str, arrivals: list[Arrival]) -> None:
    """Raises KneepointError unless the uplink's log tells of the datagrams that arrived."""
    departures = [line.split() for line in log.splitlines() if " - " in line and line[0] != "#"]
    sizes = [int(fields[2]) for fields in departures]
    missing = [a for a in arrivals if a.size_bytes + _HEADERS_BYTES not in sizes]
    if missing or len(sizes) < len(arrivals):
        raise KneepointError(
            f"mahimahi runs, but {len(arrivals)} datagrams came out of it and its log has "
            f"{len(sizes)} departures; another program called mm-link may be on the PATH"
        )


def _run(user: User | None, folder: Path) -> list[Arrival]:
    trace, log, output = folder / "trace", folder / "uplink.log", folder / "output"
    trace.write_text(f"{_OPPORTUNITY_MS}\n")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside, output.open("wb") as file:
        outside.bind(("", 0))
        sender = _SENDER.format(datagrams=DATAGRAMS, port=outside.getsockname()[1])
        link = ["mm-link", str(trace), str(trace), f"--uplink-log={log}"]
        process = start_as_ordinary_user(
            ["mm-delay", str(DELAY_MS), *link, "--", "bash", "-c", sender],
            user,
            folder,
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
            "try again when this machine has less to do"
        )
    if process.returncode != 0:
        words = output.read_text(errors="replace").strip().splitlines()[-1:]
        raise KneepointError(
            f"a run of mahimahi fails ({''.join(words) or f'exit status {process.returncode}'}); "
            "README.md, Real mahimahi, says what it needs"
        )
    return arrivals


def _receive(outside: socket.socket, process: "subprocess.Popen[bytes]") -> list[Arrival]:
    """Takes what arrives until the process has ended, or its time is over."""
    arrivals: list[Arrival] = []
    end = time.monotonic() + _TIME_LIMIT_S
    outside.settimeout(0.05)
    running = True
    while running and time.monotonic() < end:
        running = process.poll() is None  # asked before the socket: what came last is read, too
        try:
            datagram = outside.recv(1500)
        except TimeoutError:
            continue
        running = True
        arrivals.append(Arrival(len(datagram), (time.time() - float(datagram)) * 1000))
    return arrivals

"""Verifies by a short run that real mahimahi works on this machine."""

import socket
from contextlib import suppress
from subprocess import TimeoutExpired

from kneepoint.common.errors import KneepointError
from kneepoint.engines.mahimahi.diagnosis import User
from kneepoint.engines.mahimahi.processes import (
    delete_rules_of_the_dead,
    end_session,
    start_as_ordinary_user,
)
from kneepoint.engines.mahimahi.run_folder import RunFolder, run_folder

_TIME_LIMIT_S = 20
_TRACE = b"10\n"  # an opportunity every 10 ms

# bash can send datagrams.
_SENDER = "for _ in {{1..10}}; do echo > /dev/udp/$MAHIMAHI_BASE/{port}; sleep 0.1; done"


def prove(user: User | None) -> None:
    """Raises KneepointError unless mahimahi carries datagrams for about a second, as `user`."""
    with run_folder("proof", user) as folder:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as outside:
            outside.bind(("", 0))
            outside.setblocking(False)
            _run(user, folder, _SENDER.format(port=outside.getsockname()[1]))
            arrived = 0
            with suppress(BlockingIOError):
                while outside.recv(1500):
                    arrived += 1
        check(arrived, folder.read("work/uplink.log"))


def check(arrived: int, log: str) -> None:
    """Raises KneepointError unless datagrams arrived, and the link's log has their departures."""
    departures = sum(" - " in line and line[0] != "#" for line in log.splitlines())
    if not 0 < arrived <= departures:
        raise KneepointError(
            f"mahimahi runs, but {arrived} datagrams came out of it and its log has {departures} "
            "departures; check the firewall of this machine (allow UDP from 100.64.0.0/10), and "
            "whether another program called mm-link is on the PATH"
        )


def _run(user: User | None, folder: RunFolder, inside: str) -> None:
    trace = str(folder.add("trace", _TRACE))
    words = ["mm-delay", "20", "mm-link", trace, trace, f"--uplink-log={folder.work}/uplink.log"]
    words += ["--", "bash", "-c", inside]
    with (folder.path / "output").open("xb") as output:
        process = start_as_ordinary_user(words, user, folder.work, output)
    try:
        status = process.wait(_TIME_LIMIT_S)
    except TimeoutExpired:
        raise KneepointError(
            f"a run of mahimahi did not end within {_TIME_LIMIT_S} s; "
            "try again when this machine is less busy"
        ) from None
    finally:
        end_session(process)
        delete_rules_of_the_dead()
    if status != 0:
        words = folder.read("output").strip().splitlines()[-1:]
        raise KneepointError(
            f"a run of mahimahi fails ({''.join(words) or f'exit status {status}'}); "
            "docs/real-runs.md, Install it, lists its requirements"
        )

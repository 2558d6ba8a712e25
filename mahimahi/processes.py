"""Starts programs in which mahimahi works, and ends them with all that they started."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from mahimahi.diagnosis import User


def start_as_ordinary_user(
    command: Sequence[str],
    user: User | None,
    folder: Path,
    output: IO[bytes] | int = subprocess.DEVNULL,
    environment: Mapping[str, str] | None = None,
) -> "subprocess.Popen[bytes]":
    """Starts a command in a session of its own, as `user` if one is given.

    `env` sets all signals back: mm-link ends its child with SIGHUP, which a process started by
    nohup ignores, and so does everything that it starts; such a run would never end.
    """
    uid, gid = (None, None) if user is None else user
    return subprocess.Popen(
        ["env", "--default-signal", *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        user=uid,
        group=gid,
        extra_groups=None if user is None else [],
        start_new_session=True,
    )


def end_session(process: "subprocess.Popen[bytes]", patience_s: float = 3) -> bool:
    """Ends a process so started and all its children; whether they ended without being killed.

    mahimahi takes back its iptables rules on SIGTERM, on SIGKILL it cannot.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(patience_s)
        gracefully = True
    except subprocess.TimeoutExpired:
        gracefully = False
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return gracefully


def delete_rules(mark: int) -> None:
    """Takes back the rules of a mahimahi that was killed; without root, does nothing.

    Args:
        mark: its process id, with which it marks its packets.
    """
    if os.geteuid() != 0:
        return
    listing = subprocess.run(
        ["iptables", "-w", "-t", "nat", "-S"], check=False, capture_output=True, text=True
    )
    for rule in listing.stdout.splitlines():
        words = rule.split()
        if words[:1] == ["-A"] and any(word.partition("/")[0] == f"{mark:#x}" for word in words):
            subprocess.run(["iptables", "-w", "-t", "nat", "-D", *words[1:]], check=False)

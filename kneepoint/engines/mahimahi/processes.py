"""Starts programs that run mahimahi, and ends them with all their descendants."""

import ipaddress
import itertools
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from kneepoint.engines.mahimahi.diagnosis import User

INSIDES = "100.64.0.0/10"
"""The addresses that mahimahi assigns to its shells (RFC 6598)."""


def start_as_ordinary_user(
    command: Sequence[str],
    user: User | None,
    folder: Path,
    output: IO[bytes] | int = subprocess.DEVNULL,
) -> "subprocess.Popen[bytes]":
    """Starts a command in its own session and in English, as `user` unless that is None.

    `env` resets all signals: mm-link ends its child by SIGHUP, which descendants of a process
    started by nohup ignore, so that the run would never end.
    """
    uid, gid = (None, None) if user is None else user
    return subprocess.Popen(
        ["env", "--default-signal", "LC_ALL=C", *command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        user=uid,
        group=gid,
        extra_groups=None if user is None else [],
        start_new_session=True,
    )


def end_session(process: "subprocess.Popen[bytes]", patience_s: float = 3) -> None:
    """Ends a process of start_as_ordinary_user and all its children.

    SIGTERM comes first: after SIGKILL mahimahi cannot remove its iptables rules.
    """
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        process.wait(patience_s)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def delete_rules_of_the_dead() -> None:
    """Removes the iptables rules that killed mahimahi shells left behind; needs root."""
    rules = _rules()
    marks = {mark for words in rules if (mark := _mark_of_shell(words)) is not None}
    dead = {f"{mark:#x}" for mark in marks if not _is_shell(mark)}
    for words in rules:
        if not dead.isdisjoint(word.partition("/")[0] for word in words):
            subprocess.run(["iptables", "-w", "-t", "nat", "-D", *words[1:]], check=False)


def _rules() -> list[list[str]]:
    """Returns the arguments of each rule of the nat table; empty without root or iptables."""
    if os.geteuid() != 0:
        return []
    try:
        listing = subprocess.run(
            ["iptables", "-w", "-t", "nat", "-S"], check=False, capture_output=True, text=True
        )
    except FileNotFoundError:
        return []
    return [line.split() for line in listing.stdout.splitlines() if line.startswith("-A ")]


def _mark_of_shell(words: list[str]) -> int | None:
    """The mark that a rule sets on packets from inside a mahimahi shell; None for other rules.

    Other programs also use these addresses; a shell's rule has a single address and sets all bits
    of the mark.
    """
    values = dict(itertools.pairwise(words))
    try:
        source = ipaddress.IPv4Network(values["-s"])
        mark, _, mask = values["--set-xmark"].partition("/")
        process_id = int(mark, 16)
    except (KeyError, ValueError):
        return None
    is_inside = source.prefixlen == 32 and source.subnet_of(ipaddress.IPv4Network(INSIDES))
    is_whole = mask == "0xffffffff" and values.get("-j") == "CONNMARK"
    return process_id if is_inside and is_whole else None


def _is_shell(process_id: int) -> bool:
    """Returns whether a process is a mahimahi shell."""
    try:
        return Path(f"/proc/{process_id}/comm").read_text().startswith("mm-")
    except OSError:
        return False

"""Diagnoses why real mahimahi cannot work on this machine, with cheap checks and no run.

    python -m kneepoint.engines.mahimahi.diagnosis

prints nothing if mahimahi can work.
"""

import os
import pwd
import re
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.programs import run_program

PROGRAMS = ("mm-delay", "mm-link")
_CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}  # linux/capability.h

# From this version on, iptables exits with 111 when its real and effective user ids differ.
_FIRST_STRICT_IPTABLES = (1, 8, 8)
_IPTABLES = ("/usr/sbin/iptables", "/sbin/iptables")
_INSTALL = "run `sudo make mahimahi`"

User = tuple[int, int]


@dataclass(frozen=True)
class Facts:
    """The facts about a system on which the diagnosis depends."""

    missing: tuple[str, ...]  # programs of mahimahi that are not on the PATH
    without_set_uid: tuple[Path, ...]  # programs that are not set-uid root
    without_effect: tuple[Path, ...]  # programs on a file system mounted nosuid
    no_new_privileges: bool  # of this process and its descendants
    capabilities: int  # bounding set: all that a set-uid program can obtain
    tun: bool
    iptables: Path | None  # the program behind all links and alternatives
    iptables_version: tuple[int, ...]
    ip_forward: bool


def diagnose(facts: Facts | None = None) -> None:
    """Raises KneepointError, with cause and remedy, if the real mahimahi cannot work here."""
    facts = read_facts() if facts is None else facts
    require_machine(facts)
    require_installation(facts)


def require_machine(facts: Facts) -> None:
    """Raises KneepointError if mahimahi cannot work in this process even if installed."""
    denied = [name for name, bit in _CAPABILITIES.items() if not facts.capabilities >> bit & 1]
    if denied:
        raise KneepointError(
            f"this container denies {denied[0]}, which mahimahi needs for network namespaces; "
            "run on the host itself or start the container with --privileged"
        )
    if facts.no_new_privileges:
        raise KneepointError(
            "this process cannot gain privileges (no_new_privs), so mahimahi's set-uid bit has no "
            "effect; run it outside this sandbox or container "
            "(Docker: without --security-opt no-new-privileges)"
        )
    if not facts.tun:
        raise KneepointError(
            "/dev/net/tun is missing, which mahimahi's links need; run `modprobe tun` as root "
            "(in a container: --device /dev/net/tun)"
        )
    ordinary_user()


def require_installation(facts: Facts) -> None:
    """Raises KneepointError if the installation has a defect."""
    if facts.missing:
        raise KneepointError(
            f"mahimahi is not installed ({facts.missing[0]} is not on the PATH); {_INSTALL}"
        )
    if facts.without_set_uid:
        program = facts.without_set_uid[0]
        raise KneepointError(
            f"{program} is not set-uid root and cannot create network namespaces; "
            f"`chown root {program} && chmod u+s {program}` as root"
        )
    if facts.without_effect:
        raise KneepointError(
            f"{facts.without_effect[0]} is on a file system mounted nosuid, so its set-uid bit "
            "has no effect; install mahimahi elsewhere or mount this file system with suid"
        )
    if facts.iptables is None:
        raise KneepointError(f"iptables is not installed, which mahimahi needs; {_INSTALL}")
    if iptables_is_strict(facts):
        version = ".".join(map(str, facts.iptables_version))
        raise KneepointError(
            f"iptables {version} refuses calls from mahimahi (exit status 111); {_INSTALL}"
        )
    if not facts.ip_forward:
        raise KneepointError(
            f"net.ipv4.ip_forward is 0, so no packet leaves mahimahi's shells; {_INSTALL}"
        )


def iptables_is_strict(facts: Facts) -> bool:
    """Returns whether iptables rejects set-uid callers; a wrapper in its place does not."""
    return (
        facts.iptables is not None
        and facts.iptables.name.startswith("xtables-")
        and facts.iptables_version >= _FIRST_STRICT_IPTABLES
    )


def ordinary_user() -> User | None:
    """Returns the (uid, gid) that runs mahimahi, which refuses root; None if we are not root.

    It is the user who called sudo, otherwise `nobody`.
    """
    if os.getuid() != 0:
        return None
    sudo_uid, sudo_gid = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if sudo_uid.isdecimal() and sudo_gid.isdecimal() and int(sudo_uid) != 0:
        return int(sudo_uid), int(sudo_gid)
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise KneepointError(
            "mahimahi refuses to run as root, and this system has no user `nobody`; use sudo"
        ) from None
    return nobody.pw_uid, nobody.pw_gid


def read_facts() -> Facts:
    """Reads the facts of this system."""
    found = {name: shutil.which(name) for name in PROGRAMS}
    programs = [Path(path) for path in found.values() if path is not None]
    lines = Path("/proc/self/status").read_text().splitlines()
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    # An ordinary user's PATH may lack sbin, and mahimahi calls iptables by its full path.
    iptables = next((p for p in map(Path, _IPTABLES) if p.exists()), None)
    forwards = Path("/proc/sys/net/ipv4/ip_forward")
    return Facts(
        missing=tuple(name for name, path in found.items() if path is None),
        without_set_uid=tuple(path for path in programs if not _is_set_uid_root(path)),
        without_effect=tuple(path for path in programs if os.statvfs(path).f_flag & os.ST_NOSUID),
        no_new_privileges=status.get("NoNewPrivs", "0") != "0",
        capabilities=int(status.get("CapBnd", "0"), 16),
        tun=Path("/dev/net/tun").exists(),
        iptables=None if iptables is None else iptables.resolve(),
        iptables_version=() if iptables is None else _version(iptables),
        ip_forward=not forwards.exists() or forwards.read_text().strip() != "0",
    )


def _is_set_uid_root(program: Path) -> bool:
    status = program.stat()
    return status.st_uid == 0 and bool(status.st_mode & stat.S_ISUID)


def _version(iptables: Path) -> tuple[int, ...]:
    result = run_program([str(iptables), "--version"], Path("/"), limit_s=10)
    match = re.search(r"v(\d+)\.(\d+)\.(\d+)", result.stdout)
    return tuple(map(int, match.groups())) if match else ()


if __name__ == "__main__":
    run_command_line(diagnose)

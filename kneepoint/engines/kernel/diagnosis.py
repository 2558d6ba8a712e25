"""Diagnoses why the kernel's rig cannot work on this machine, with cheap checks and no run.

    python -m kneepoint.engines.kernel.diagnosis

prints nothing if it can work.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.programs import complaint, run_program

SEARCH_PATH = os.environ.get("PATH", "") + ":/usr/local/sbin:/usr/sbin:/sbin"
"""Where to find programs: an ordinary user's PATH may lack sbin."""
UNSHARE = (
    "unshare",
    *("--user", "--map-root-user", "--net", "--pid", "--fork", "--kill-child"),
)
"""Prefix that starts a command as root in new namespaces, which end with it."""

TUN = Path("/dev/net/tun")
_PACKAGES: Mapping[str, str] = {
    "ip": "iproute2",
    "tc": "iproute2",
    "ethtool": "ethtool",
    "ping": "iputils-ping",
    "iperf3": "iperf3",
    "unshare": "util-linux",
}
"""The programs that the rig needs, with their packages in Debian and Ubuntu."""
_TIME_LIMIT_S = 10


def diagnose() -> None:
    """Raises KneepointError, with cause and remedy, if the rig cannot work here."""
    if missing := _missing_programs():
        raise KneepointError(
            f"{missing[0]} is not installed, which the kernel's rig needs; run "
            f"`sudo make kernel-rig` (it installs {_PACKAGES[missing[0]]})"
        )
    if denied := _refusal_of_namespaces():
        raise KneepointError(
            f"this process may not make namespaces ({denied}); allow user "
            "namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone=1, "
            "kernel.apparmor_restrict_unprivileged_userns=0), or run as root; in a container, "
            "with --privileged"
        )
    if not TUN.exists():
        raise KneepointError(
            f"{TUN} is missing, which the kernel's rig needs for its delay line; run "
            "`modprobe tun` as root (in a container: --device /dev/net/tun)"
        )
    if not os.access(TUN, os.R_OK | os.W_OK):
        raise KneepointError(
            f"{TUN} cannot be opened, which the kernel's rig needs for its delay line; run "
            "`chmod 666 /dev/net/tun` as root, as is usual, or run as root"
        )


def missing_packages() -> list[str]:
    """Returns the packages of Debian and Ubuntu with the missing programs."""
    return list(dict.fromkeys(_PACKAGES[program] for program in _missing_programs()))


def _missing_programs() -> list[str]:
    return [name for name in _PACKAGES if shutil.which(name, path=SEARCH_PATH) is None]


def _refusal_of_namespaces() -> str:
    program = str(shutil.which(UNSHARE[0], path=SEARCH_PATH))
    try:
        result = run_program([program, *UNSHARE[1:], "true"], Path("/"), _TIME_LIMIT_S)
    except (OSError, KneepointError) as error:
        return str(error)
    return complaint(result) if result.returncode else ""


if __name__ == "__main__":
    run_command_line(diagnose)

"""What `make mahimahi` changes on a system: places, the record of changes, programs run as root."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from common.errors import KneepointError
from common.files import read_json, write_whole
from common.programs import complaint, run_program

RECORD = Path("/var/lib/kneepoint/mahimahi.json")
WRAPPER = Path("/usr/local/lib/kneepoint/iptables")
IP_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
IP_FORWARD_AT_BOOT = Path("/etc/sysctl.d/99-kneepoint-mahimahi.conf")

_AGAIN = "run this again to resume"


@dataclass
class Changes:
    """The changes, each recorded before it is made, so that it can be undone.

    A change that was recorded but not made does no harm: undoing it does nothing.
    """

    packages: list[str] = field(default_factory=list)  # not installed before
    named: list[str] = field(default_factory=list)  # those that apt takes for the user's wish
    wrapper: bool = False
    alternative: str = ""  # of iptables, chosen by hand before, if any
    ip_forward: str = ""  # its earlier value

    @classmethod
    def read(cls) -> "Changes":
        """Reads the record, which may be missing; raises KneepointError if it is none."""
        try:
            return cls(**read_json(RECORD))
        except FileNotFoundError:
            return cls()
        except (ValueError, TypeError):
            raise KneepointError(
                f"{RECORD}: is not a record of `make mahimahi`; if you undo its changes by hand "
                "(docs/real-runs.md, Install it), delete the file"
            ) from None

    def write(self) -> None:
        """Replaces the record, on disk before the change that it describes."""
        write_whole(RECORD, json.dumps(asdict(self), indent=2) + "\n")


def require_root(target: str) -> None:
    """Raises KneepointError unless we are root."""
    if os.geteuid() != 0:
        raise KneepointError(f"`{target}` changes the system, which needs root: sudo {target}")


def run(*command: str | Path, remedy: str = _AGAIN) -> str:
    """Runs a command in English, without questions, and returns what it printed.

    Raises:
        KneepointError: it failed; the message has its complaint and the remedy.
    """
    try:
        result = run_program([*map(str, command)], Path("/"), limit_s=None)
    except FileNotFoundError:
        raise KneepointError(f"{command[0]} is missing; this needs Debian or Ubuntu") from None
    except KeyboardInterrupt:
        raise KneepointError(f"interrupted; {_AGAIN}") from None
    if result.returncode != 0:
        raise KneepointError(f"{command[0]} failed ({complaint(result)}); {remedy}")
    return result.stdout

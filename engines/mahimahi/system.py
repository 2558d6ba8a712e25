"""The system to change: its files, its programs, and the record of changes."""

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from common.errors import KneepointError
from common.programs import complaint

Result = subprocess.CompletedProcess[str]

_TIME_LIMIT_S = 1800  # a hundred packages over a slow network


def run_as_root(command: list[str]) -> Result:
    """Runs a command in English, without questions, and returns what it printed."""
    quiet = {"LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_SUSPEND": "1"}
    # su without a dash leaves root without sbin.
    path = {"PATH": os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin:/sbin:/bin"}
    try:
        return subprocess.run(
            command,
            cwd="/",
            env=os.environ | quiet | path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except FileNotFoundError:
        raise KneepointError(
            f"the program {command[0]} is missing; this needs Debian or Ubuntu"
        ) from None
    except KeyboardInterrupt:
        raise KneepointError("interrupted; run this again to resume") from None
    except subprocess.TimeoutExpired:
        raise KneepointError(
            f"{command[0]} did not finish within {_TIME_LIMIT_S // 60} min; "
            "check the network, then run this again to resume"
        ) from None


@dataclass(frozen=True)
class System:
    """The places of files, and how to run programs. Tests pass their own folder and `run`."""

    root: Path = Path("/")
    run: Callable[[list[str]], Result] = run_as_root

    @property
    def apt_folder(self) -> Path:
        """The system's apt sources and preferences, which are only read."""
        return self.root / "etc/apt"

    @property
    def package_cache(self) -> Path:
        """Our temporary sources, preferences and lists for apt."""
        return self.root / "var/cache/kneepoint"

    @property
    def record(self) -> Path:
        """The record of changes, see Changes."""
        return self.root / "var/lib/kneepoint/mahimahi.json"

    @property
    def wrapper(self) -> Path:
        """The compiled iptables_wrapper.c."""
        return self.root / "usr/local/lib/kneepoint/iptables"

    @property
    def ip_forward(self) -> Path:
        """The kernel's setting, as a file."""
        return self.root / "proc/sys/net/ipv4/ip_forward"

    @property
    def ip_forward_at_boot(self) -> Path:
        """The same at boot, sysctl.d(5)."""
        return self.root / "etc/sysctl.d/99-kneepoint-mahimahi.conf"

    def run_or_fail(self, command: list[str], remedy: str) -> str:
        """Runs a command and returns its output.

        Raises:
            KneepointError: it failed; the message has its complaint and the remedy.
        """
        result = self.run(command)
        if result.returncode != 0:
            raise KneepointError(f"{command[0]} failed ({complaint(result)}); {remedy}")
        return result.stdout


@dataclass
class Changes:
    """The changes, each recorded before it is made, so that it can be undone.

    A change that was recorded but not made does no harm: undoing it does nothing.
    """

    installing: list[str] = field(default_factory=list)  # requested from apt, not done yet
    packages: list[str] = field(default_factory=list)  # not installed before
    named: list[str] = field(
        default_factory=list
    )  # those of them that apt regards as requested by the user
    wrapper: bool = False
    wrapper_sha256: str = ""  # of its source when it was compiled
    alternative: str = ""  # chosen by hand before, if any
    ip_forward: str = ""  # its earlier value

    @classmethod
    def read(cls, system: System) -> "Changes":
        """Reads the record, which may be missing.

        Raises:
            KneepointError: the record cannot be read.
        """
        try:
            return cls(**json.loads(system.record.read_text()))
        except FileNotFoundError:
            return cls()
        except (ValueError, TypeError):
            raise KneepointError(
                f"{system.record}: is not a record of `make mahimahi`; if you undo its changes "
                "by hand (docs/real-runs.md, Install it), delete the file"
            ) from None

    def write(self, system: System) -> None:
        """Replaces the record atomically, on disk before the change that it describes."""
        system.record.parent.mkdir(parents=True, exist_ok=True)
        new = system.record.with_suffix(".new")
        with new.open("w") as file:
            json.dump(asdict(self), file, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        new.replace(system.record)

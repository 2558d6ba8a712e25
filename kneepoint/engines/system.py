"""The changes of a system by `make mahimahi` and `make kernel-rig`, recorded for undoing them.

Packages that this release lacks come from Debian 11 or Ubuntu 20.04.
"""

import json
import os
import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from platform import freedesktop_os_release
from typing import Any

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import read_json, write_whole
from kneepoint.common.programs import complaint, run_program
from kneepoint.networks.apt import APT, LAST_DEBIAN, apt_get, derive_entries

RECORD = Path("/var/lib/kneepoint/mahimahi.json")
WRAPPER = Path("/usr/local/lib/kneepoint/iptables")
IP_FORWARD = Path("/proc/sys/net/ipv4/ip_forward")
IP_FORWARD_AT_BOOT = Path("/etc/sysctl.d/99-kneepoint-mahimahi.conf")

_AGAIN = "run this again to resume"

_OWN = Path("/var/cache/kneepoint")
_LAST_UBUNTU = "focal"
"""The last release of Ubuntu that packages mahimahi."""

# Lower than the priorities of installed packages (100) and of the system's own releases (500): the
# older release only supplies missing packages, and replaces none.
PIN = "".join(
    f"Package: *\nPin: release n={suite}\nPin-Priority: 50\n\n"
    for suite in (LAST_DEBIAN, _LAST_UBUNTU)
)


@dataclass(frozen=True)
class Changes:
    """The changes, each recorded before it is made, so that it can be undone.

    Undoing a recorded change that was not made has no effect.
    """

    packages: list[str] = field(default_factory=list)  # not installed before
    named: list[str] = field(default_factory=list)  # marked `manual` by apt
    wrapper: bool = False
    alternative: str = ""  # the alternative of iptables that was selected by hand before, if any
    ip_forward: str = ""  # its earlier value

    @classmethod
    def read(cls) -> "Changes":
        """Reads the record, which may be missing; raises KneepointError if it is damaged."""
        try:
            return cls(**read_json(RECORD))
        except FileNotFoundError:
            return cls()
        except (ValueError, TypeError):
            raise KneepointError(
                f"{RECORD}: is not a record of `make mahimahi`; if you undo its changes by hand "
                "(docs/real-runs.md, Install it), delete the file"
            ) from None

    @classmethod
    def record(cls, **changes: Any) -> None:
        """Adds changes to the record on disk; called before they are made."""
        recorded = replace(cls.read(), **changes)
        write_whole(RECORD, json.dumps(asdict(recorded), indent=2) + "\n")


def require_root(target: str) -> None:
    """Raises KneepointError unless we are root."""
    if os.geteuid() != 0:
        raise KneepointError(f"`{target}` changes the system, which needs root: sudo {target}")


def run(*command: str | Path, remedy: str = _AGAIN) -> str:
    """Returns a command's output, in English; raises KneepointError with its error message."""
    try:
        result = run_program([*map(str, command)], Path("/"), limit_s=None)
    except FileNotFoundError:
        raise KneepointError(f"{command[0]} is missing; this needs Debian or Ubuntu") from None
    except KeyboardInterrupt:
        raise KneepointError(f"interrupted; {_AGAIN}") from None
    if result.returncode != 0:
        raise KneepointError(f"{command[0]} failed ({complaint(result)}); {remedy}")
    return result.stdout


def older_entries(release: Mapping[str, str], apt: Path) -> str:
    """Returns source entries of the last release with mahimahi; "" if this release has it.

    The source entries are derived from the entries in the folder `apt`; raises KneepointError if
    the folder has no entries.
    """
    codename = release.get("VERSION_CODENAME", "")
    if codename in ("buster", LAST_DEBIAN, _LAST_UBUNTU):
        return ""
    if release.get("ID") == "ubuntu":
        return derive_entries(apt, _LAST_UBUNTU, "main universe", {codename})
    return derive_entries(apt, LAST_DEBIAN)


def install_packages(first: str, *others: str) -> None:
    """Installs packages and their dependencies, and records the new packages.

    apt marks all but the first as `auto`, so that the removal keeps packages that the user requests
    later. Raises KneepointError if apt cannot install them without removing others.
    """
    _finish_interrupted()
    # Only we use these folders, so apt offers the system the same packages as before.
    shutil.rmtree(_OWN, ignore_errors=True)
    entries = older_entries(freedesktop_os_release(), APT)
    settings = {
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "DPkg::Lock::Timeout": 120,  # another apt may be running
    }
    apt = apt_get(_OWN, entries, settings)
    for main, goal in (("sources.list", "sources"), ("preferences", "preferences")):
        for path in (*APT.glob(main), *APT.glob(f"{main}.d/*")):
            # sources.list must end in .list to be read from a folder of parts.
            name = "system.list" if path.name == "sources.list" else path.name
            (_OWN / goal / name).symlink_to(path)
    if entries:
        (_OWN / "preferences/kneepoint").write_text(PIN)
    install = (*apt, "install", "--no-install-recommends", "--fix-broken", first, *others)
    with suppress(
        KneepointError
    ):  # a source may be unreachable; the simulation fails if it is needed
        run(*apt, "update")
    remedy = "check the network and apt's sources"
    new, removed = read_plan(run(*install, "--simulate", remedy=remedy))
    if removed:
        raise KneepointError(
            f"apt would remove {' '.join(removed)} to install {first}; nothing was changed; "
            "remove them yourself if you do not need them"
        )
    changes = Changes.read()
    packages = list(dict.fromkeys([*changes.packages, *new]))
    named = [*changes.named, *([first] if first in new else [])]
    Changes.record(packages=packages, named=named)
    if new:
        print(f"Installing {len(new)} packages: {' '.join(new)}")
    run(*install, "--yes", remedy="check the network, then run this again to resume")
    if automatic := [name for name in packages if name not in named]:
        run("apt-mark", "auto", *automatic)
    shutil.rmtree(_OWN)


def remove_packages(changes: Changes) -> None:
    """Removes the installed packages, except those that the user or other packages now need."""
    _finish_interrupted()
    listing = run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n")
    installed = {line.split()[0] for line in listing.splitlines() if "not-inst" not in line}
    recorded = installed.intersection(changes.packages)
    wanted = set(run("apt-mark", "showmanual").split()).difference(changes.named)
    ours = recorded - wanted
    if not _removed_with(*ours) <= ours:
        ours = {name for name in ours if _removed_with(name) <= ours}
    if kept := recorded - ours:
        print(f"Keeping {' '.join(sorted(kept))}: requested since then, or needed by others")
    if ours:
        print(f"Removing {len(ours)} packages: {' '.join(sorted(ours))}")
        run("apt-get", "purge", "--yes", *ours)


def _removed_with(*packages: str) -> set[str]:
    return set(read_plan(run("apt-get", "remove", "--simulate", *packages))[1])


def _finish_interrupted() -> None:
    """Lets dpkg finish an earlier run that was killed; apt repairs or reports the rest."""
    if Changes.read().packages:
        with suppress(KneepointError):
            run("dpkg", "--configure", "-a")


def read_plan(simulation: str) -> tuple[list[str], list[str]]:
    """Returns the packages that apt would install and the packages that it would remove.

    It prints `Inst NAME (...)`, `Inst NAME [OLD VERSION] (...)` and `Remv NAME ...`.
    """
    new = re.findall(r"^Inst (\S+) \(", simulation, re.MULTILINE)
    return new, re.findall(r"^Remv (\S+)", simulation, re.MULTILINE)

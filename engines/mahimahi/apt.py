"""Installs packages with apt, those that this release lacks from Debian 11 or Ubuntu 20.04."""

import re
import shutil
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from platform import freedesktop_os_release

from common.errors import KneepointError
from engines.mahimahi.system import Changes, run
from networks.apt import APT, LAST_DEBIAN, apt_get, derive_entries

_OWN = Path("/var/cache/kneepoint")
_LAST_UBUNTU = "focal"
"""The last release of Ubuntu that packages mahimahi."""

# Below 100, the priority of installed packages, and 500, that of the system's own releases: only
# missing packages come from there, and it replaces none.
PIN = "".join(
    f"Package: *\nPin: release n={suite}\nPin-Priority: 50\n\n"
    for suite in (LAST_DEBIAN, _LAST_UBUNTU)
)


def older_entries(release: Mapping[str, str], apt: Path) -> str:
    """Returns source entries of the last release with mahimahi; none if this release is that old.

    Args:
        release: os-release(5).
        apt: folder of the system's sources.

    Raises:
        KneepointError: there is no entry to derive them from.
    """
    codename = release.get("VERSION_CODENAME", "")
    if codename in ("buster", LAST_DEBIAN, _LAST_UBUNTU):
        return ""
    if release.get("ID") == "ubuntu":
        return derive_entries(apt, _LAST_UBUNTU, "main universe", {codename})
    return derive_entries(apt, LAST_DEBIAN)


def install_packages(first: str, *others: str) -> None:
    """Installs packages and what they need; records those that are new.

    All but the first become `auto` for apt, so that the removal keeps what the user requests later.

    Raises:
        KneepointError: apt cannot install them, or only by removing others.
    """
    _finish_interrupted()
    apt = _apt_with_own_folders()
    install = (*apt, "install", "--no-install-recommends", "--fix-broken", first, *others)
    unreached: KneepointError | None = None
    try:
        run(*apt, "update", "-oAPT::Update::Error-Mode=any")
    except KneepointError as error:
        unreached = error  # one source of several; the simulation tells if it is needed
    try:
        new, removed = read_plan(
            run(*install, "--simulate", remedy="check the network and apt's sources")
        )
    except KneepointError as error:
        raise (unreached or error) from None
    if removed:
        raise KneepointError(
            f"apt would remove {' '.join(removed)} to install {first}; nothing was changed; "
            "remove them yourself if you do not need them"
        )
    changes = Changes.read()
    changes.packages += [name for name in new if name not in changes.packages]
    changes.named += [first] if first in new else []
    changes.write()
    if new:
        print(f"Installing {len(new)} packages: {' '.join(new)}")
    run(*install, "--yes", remedy="check the network, then run this again to resume")
    if automatic := [name for name in changes.packages if name not in changes.named]:
        run("apt-mark", "auto", *automatic)
    shutil.rmtree(_OWN)


def remove_packages(changes: Changes) -> None:
    """Removes what was installed, except what the user wants or other packages need by now."""
    _finish_interrupted()
    listing = run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n")
    installed = {line.split()[0] for line in listing.splitlines() if "not-inst" not in line}
    recorded = installed.intersection(changes.packages)
    wanted = set(run("apt-mark", "showmanual").split()).difference(changes.named)
    ours = recorded - wanted
    if not _removed_with(*ours) <= ours:
        ours = {name for name in ours if _removed_with(name) <= ours}
    if kept := recorded - ours:
        print(f"Keeping {' '.join(sorted(kept))}: installed on request since, or needed by others")
    if ours:
        print(f"Removing {len(ours)} packages: {' '.join(sorted(ours))}")
        run("apt-get", "purge", "--yes", *ours)


def _removed_with(*packages: str) -> set[str]:
    return set(read_plan(run("apt-get", "remove", "--simulate", *packages))[1])


def _finish_interrupted() -> None:
    """Lets dpkg finish an earlier run that was killed; what it cannot, apt repairs or reports."""
    if Changes.read().packages:
        with suppress(KneepointError):
            run("dpkg", "--configure", "-a")


def read_plan(simulation: str) -> tuple[list[str], list[str]]:
    """Returns the packages that apt would install anew, and those that it would remove.

    Its lines are `Inst NAME (...)`, `Inst NAME [OLD VERSION] (...)` and `Remv NAME ...`.
    """
    new = re.findall(r"^Inst (\S+) \(", simulation, re.MULTILINE)
    return new, re.findall(r"^Remv (\S+)", simulation, re.MULTILINE)


def _apt_with_own_folders() -> list[str]:
    """Returns apt-get with the system's sources and preferences, an older release's, and the pin.

    Only we use these folders, so apt offers the system the same packages as before.
    """
    shutil.rmtree(_OWN, ignore_errors=True)
    entries = older_entries(freedesktop_os_release(), APT)
    settings = {
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "DPkg::Lock::Timeout": 120,  # another apt may be running
    }
    command = apt_get(_OWN, entries, settings)
    for main, goal in (("sources.list", "sources"), ("preferences", "preferences")):
        for path in (*APT.glob(main), *APT.glob(f"{main}.d/*")):
            # sources.list must end in .list to be read from a folder of parts.
            name = "system.list" if path.name == "sources.list" else path.name
            (_OWN / goal / name).symlink_to(path)
    if entries:
        (_OWN / "preferences/kneepoint").write_text(PIN)
    return command

"""Installs packages with apt: this system's, and Debian 11's where it has none."""

import re
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

from common.errors import KneepointError
from common.programs import complaint
from engines.mahimahi.system import System
from networks.apt_sources import debian_entries, read_entries

# The last releases that package mahimahi: Debian 11 and Ubuntu 20.04.
_DEBIAN, _UBUNTU = "bullseye", "focal"

# Below 100, the priority of installed packages, and 500, that of the system's own releases: only
# missing packages come from there, and it replaces none.
PIN = "".join(
    f"Package: *\nPin: release n={suite}\nPin-Priority: 50\n\n" for suite in (_DEBIAN, _UBUNTU)
)

_LOCK_PATIENCE_S = 120  # another apt may be running
_REMEDY = "check the network and apt sources of this machine, then run this again to resume"


@dataclass(frozen=True)
class Plan:
    """What apt would do."""

    new: list[str]
    upgraded: list[str]
    removed: list[str]


def older_entries(system: System) -> str:
    """Returns source entries of the last release with mahimahi; none if this release is that old.

    Raises:
        KneepointError: there is no entry to derive them from.
    """
    codename = _release(system).get("VERSION_CODENAME", "")
    if _is_ubuntu(system):
        entries = "" if codename == _UBUNTU else _ubuntu_entries(system, codename)
    elif codename in ("buster", _DEBIAN):
        entries = ""
    else:
        entries = debian_entries(system.apt_folder, _DEBIAN)
    return entries


def _ubuntu_entries(system: System, codename: str) -> str:
    derived = [
        "".join(f"{field}: {value}\n" for field, value in entry.items())
        for stanza in read_entries(system.apt_folder)
        if stanza.get("enabled", "yes") == "yes"
        and "deb" in stanza.get("types", "").split()
        and codename in stanza.get("suites", "").split()
        and "main" in stanza.get("components", "").split()
        for entry in [stanza | {"types": "deb", "suites": _UBUNTU, "components": "main universe"}]
    ]
    if not derived:
        raise KneepointError(f"{system.apt_folder}: has no source entry of Ubuntu {codename}")
    return "\n".join(dict.fromkeys(derived))


def prepare_folders(system: System) -> None:
    """Makes folders for apt with the system's own sources and preferences, Debian 11's and the pin.

    Only we use them, so apt offers the system the same packages as before.
    """
    folder = system.package_cache
    shutil.rmtree(folder / "entries", ignore_errors=True)
    shutil.rmtree(folder / "preferences", ignore_errors=True)
    for name in ("entries", "preferences", "lists/partial", "archives/partial"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for part in ("sources.list", "sources.list.d/*.list", "sources.list.d/*.sources"):
        _link(system.apt_folder, part, folder / "entries")
    for part in ("preferences", "preferences.d/*"):
        _link(system.apt_folder, part, folder / "preferences")
    try:
        entries = older_entries(system)
    except KneepointError as error:
        raise KneepointError(
            f"{str(error).partition(';')[0]} to derive that of an older one, which has mahimahi; "
            "add this release's own entry, or install mahimahi from its source"
        ) from None
    if entries:
        (folder / "entries/kneepoint.sources").write_text(entries)
        (folder / "preferences/kneepoint").write_text(PIN)


def plan_installation(system: System, packages: list[str], fix_broken: bool) -> Plan:
    """Fetches apt's lists and simulates the installation; changes nothing.

    Raises:
        KneepointError: apt cannot install the packages, or only by removing others.
    """
    # One source of several may fail; the simulation tells whether that one was needed.
    update = system.run([*apt_get(system), "update"])
    simulation = system.run(
        [*apt_get(system), "install", "--simulate", *_options(fix_broken), *packages]
    )
    if simulation.returncode != 0:
        raise KneepointError(
            f"apt cannot install {packages[0]} ({complaint(update, simulation)}); {_REMEDY}"
        )
    plan = read_plan(simulation.stdout)
    if plan.removed:
        raise KneepointError(
            f"apt would remove {' '.join(plan.removed)} to install {' '.join(packages)}; "
            "nothing was changed; remove them yourself if you do not need them"
        )
    return plan


def finish_interrupted(system: System) -> None:
    """Lets dpkg finish the work of an earlier run that was killed or is still in progress.

    Its other failures do not matter: apt repairs them or reports them itself.
    """
    for _ in range(_LOCK_PATIENCE_S):
        if "lock" not in system.run(["dpkg", "--configure", "-a"]).stderr:
            break
        time.sleep(1)


def install_packages(system: System, packages: list[str], fix_broken: bool) -> None:
    """Installs packages and what they need."""
    system.run_or_fail(
        [*apt_get(system), "install", "--yes", *_options(fix_broken), *packages], _REMEDY
    )


def read_plan(simulation: str) -> Plan:
    """Reads `Inst NAME (...)`, `Inst NAME [OLD VERSION] (...)` and `Remv NAME ...`."""
    lines = re.findall(r"^(Inst|Remv) (\S+)( \[)?", simulation, re.MULTILINE)
    return Plan(
        new=[name for action, name, old in lines if action == "Inst" and not old],
        upgraded=[name for action, name, old in lines if action == "Inst" and old],
        removed=[name for action, name, _ in lines if action == "Remv"],
    )


def apt_get(system: System) -> list[str]:
    """Returns the first words of an apt-get command that uses our folders."""
    folder = system.package_cache
    settings = {
        "Dir::Etc::SourceList": "/dev/null",
        "Dir::Etc::SourceParts": folder / "entries",
        "Dir::Etc::Preferences": "/dev/null",
        "Dir::Etc::PreferencesParts": folder / "preferences",
        "Dir::State::Lists": folder / "lists",
        "Dir::Cache": folder,
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled": "false",
        "Acquire::Retries": "2",
        "DPkg::Lock::Timeout": _LOCK_PATIENCE_S,
    }
    options = [word for key, value in settings.items() for word in ("-o", f"{key}={value}")]
    return ["apt-get", "-q", *options]


def _options(fix_broken: bool) -> list[str]:
    return ["--no-install-recommends", *(["--fix-broken"] if fix_broken else [])]


def _link(apt_folder: Path, pattern: str, folder: Path) -> None:
    for path in apt_folder.glob(pattern):
        # sources.list must end in .list to be read from a folder of parts.
        (folder / path.name.replace("sources.list", "system.list")).symlink_to(path)


def _is_ubuntu(system: System) -> bool:
    return _release(system).get("ID") == "ubuntu"


def _release(system: System) -> dict[str, str]:
    """Reads os-release(5)."""
    try:
        lines = (system.root / "etc/os-release").read_text().splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.partition("=") for line in lines)
    return {name: value.strip("\"'") for name, _, value in pairs}

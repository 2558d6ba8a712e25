"""`make mahimahi-remove`: undoes what `make mahimahi` changed, and nothing else.

python3 -B -m engines.mahimahi.remove
"""

import shutil
from contextlib import suppress

from common.errors import run_command_line
from engines.mahimahi.apt import finish_interrupted, read_plan
from engines.mahimahi.install import require_root
from engines.mahimahi.system import Changes, System

_REMEDY = "run this again to resume"


def main() -> None:
    """Takes no arguments; must be root."""
    require_root("make mahimahi-remove")
    remove(System())


def remove(system: System) -> None:
    """Undoes the recorded changes, last first; removes the record at the end."""
    changes = Changes.read(system)
    if not system.record.exists():
        print("Nothing to undo: `make mahimahi` has changed nothing here.")
    if changes.wrapper:
        unwrap_iptables(system, changes.alternative)
    if changes.ip_forward:
        restore_forwarding(system, changes.ip_forward)
    if changes.packages:
        remove_packages(system, changes)
    shutil.rmtree(system.package_cache, ignore_errors=True)
    system.record.unlink(missing_ok=True)
    with suppress(OSError):  # not empty, or not there
        system.record.parent.rmdir()


def unwrap_iptables(system: System, chosen_by_hand: str) -> None:
    """Removes the wrapper and restores the previous iptables."""
    wrapper = str(system.wrapper)
    query = system.run(["update-alternatives", "--query", "iptables"]).stdout.splitlines()
    if f"Value: {wrapper}" in query and f"Alternative: {chosen_by_hand}" in query:
        print(f"Selecting {chosen_by_hand} as iptables again")
        system.run_or_fail(["update-alternatives", "--set", "iptables", chosen_by_hand], _REMEDY)
    if f"Alternative: {wrapper}" in query:
        print(f"Removing {wrapper} from the alternatives of iptables")
        system.run_or_fail(["update-alternatives", "--remove", "iptables", wrapper], _REMEDY)
    print(f"Deleting {wrapper}")
    system.wrapper.unlink(missing_ok=True)
    with suppress(OSError):
        system.wrapper.parent.rmdir()


def restore_forwarding(system: System, earlier: str) -> None:
    """Sets net.ipv4.ip_forward to its earlier value, now and at boot."""
    print(f"Setting net.ipv4.ip_forward to {earlier}, deleting {system.ip_forward_at_boot}")
    system.ip_forward_at_boot.unlink(missing_ok=True)
    system.ip_forward.write_text(f"{earlier}\n")


def remove_packages(system: System, changes: Changes) -> None:
    """Removes the packages that were not installed before, except those that others now need."""
    finish_interrupted(system)
    _purge_half_installed(system, changes.packages)
    wanted = set(system.run(["apt-mark", "showmanual"]).stdout.split()) - set(changes.named)
    if changes.installing:  # a killed apt has not marked the dependencies
        wanted = set()
    installed = _states(system)
    ours = [name for name in changes.packages if name in installed and name not in wanted]
    needed = _needed_by_others(system, ours)
    kept = [name for name in changes.packages if name in wanted or name in needed]
    if kept:
        print(f"Keeping {' '.join(kept)}: installed on request since, or needed by others")
    unneeded = [name for name in ours if name not in needed]
    if unneeded:
        print(f"Removing {len(unneeded)} packages: {' '.join(unneeded)}")
        system.run_or_fail(["apt-get", "purge", "--yes", *unneeded], _REMEDY)


def _needed_by_others(system: System, ours: list[str]) -> list[str]:
    """Returns the packages whose removal would make apt remove other packages, too."""
    if set(_removed_with(system, ours)) <= set(ours):
        return []
    return [name for name in ours if not set(_removed_with(system, [name])) <= set(ours)]


def _removed_with(system: System, packages: list[str]) -> list[str]:
    if not packages:
        return []
    return read_plan(
        system.run_or_fail(["apt-get", "remove", "--simulate", *packages], _REMEDY)
    ).removed


def _purge_half_installed(system: System, ours: list[str]) -> None:
    """Purges packages whose unpacking was killed; dpkg would insist on installing them first."""
    states = _states(system)
    half = [name for name in ours if states.get(name) == "half-installed"]
    if half:
        print(f"Removing half-installed packages: {' '.join(half)}")
        force = ["--force-remove-reinstreq", "--force-depends"]  # its dependents are next
        system.run_or_fail(["dpkg", *force, "--purge", *half], _REMEDY)


def _states(system: System) -> dict[str, str]:
    """Returns dpkg's state of every package that is at least partly installed."""
    listing = system.run(["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n"]).stdout
    pairs = (line.split() for line in listing.splitlines())
    return {name: state for name, state in pairs if state != "not-installed"}


if __name__ == "__main__":
    run_command_line(main)
